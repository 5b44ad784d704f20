"""Reading beliefs, their history, their conflicts; putting one away; saying that one moved."""

import pytest

from astra.beliefs.claims import belief_id
from astra.beliefs.shifts import Shifts
from astra.trusted.kernel.errors import BadInput, NotFound
from beliefs_in_memory import STORY, BeliefWorld


@pytest.fixture
def world() -> BeliefWorld:
    return BeliefWorld()


def propose(world: BeliefWorld, statement: str = "it is fragile", **fields: str) -> str:
    options = {"claim": "", "kind": "", "scope": "", "actor": "agent:test", **fields}
    return world.book.propose(statement, correlation=STORY, **options).id


def test_the_belief_that_moved_last_is_first_in_the_list(world: BeliefWorld) -> None:
    world.fired("sch_00000001", "failed")
    world.fired("sch_00000002", "failed")
    world.fired("sch_00000001", "failed")
    beliefs, cursor = world.book.list_beliefs(limit=1)
    assert beliefs[0].scope == {"kind": "schedule", "value": "sch_00000001"}
    rest, end = world.book.list_beliefs(limit=5, cursor=cursor)
    assert [belief.scope["value"] for belief in rest] == ["sch_00000002"]
    assert end is None


def test_a_belief_shows_the_records_it_stands_on(world: BeliefWorld) -> None:
    world.failing_release("src/a.py")
    shown = world.views.describe(belief_id("rolled_back", "path", "src"))
    assert [(item["kind"], item["sign"], item["weight"]) for item in shown["evidence"]] == [
        ("rollback", "for", 3.0),
        ("test_pass", "against", 1.0),
    ]
    record = world.ledger.record(shown["evidence"][0]["sequence"])
    assert record is not None
    assert record.type == "code_modification_rolled_back"


def test_the_history_has_a_band_for_every_day_and_ends_where_the_belief_is(
    world: BeliefWorld,
) -> None:
    world.failing_release("src/a.py")
    world.clock.advance(days=10)
    world.failing_release("src/b.py")
    world.clock.advance(days=5)
    shown = world.views.describe(belief_id("rolled_back", "path", "src"))
    history = shown["history"]
    assert len(history) == 16
    assert history[-1]["mean"] == pytest.approx(shown["mean"], abs=1e-6)
    assert history[9]["mean"] < history[10]["mean"] > history[-1]["mean"]
    assert all(day["lower"] <= day["mean"] <= day["upper"] for day in history)


def test_a_history_that_begins_before_its_window_is_carried_into_it(world: BeliefWorld) -> None:
    world.failing_release("src/a.py")
    world.clock.advance(days=60)
    history = world.views.describe(belief_id("rolled_back", "path", "src"), days=3)["history"]
    assert len(history) == 3
    assert history[-1]["supporting"] == pytest.approx(0.75, abs=1e-5)


def test_a_wide_and_a_narrow_scope_that_contradict_are_shown_as_a_conflict(
    world: BeliefWorld,
) -> None:
    for _ in range(8):
        world.failing_release("src/app/a.py")
        world.clock.advance(days=1)
    for number in range(40):
        change = world.merged_change(f"src/lib/{number}.py")
        world.requested(f"dep_{number:08x}", change)
        world.append(
            "deployment_settled", f"dep_{number:08x}", deployment=f"dep_{number:08x}", release="r"
        )
        world.clock.advance(hours=12)
    narrow = world.belief("rolled_back", "path", "src/app")
    wide = world.belief("rolled_back", "path", "src")
    assert (narrow.state, wide.state) == ("held", "doubted")
    assert [other.id for other in world.views.find_conflicts(narrow)] == [wide.id]
    assert [other.id for other in world.views.find_conflicts(wide)] == [narrow.id]


def test_a_proposal_has_no_number_of_its_own_and_is_listed_apart(world: BeliefWorld) -> None:
    identifier = propose(world)
    belief = world.book.get(identifier)
    assert (belief.state, belief.count, belief.confidence.mean) == ("proposed", 0, 0.5)
    assert world.book.list_beliefs()[0] == []
    assert [b.id for b in world.book.list_beliefs(proposed=True)[0]] == [identifier]


def test_a_proposal_about_what_the_server_counts_joins_that_belief(world: BeliefWorld) -> None:
    world.failing_release("src/a.py")
    before = world.numbers()
    identifier = propose(world, claim="rolled_back", kind="path", scope="src/")
    assert identifier == belief_id("rolled_back", "path", "src")
    shown = world.views.describe(identifier)
    assert shown["statement"] == "changes to src are taken back in service"
    assert [item["text"] for item in shown["statements"]] == ["it is fragile"]
    assert world.numbers() == before


@pytest.mark.parametrize(
    ("claim", "kind", "scope"),
    [
        ("certain", "path", "src"),
        ("works", "path", "src"),
        ("flaky", "test", ""),
        ("fails", "", ""),
        ("works", "method", "two\nlines"),
        ("", "method", "fix_bug"),
        ("", "", "method:fix_bug"),
    ],
)
def test_a_proposal_about_nothing_countable_says_which_field_is_wrong(
    world: BeliefWorld, claim: str, kind: str, scope: str
) -> None:
    with pytest.raises(BadInput, match="give"):
        propose(world, claim=claim, kind=kind, scope=scope)


def test_a_belief_that_was_put_away_begins_anew_with_the_next_evidence(world: BeliefWorld) -> None:
    world.failing_release("src/a.py")
    identifier = belief_id("rolled_back", "path", "src")
    put_away = world.book.deprecate(identifier, "the folder was rewritten", actor="operator")
    assert (put_away.state, put_away.count) == ("deprecated", 0)
    assert world.book.find_lower_bound("src rolled_back") == 0.0
    world.failing_release("src/b.py")
    again = world.book.get(identifier)
    assert again.state == "open"
    assert again.confidence.supporting == pytest.approx(3.0)
    assert len(world.book.list_evidence(identifier)) == 4


def test_putting_away_needs_a_reason_and_a_belief(world: BeliefWorld) -> None:
    with pytest.raises(NotFound):
        world.book.deprecate("belief_00000000", "why", actor="operator")
    world.failing_release("src/a.py")
    with pytest.raises(BadInput):
        world.book.deprecate(belief_id("rolled_back", "path", "src"), " ", actor="operator")


def test_a_belief_that_crosses_the_middle_is_recorded_once(world: BeliefWorld) -> None:
    for _ in range(6):
        world.fired("sch_00000001", "failed")
        world.shifts.record()
    Shifts(world.book).record()
    shifts = world.ledger.records("belief_shifted")
    assert [(record.data["from"], record.data["to"]) for record in shifts] == [("open", "held")]
    assert shifts[0].data["lower"] >= 0.5
    assert not world.shifts.is_due()


def test_a_belief_that_falls_is_recorded_as_well(world: BeliefWorld) -> None:
    for _ in range(6):
        world.fired("sch_00000001", "failed")
    world.shifts.record()
    for day in range(20):
        world.clock.advance(days=day % 2)
        world.fired("sch_00000001", "succeeded")
    world.shifts.record()
    shifts = world.ledger.records("belief_shifted")
    assert [record.data["to"] for record in shifts] == ["held", "doubted"]


def test_a_scope_is_asked_for_by_name(world: BeliefWorld) -> None:
    world.failing_release("src/app/a.py")
    world.fired("sch_00000001", "failed")
    page = world.views.list_page(scope="src/app", limit=1)
    assert {item["claim"] for item in page["items"]} == {"rolled_back", "passes_tests"}
    assert world.views.list_page(scope="elsewhere")["items"] == []


def test_nothing_is_believed_about_what_nobody_counted(world: BeliefWorld) -> None:
    assert world.book.find_lower_bound("anything works") == 0.0
    with pytest.raises(NotFound):
        world.book.get(belief_id("works", "method", "anything"))


def test_time_that_went_back_lets_no_evidence_weigh_more_than_it_did(world: BeliefWorld) -> None:
    world.clock.advance(days=300)
    world.fired("sch_00000001", "failed")
    world.clock.advance(days=-300)
    from astra.trusted.ledger.record import Event

    world.ledger.append([Event(type="clock_accepted", actor="operator", data={}, signed=True)])
    belief = world.belief("fails", "schedule", "sch_00000001")
    assert belief.confidence.supporting == pytest.approx(1.0)


def test_a_shift_is_a_part_of_the_story_whose_outcome_moved_it(world: BeliefWorld) -> None:
    for _ in range(12):
        change = world.proposed_change("src/app.py")
        world.tested(change)
        world.clock.advance(days=1)
    world.shifts.record()
    shifts = world.ledger.records("belief_shifted")
    assert shifts
    assert {record.correlation for record in shifts} == {STORY}


def test_records_say_which_beliefs_they_moved(world: BeliefWorld) -> None:
    change = world.proposed_change("src/app.py")
    world.tested(change)
    newest = world.ledger.head().sequence
    (move,) = world.book.list_moves(range(1, newest + 1))
    assert (move.sequence, move.kind, move.sign) == (newest, "test_pass", "for")
    assert move.as_dict()["statement"] == "changes to src pass their tests"
    assert world.book.list_moves([1]) == []
