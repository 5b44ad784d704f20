"""A command that was refused a host: the plan waits with the narrowest grant for it."""

from typing import Any

import pytest

from astra.plans import events
from astra.plans.refusals import MOST_ASKED
from astra.plans.states import State
from plans_at_work import NOTES, PlansAtWork, document, done, tool

COMMAND = ["python3", "get.py"]
RAN = ("run_in_sandbox", "python3 get.py")


@pytest.fixture
def work() -> PlansAtWork:
    return PlansAtWork()


def blocked(work: PlansAtWork, *hosts: tuple[str, int], **manifest: Any) -> Any:
    """Run a plan whose first command is refused these hosts."""
    work.script(tool("run_in_sandbox", command=COMMAND), done())
    plan = work.approved(skills=["sandbox"], **manifest)
    work.refused.hosts = [*hosts]
    return work.run(plan)


def items(plan: Any) -> list[list[str]]:
    return (plan.block or {})["items"]


def test_a_refused_host_blocks_with_the_narrowest_grant(work: PlansAtWork) -> None:
    plan = blocked(work, ("pypi.org", 443), ("pypi.org", 80), ("db.example.com", 5432))
    assert plan.state is State.BLOCKED_ON_PERMISSION
    assert items(plan) == [
        ["network_domains", "pypi.org"],
        ["network_domains", "db.example.com:5432"],
    ]
    assert "pypi.org" in plan.reason
    assert work.effects == [RAN], "it ran, and waits where it ended"


@pytest.mark.parametrize("once", [True, False])
def test_a_grant_runs_the_same_command_once_more(work: PlansAtWork, once: bool) -> None:
    plan = blocked(work, ("pypi.org", 443))
    work.decide(plan, "grant", once=once)
    during: list[Any] = []
    contracts = work.gate.planning.contracts
    work.before_effect = lambda _name: during.append(contracts.permissions(plan.id).network_domains)
    found = work.run(plan)
    assert found.state is State.COMPLETED
    assert work.effects == [RAN, RAN]
    assert during == [("pypi.org",)]
    assert found.grants.added == (() if once else (("network_domains", "pypi.org"),))
    assert work.outcomes(found) == ["ok", "ok"]


def test_skipping_goes_on_with_what_came_of_it(work: PlansAtWork) -> None:
    plan = blocked(work, ("pypi.org", 443))
    work.running.control.skip(plan.id, actor="user:1", reason="no packages")
    found = work.run(plan)
    assert found.state is State.COMPLETED
    assert work.effects == [RAN]
    first = work.steps(found)[0]
    assert first.outcome == "ok"
    assert first.result.startswith("refused while it ran: pypi.org; no packages\n")
    assert '"ran"' in first.result, "what the command answered is kept"


def test_what_was_skipped_is_not_asked_for_again(work: PlansAtWork) -> None:
    """A tool that phones home at every start would hold a night's work up at every command."""
    plan = blocked(work, ("telemetry.example.com", 443))
    work.running.control.skip(plan.id, actor="user:1")
    work.script(tool("run_in_sandbox", command=COMMAND), done())
    work.refused.hosts = [("telemetry.example.com", 443)]
    assert work.run(plan).state is State.COMPLETED
    assert work.effects == [RAN, RAN]


def test_resuming_by_hand_grants_nothing_and_runs_nothing_again(work: PlansAtWork) -> None:
    plan = blocked(work, ("pypi.org", 443))
    work.running.control.pause(plan.id, actor="user:1")
    work.decide(plan, "resume")
    found = work.run(plan)
    assert found.state is State.COMPLETED
    assert work.effects == [RAN]
    assert "nobody granted them" in work.steps(found)[0].result


@pytest.mark.parametrize("host", [("localhost", 80), ("10.0.0.1", 443), ("com", 443), ("", 0)])
def test_what_nobody_may_grant_is_not_asked_for(work: PlansAtWork, host: tuple[str, int]) -> None:
    plan = blocked(work, host)
    assert plan.state is State.COMPLETED
    assert work.effects == [RAN]


def test_a_host_that_is_granted_is_not_asked_for(work: PlansAtWork) -> None:
    assert blocked(work, ("a.b.c", 443), network_domains=["*.b.c"]).state is State.COMPLETED


def test_a_flood_of_hosts_is_not_a_flood_of_questions(work: PlansAtWork) -> None:
    plan = blocked(work, *((f"h{n}.example.com", 443) for n in range(500)))
    assert len(items(plan)) == MOST_ASKED


def test_a_destructive_command_is_confirmed_again_before_it_runs_again(work: PlansAtWork) -> None:
    work.script(tool("run_in_sandbox", command=["rm", "x"]), done())
    plan = work.run(work.approved(skills=["sandbox"]))
    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE
    work.decide(plan, "grant")
    work.refused.hosts = [("pypi.org", 443)]
    plan = work.run(plan)
    assert plan.state is State.BLOCKED_ON_PERMISSION
    work.decide(plan, "grant")
    plan = work.run(plan)
    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE
    assert len(work.effects) == 1
    work.decide(plan, "grant")
    assert work.run(plan).state is State.COMPLETED
    assert len(work.effects) == 2


def test_a_forged_grant_runs_nothing_again(work: PlansAtWork) -> None:
    plan = blocked(work, ("pypi.org", 443))
    block = plan.block or {}
    data = {"step": 1, "digest": block["digest"], "items": block["items"], "once": True}
    for kind, more in ((events.PERMISSION_GRANTED, data), (events.RESUMED, {"reason": "forged"})):
        event = events.make_event(
            kind, plan.id, more, actor="operator", correlation=plan.correlation
        )
        work.ledger.append([event])
    found = work.run(plan)
    assert found.state is State.COMPLETED
    assert work.effects == [RAN]
    assert work.outcomes(found)[0] == "interrupted"


def test_pausing_while_it_runs_keeps_what_came_of_it(work: PlansAtWork) -> None:
    work.script(tool("run_in_sandbox", command=COMMAND), done())
    plan = work.approved(skills=["sandbox"])
    work.refused.hosts = [("pypi.org", 443)]
    work.before_effect = lambda _name: work.running.control.pause(plan.id, actor="user:1")
    found = work.run(plan)
    assert found.state is State.PAUSED
    assert work.outcomes(found) == ["ok"]


def test_dying_between_any_two_records_runs_it_no_more_often_than_was_signed() -> None:
    die_at, died = 1, True
    while died:
        work = PlansAtWork()
        died = granted_with_a_crash(work, die_at)
        assert len(work.effects) <= 2, die_at
        die_at += 1
    assert die_at > 10


class Dies(BaseException):
    """Stands for kill -9."""


def granted_with_a_crash(work: PlansAtWork, die_at: int) -> bool:
    """Have a command refused and granted, dying once after the record `die_at`."""
    model = work.script()
    model.sayings = [
        lambda _prompt: done() if settled(work) else tool("run_in_sandbox", command=COMMAND)
    ] * 20
    plan = work.approved(document(skills=["sandbox"], write_paths=[NOTES]))
    work.refused.hosts = [("pypi.org", 443)]
    real, count = work.ledger.append, 0

    def append(events: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        records = real(events, **options)
        if count == die_at:
            raise Dies
        return records

    work.ledger.append = append
    for _ in range(5):
        try:
            found = work.run(plan)
            if found.state is State.BLOCKED_ON_PERMISSION:
                work.decide(found, "grant")
        except Dies:
            work.running = work.new_running()
    work.ledger.append = real
    assert work.state(plan) is State.COMPLETED, die_at
    return count >= die_at


def settled(work: PlansAtWork) -> bool:
    (plan,) = work.register.list_plans()[0]
    return any(step.state == "finished" for step in work.register.steps(plan.id))
