"""One list of everything that waits for a person, there exactly as long as its cause."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.changes.edits import WholeFile
from astra.deployments import events as deployments
from astra.inbox.inbox import Inbox
from astra.inbox.items import ALERT, FAILED_DEPLOYMENT, RESTING_CHANGE, WAITING_PLAN, InboxItem
from astra.testing import GateInMemory
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.views import Book
from astra.trusted.ledger.record import Event
from changing import ChangesHere
from plans_at_work import PlansAtWork, write

ALARM = InboxItem(
    id="alert-disk",
    kind=ALERT,
    title="the disk is almost full",
    why="of logs",
    waiting_since="2026-03-01T12:00:00.000000Z",
    command="astra doctor",
    subject_id="disk",
)


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


@pytest.fixture
def here(tmp_path: Path, gate: GateInMemory) -> Iterator[ChangesHere]:
    changes = ChangesHere(tmp_path, root=gate.root)
    yield changes
    changes.close()


def inbox_of(gate: GateInMemory, here: ChangesHere, *alarms: InboxItem) -> Inbox:
    return Inbox(
        desk=gate.desk,
        plans=gate.planning.register,
        changes=here.changes.book,
        alarms=lambda: alarms,
    )


def test_nothing_waits_on_a_new_root(gate: GateInMemory, here: ChangesHere) -> None:
    assert inbox_of(gate, here).list_items() == []


def test_a_change_waits_as_a_request_that_says_the_reason(
    gate: GateInMemory, here: ChangesHere
) -> None:
    change = here.reviewed(reason="answer 42\x1b[2J” (approved)")
    (item,) = inbox_of(gate, here).list_items()
    assert (item.kind, item.subject_id) == ("change", change.id)
    assert item.title.startswith('merge “answer 42\\x1b[2J" (approved)” into main')
    assert item.command == f"astra approve {item.id}"
    here.approve(here.get(change.id))
    assert inbox_of(gate, here).list_items() == []


def test_a_change_whose_tests_failed_rests_until_it_is_decided(
    gate: GateInMemory, here: ChangesHere
) -> None:
    here.tests.verdict = TestVerdict.FAILED
    change = here.reviewed(WholeFile(path="agent.py", content=b"broken\n"), reason="break it")
    (item,) = inbox_of(gate, here).list_items()
    assert (item.id, item.kind) == (change.id, RESTING_CHANGE)
    assert item.title == "the change “break it”"
    assert item.why.startswith("its tests did not pass")


def test_a_change_that_nobody_decided_in_time_is_not_lost(
    gate: GateInMemory, here: ChangesHere
) -> None:
    change = here.reviewed()
    gate.root.clock.advance(hours=25)
    gate.steps().run_due()
    (item,) = inbox_of(gate, here).list_items()
    assert (item.id, item.kind) == (change.id, RESTING_CHANGE)
    assert item.command == f"astra approve {change.id}"


def test_a_plan_that_stands_still_says_why_and_what_moves_it() -> None:
    work = PlansAtWork()
    work.script(write("/data/persona_space/other/b.md"))
    plan = work.run(work.approved())
    inbox = Inbox(desk=work.gate.desk, plans=work.register, changes=Book(work.ledger))
    (item,) = [item for item in inbox.list_items() if item.kind == WAITING_PLAN]
    assert item.id == plan.id
    assert "not granted" in item.why
    assert item.command == f"astra plans grant {plan.id}"


def test_what_is_wrong_comes_first_then_failed_deployments_then_what_ends_first(
    gate: GateInMemory, here: ChangesHere
) -> None:
    here.reviewed()
    _fail_deployment(gate)
    kinds = [item.kind for item in inbox_of(gate, here, ALARM).list_items()]
    assert kinds == [ALERT, FAILED_DEPLOYMENT, "change"]


def test_a_deployment_that_failed_leaves_after_a_week(
    gate: GateInMemory, here: ChangesHere
) -> None:
    _fail_deployment(gate)
    (item,) = inbox_of(gate, here).list_items()
    assert item.why == "it was not put into service: it did not start"
    gate.root.clock.advance(days=8)
    assert inbox_of(gate, here).list_items() == []


def _fail_deployment(gate: GateInMemory) -> None:
    about = {"deployment": "dep_1", "release": "rel_1", "commit": "c" * 40, "change": None}
    requested = {**about, "kind": "deploy", "digest": "d" * 64}
    failed = {
        **about,
        "blamed": True,
        "reason": "it did not start",
        "rollback_to": None,
        "rolls_back": False,
        "stage": "start",
    }
    gate.root.ledger.append(
        [
            Event(type=deployments.REQUESTED, actor="daemon", data=requested),
            Event(type=deployments.FAILED, actor="daemon", data=failed),
        ]
    )
