"""Which records count, for what, and how much of them is left after a while."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra.beliefs.beta import quantile
from astra.trusted.kernel.errors import NotFound
from astra.trusted.ledger.record import Event
from astra.trusted.settings.configuration import EvidenceWeights, parse
from beliefs_in_memory import BeliefWorld

DAY_NAMES = ("settled", "rolled_back")


@pytest.fixture
def world() -> BeliefWorld:
    return BeliefWorld()


def test_a_rollback_outweighs_a_passing_test_three_to_one(world: BeliefWorld) -> None:
    world.failing_release("src/app/main.py")
    belief = world.belief("rolled_back", "path", "src/app")
    assert (belief.confidence.supporting, belief.confidence.opposing) == (3.0, 1.0)
    assert belief.confidence.mean == pytest.approx(4 / 6)
    assert belief.confidence.lower == pytest.approx(quantile(0.05, 4, 2))
    assert belief.statement == "changes to src/app are taken back in service"


def test_a_change_counts_for_every_folder_above_its_files(world: BeliefWorld) -> None:
    world.failing_release("src/app/main.py", "docs/a.md", "setup.cfg")
    for folder in ("src", "src/app", "docs", "."):
        assert world.belief("rolled_back", "path", folder).confidence.supporting == 3.0


def test_runs_of_one_change_count_once_together(world: BeliefWorld) -> None:
    change = world.proposed_change("src/a.py")
    for _ in range(5):
        world.tested(change)
    assert world.belief("passes_tests", "path", "src").count == 1


def test_the_first_verdict_on_a_change_stays_whatever_is_run_again(world: BeliefWorld) -> None:
    change = world.proposed_change("src/a.py")
    world.tested(change, "failed")
    world.tested(change, "passed")
    confidence = world.belief("passes_tests", "path", "src").confidence
    assert (confidence.supporting, confidence.opposing) == (0.0, 1.0)


def test_a_change_that_was_only_proposed_is_no_evidence_about_rollbacks(world: BeliefWorld) -> None:
    world.tested(world.proposed_change("src/a.py"))
    with pytest.raises(NotFound):
        world.belief("rolled_back", "path", "src")


def test_a_merge_whose_tests_did_not_pass_counts_for_nothing(world: BeliefWorld) -> None:
    change = world.proposed_change("src/a.py")
    world.tested(change)
    world.tested(change, "unknown")
    world.merged(change)
    with pytest.raises(NotFound):
        world.belief("rolled_back", "path", "src")


def test_a_release_that_settled_counts_against_rollbacks_once(world: BeliefWorld) -> None:
    change = world.merged_change("src/a.py")
    world.requested("dep_00000001", change)
    for _ in range(2):
        world.append("deployment_settled", "dep_00000001", deployment="dep_00000001", release="r1")
    assert world.belief("rolled_back", "path", "src").confidence.opposing == 2.0


def test_a_flaky_test_is_believed_flaky_and_a_steady_failure_speaks_against_it(
    world: BeliefWorld,
) -> None:
    name = "tests.test_a::test_x"
    for _ in range(3):
        world.tested(world.proposed_change("a.py"), "flaky", flaky=[name])
    flaky = world.belief("flaky", "test", name)
    assert (flaky.confidence.supporting, flaky.confidence.opposing) == (3.0, 0.0)
    world.clock.advance(days=1)
    failures = [{"name": name, "message": ""}, {"name": "other", "message": ""}]
    world.tested(world.proposed_change("a.py"), "failed", failures=failures)
    assert world.belief("flaky", "test", name).confidence.opposing == 1.0
    with pytest.raises(NotFound):
        world.belief("flaky", "test", "other")


def test_a_schedule_that_fails_by_night_is_told_from_one_that_fails_by_day(
    world: BeliefWorld,
) -> None:
    for _ in range(4):
        world.fired("sch_00000001", "failed", hour=23)
        world.fired("sch_00000001", "succeeded", hour=12)
    night = world.belief("fails_at_night", "schedule", "sch_00000001")
    assert (night.confidence.supporting, night.confidence.opposing) == (4.0, 0.0)
    whole = world.belief("fails", "schedule", "sch_00000001")
    assert (whole.confidence.supporting, whole.confidence.opposing) == (4.0, 4.0)


@pytest.mark.parametrize("outcome", ["skipped", "interrupted", "cancelled"])
def test_a_firing_that_did_not_run_to_its_end_says_nothing(
    world: BeliefWorld, outcome: str
) -> None:
    world.fired("sch_00000001", outcome)
    assert world.numbers() == []


def test_a_tool_is_judged_by_what_broke_and_not_by_what_was_refused(world: BeliefWorld) -> None:
    for code in ("bad_input", "not_found", "needs_approval", "refused"):
        world.called("write_file", code)
    assert world.numbers() == []
    world.called("write_file", "failed")
    assert world.belief("fails", "tool", "write_file").confidence.supporting == 1.0


TASK = {"goal": "goal_0001", "node": "node_00000001", "attempt": 1, "milliseconds": 1.0}
TASK |= {"model_calls": 0, "tokens": 0}


def plan_goal(world: BeliefWorld) -> None:
    """Plan a goal with one task, by the method `fix_bug`."""
    node = {"id": "node_00000001", "method": "fix_bug", "kind": "CODE_MODIFY", "path": "p"}
    node |= {"tool": "", "arguments": {}, "after": [], "on_failure": "abort", "attempts": 1}
    graph = {"task": "t", "method": "fix_bug", "methods_digest": "", "nodes": [node]}
    event = Event(type="goal_planned", actor="daemon", data={"graph": graph}, subject="goal_0001")
    world.ledger.append([event])


def finish_task(world: BeliefWorld, change: str) -> None:
    outcome = {"outcome": "succeeded", "outputs": {"change": change}, "reason": "", "detail": ""}
    world.append("goal_task_finished", "node_00000001", **outcome, **TASK)


def test_a_method_works_when_its_tasks_and_goals_do(world: BeliefWorld) -> None:
    plan_goal(world)
    change = world.proposed_change("src/a.py")
    finish_task(world, change)
    world.append("goal_satisfied", "goal_0001", by="daemon", checks=[{"command": "true"}])
    belief = world.belief("works", "method", "fix_bug")
    assert (belief.confidence.supporting, belief.confidence.opposing) == (3.0, 0.0)
    world.taken_back(change)
    assert world.belief("works", "method", "fix_bug").confidence.opposing == 3.0
    assert world.book.find_lower_bound("fix_bug works") == pytest.approx(quantile(0.05, 4, 4))


def test_a_task_that_a_crash_cut_off_is_no_evidence_against_its_method(world: BeliefWorld) -> None:
    plan_goal(world)
    failed = {"outcome": "failed", "outputs": {}, "detail": "", **TASK}
    world.append("goal_task_finished", "node_00000001", reason="interrupted", **failed)
    assert world.numbers() == []
    world.append("goal_task_finished", "node_00000001", reason="check_failed", **failed)
    assert world.belief("works", "method", "fix_bug").confidence.opposing == 1.0


@pytest.mark.parametrize("deployed_first", [True, False])
def test_a_release_counts_for_its_method_whichever_record_came_first(
    world: BeliefWorld, deployed_first: bool
) -> None:
    plan_goal(world)
    change = world.proposed_change("src/a.py")
    world.append("goal_task_waited", "node_00000001", on=change, why="a decision", **TASK)
    steps = [lambda: world.requested("dep_00000001", change), lambda: finish_task(world, change)]
    for step in steps if deployed_first else reversed(steps):
        step()
    before = world.belief("works", "method", "fix_bug").confidence.supporting
    world.append("deployment_settled", "dep_00000001", deployment="dep_00000001", release="r1")
    assert world.belief("works", "method", "fix_bug").confidence.supporting > before


def test_a_goal_that_a_person_closed_is_no_evidence(world: BeliefWorld) -> None:
    world.append("goal_satisfied", "goal_0001", by="operator", checks=[])
    assert world.numbers() == []


def test_evidence_fades_to_half_in_a_half_life_and_the_mean_towards_one_half(
    world: BeliefWorld,
) -> None:
    world.failing_release("src/a.py")
    world.clock.advance(days=30)
    belief = world.belief("rolled_back", "path", "src")
    assert belief.confidence.supporting == pytest.approx(1.5)
    assert belief.confidence.opposing == pytest.approx(0.5)
    world.clock.advance(days=3_000)
    faded = world.belief("rolled_back", "path", "src").confidence
    assert faded.mean == pytest.approx(0.5)
    assert faded.lower == pytest.approx(0.05)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), min_size=1, max_size=20))
def test_the_sum_that_is_kept_is_the_sum_over_the_records(steps: list[tuple[bool, int]]) -> None:
    world = BeliefWorld()
    moments = []
    for failed, days in steps:
        world.clock.advance(days=days)
        world.fired("sch_00000001", "failed" if failed else "succeeded")
        moments.append((failed, world.clock.now()))
    world.clock.advance(days=11)
    confidence = world.belief("fails", "schedule", "sch_00000001").confidence
    for side, value in ((True, confidence.supporting), (False, confidence.opposing)):
        ages = [(world.clock.now() - at).days for failed, at in moments if failed is side]
        assert value == pytest.approx(sum(0.5 ** (age / 30) for age in ages), rel=1e-9)


def test_the_signed_configuration_changes_what_counts_how_much_also_for_the_past(
    world: BeliefWorld,
) -> None:
    world.failing_release("src/a.py")
    signed = parse("[beliefs.weights]\nrollback = 9\ntest_pass = 0").beliefs.weights
    object.__setattr__(world.book, "weights", lambda: signed)
    confidence = world.belief("rolled_back", "path", "src").confidence
    assert (confidence.supporting, confidence.opposing) == (9.0, 0.0)
    assert EvidenceWeights().rollback == 3 * EvidenceWeights().test_pass


def test_one_record_is_counted_once_for_a_belief_when_the_index_is_built_again(
    world: BeliefWorld,
) -> None:
    for _ in range(3):
        world.failing_release("src/app/a.py")
        world.fired("sch_00000001", "failed", hour=2)
    rebuilt = BeliefWorld()
    rebuilt.ledger._index.apply(world.ledger.records(limit=1_000))
    assert rebuilt.numbers() == world.numbers()
