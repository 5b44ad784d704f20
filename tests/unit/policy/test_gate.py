"""One decision for every call: the order of the rules, and that silence is a no."""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.numbers import budget_usage
from astra.testing import GateInMemory
from astra.trusted.kernel.errors import NeedsApproval, Refused
from astra.trusted.policy import flags
from astra.trusted.policy.call import Actor, Call, Footprint, Role, Tier
from astra.trusted.policy.decision import Reason, Verdict
from astra.trusted.policy.gate import Known, decide
from astra.trusted.settings.configuration import Budgets

WRITE = "ASTRA_CODE_WRITE_ENABLED"
AGENT = Actor(role=Role.AGENT, name="test", door="mcp")


def call(tier: Tier = Tier.READ, **fields: Any) -> Call:
    defaults: dict[str, Any] = {
        "tool": "some_tool",
        "actor": AGENT,
        "arguments": {"n": 1},
        "correlation": "cor_0000000000000001",
    }
    return Call(tier=tier, **{**defaults, **fields})


def test_reading_is_allowed_and_leaves_no_start() -> None:
    gate = GateInMemory()
    decision, permit = gate.gate.admit(call())
    assert decision.allowed
    assert permit is not None
    assert gate.root.ledger.head().sequence == 1


def test_a_local_write_starts_durably_and_spends_its_budgets() -> None:
    gate = GateInMemory()
    _, permit = gate.gate.admit(call(Tier.LOCAL_WRITE))
    assert permit is not None
    types = [row[0] for row in gate.root.ledger.query("SELECT type FROM record WHERE sequence > 1")]
    assert types == ["tool_started", "budget_spent", "budget_spent"]


@pytest.mark.parametrize(
    ("fields", "known", "reason"),
    [
        ({"flags": (WRITE,)}, {"flags": {WRITE: False}}, Reason.FLAG_OFF),
        ({"flags": ("UNHEARD_OF",)}, {}, Reason.FLAG_OFF),
        ({"tier": Tier.LOCAL_WRITE}, {"stopped": True}, Reason.STOPPED),
        ({"operator_only": True}, {}, Reason.OPERATOR_ONLY),
        ({"available": False}, {}, Reason.NOT_AVAILABLE),
        ({"tier": Tier.LOCAL_WRITE}, {"outside": "/etc/passwd"}, Reason.OUTSIDE_GRANTS),
        ({"tier": Tier.EXTERNAL}, {}, Reason.NEEDS_APPROVAL),
    ],
)
def test_each_rule_objects_with_its_own_reason(
    fields: Mapping[str, Any], known: Mapping[str, Any], reason: Reason
) -> None:
    given_known: dict[str, Any] = {"flags": {}, "stopped": False, **known}
    decision = decide(call(**fields), Known(**given_known))
    assert decision.reason is reason
    assert not decision.allowed
    assert decision.explanation
    assert decision.next_step or decision.verdict is Verdict.NEEDS_APPROVAL


def test_reading_goes_on_after_a_stop() -> None:
    assert decide(call(), Known(flags={}, stopped=True)).allowed


def test_a_viewer_looks_only() -> None:
    viewer = Actor(role=Role.VIEWER, name="phone", door="http")
    known = Known(flags={}, stopped=False)
    assert decide(call(actor=viewer), known).allowed
    assert not decide(call(Tier.LOCAL_WRITE, actor=viewer), known).allowed


def test_external_work_waits_for_a_signature_over_exactly_this_call() -> None:
    gate = GateInMemory()
    asked, permit = gate.gate.admit(call(Tier.EXTERNAL))
    assert permit is None
    assert isinstance(asked.as_error(), NeedsApproval)
    assert asked.approval_id is not None
    gate.approve(asked.approval_id)
    other, permit = gate.gate.admit(call(Tier.EXTERNAL, arguments={"n": 2}))
    assert permit is None
    assert other.approval_id != asked.approval_id
    decision, permit = gate.gate.admit(call(Tier.EXTERNAL))
    assert (decision.reason, permit is not None) == (Reason.APPROVED, True)


def test_an_approval_is_used_once() -> None:
    gate = GateInMemory()
    asked, _ = gate.gate.admit(call(Tier.EXTERNAL))
    assert asked.approval_id is not None
    gate.approve(asked.approval_id)
    assert gate.gate.admit(call(Tier.EXTERNAL))[1] is not None
    again, permit = gate.gate.admit(call(Tier.EXTERNAL))
    assert permit is None
    assert again.approval_id != asked.approval_id


def test_asking_twice_for_the_same_is_one_request() -> None:
    gate = GateInMemory()
    first, _ = gate.gate.admit(call(Tier.EXTERNAL))
    second, _ = gate.gate.admit(call(Tier.EXTERNAL))
    assert first.approval_id == second.approval_id
    assert len(gate.desk.list_by_state()) == 1


def test_a_narrowed_caller_has_the_flag_off() -> None:
    gate = GateInMemory()
    gate.on[WRITE] = True
    wanted = call(flags=(WRITE,))
    assert gate.gate.admit(wanted)[1] is not None
    narrowed, _ = gate.gate.admit(wanted, off=frozenset({WRITE}))
    assert narrowed.reason is Reason.FLAG_OFF
    assert "astra flags set" not in narrowed.next_step, "no command turns on what is held off"


def test_a_flag_that_flips_between_decision_and_start_refuses_the_start() -> None:
    gate = GateInMemory()
    gate.on[WRITE] = True
    flips = [None]

    def look() -> str:
        """The operator turns the flag off just after the gate has looked at it."""
        if flips:
            flips.pop()
            gate.root.ledger.append([flags.turn_off(WRITE, actor="user:1000")])
            gate.on[WRITE] = False
        return ""

    gate.outside = look
    decision, permit = gate.gate.admit(call(Tier.LOCAL_WRITE, flags=(WRITE,)))
    assert (decision.reason, permit) == (Reason.FLAG_OFF, None)
    types = [row[0] for row in gate.root.ledger.query("SELECT type FROM record")]
    assert "tool_started" not in types


def test_the_last_of_a_budget_goes_to_exactly_one_of_many_callers() -> None:
    gate = GateInMemory()
    gate.ceilings = Budgets(tool_per_day=5)
    outcomes: list[Reason] = []

    def work() -> None:
        outcomes.append(gate.gate.admit(call(Tier.LOCAL_WRITE))[0].reason)

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(Reason.ALLOWED) == 5
    assert outcomes.count(Reason.BUDGET_SPENT) == 15


def test_two_gates_over_one_ledger_share_the_budget() -> None:
    """Two daemons on one database have locks of their own; the ledger decides."""
    first = GateInMemory()
    second = GateInMemory(first.root)
    first.ceilings = second.ceilings = Budgets(tool_per_day=10)
    outcomes: list[bool] = []

    def work(gate: GateInMemory) -> None:
        outcomes.extend(gate.gate.admit(call(Tier.LOCAL_WRITE))[0].allowed for _ in range(10))

    threads = [threading.Thread(target=work, args=(gate,)) for gate in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(True) == 10


def test_a_budget_starts_again_at_midnight_utc() -> None:
    gate = GateInMemory()
    gate.ceilings = Budgets(tool_per_day=1)
    gate.root.clock.set(datetime(2026, 5, 1, 23, 59, 59, tzinfo=UTC))
    assert gate.gate.admit(call(Tier.LOCAL_WRITE))[0].allowed
    assert gate.gate.admit(call(Tier.LOCAL_WRITE))[0].reason is Reason.BUDGET_SPENT
    gate.root.clock.advance(seconds=1)
    assert gate.gate.admit(call(Tier.LOCAL_WRITE))[0].allowed
    days = {row["day"] for row in budget_usage.list_consumption(gate.root.ledger)}
    assert days == {"2026-05-01", "2026-05-02"}


def test_a_week_shows_each_of_seven_days_and_the_days_without_a_call() -> None:
    gate = GateInMemory()
    for days in (1, 1, 5, 1):
        assert gate.gate.admit(call(Tier.LOCAL_WRITE))[0].allowed
        gate.root.clock.advance(days=days)
    rows = budget_usage.list_week_usage(gate.root.ledger, now=gate.root.clock.now())
    assert {(row["scope"], row["used"], tuple(row["week"])) for row in rows} == {
        ("actor", 0, (1, 0, 0, 0, 0, 1, 0)),
        ("tool", 0, (1, 0, 0, 0, 0, 1, 0)),
    }


def test_many_tools_do_not_multiply_an_actors_pool() -> None:
    gate = GateInMemory()
    gate.ceilings = Budgets(actor_per_day=3)
    reasons = [
        gate.gate.admit(call(Tier.LOCAL_WRITE, tool=f"tool_{number}"))[0].reason
        for number in range(4)
    ]
    assert reasons[-1] is Reason.POOL_SPENT


def test_refusals_cost_nothing() -> None:
    gate = GateInMemory()
    gate.stopped = True
    gate.gate.admit(call(Tier.LOCAL_WRITE))
    assert budget_usage.list_consumption(gate.root.ledger) == []


def test_a_permit_fits_one_call_once() -> None:
    gate = GateInMemory()
    wanted = call(Tier.LOCAL_WRITE)
    _, permit = gate.gate.admit(wanted)
    assert permit is not None
    with pytest.raises(Refused):
        permit.use("other_tool", wanted.digest())
    permit.use(wanted.tool, wanted.digest())
    with pytest.raises(Refused):
        permit.use(wanted.tool, wanted.digest())


@given(
    tier=st.sampled_from(Tier),
    role=st.sampled_from(Role),
    flags=st.lists(st.sampled_from(["A", "B"]), max_size=2),
    on=st.dictionaries(st.sampled_from(["A", "B"]), st.booleans()),
    stopped=st.booleans(),
    disk_low=st.booleans(),
    operator_only=st.booleans(),
    available=st.booleans(),
    outside=st.sampled_from(["", "/somewhere"]),
    approved=st.booleans(),
)
def test_nothing_is_allowed_unless_every_rule_is_content(**world: Any) -> None:
    wanted = call(
        world["tier"],
        actor=Actor(role=world["role"], name="x", door="mcp"),
        flags=tuple(world["flags"]),
        operator_only=world["operator_only"],
        available=world["available"],
        footprint=Footprint(write_paths=("/somewhere",)),
    )
    known = Known(
        flags=world["on"],
        stopped=world["stopped"],
        disk_low=world["disk_low"],
        outside=world["outside"],
        approved=world["approved"],
    )
    if decide(wanted, known).allowed:
        writes = world["tier"] is not Tier.READ
        assert all(world["on"].get(flag) for flag in world["flags"])
        assert not (writes and world["stopped"])
        assert not (writes and world["disk_low"] and world["role"] is not Role.OPERATOR)
        assert not (world["operator_only"] and world["role"] is not Role.OPERATOR)
        assert not (world["role"] is Role.VIEWER and writes)
        assert world["available"]
        assert not world["outside"]
        assert world["approved"] or world["tier"] is not Tier.EXTERNAL


def test_on_a_low_disk_the_agent_may_look_and_begins_nothing() -> None:
    low = Known(flags={}, stopped=False, disk_low=True)
    for tier in (Tier.LOCAL_WRITE, Tier.EXTERNAL):
        refused = decide(call(tier), low)
        assert (refused.verdict, refused.reason) == (Verdict.DENY, Reason.DISK_LOW)
        assert "make room" in refused.next_step
    assert decide(call(Tier.READ), low).allowed
    operator = Actor(role=Role.OPERATOR, name="x", door="cli")
    assert decide(call(Tier.LOCAL_WRITE, actor=operator), low).allowed


def test_a_low_disk_is_noticed_at_the_next_call() -> None:
    gate = GateInMemory()
    wanted = call(Tier.LOCAL_WRITE)
    assert gate.gate.admit(wanted)[0].allowed
    gate.disk_low = True
    assert gate.gate.admit(wanted)[0].reason is Reason.DISK_LOW
