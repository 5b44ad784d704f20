"""Every door calls here: one record for whatever happens, and no handler without a permit."""

import errno
from collections.abc import Callable
from typing import Any

import pytest

from astra.testing import CounterInMemory, GateInMemory
from astra.trusted.calls.rate import BURST
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.file_ledger.trouble import unavailable_error
from astra.trusted.kernel.errors import (
    AstraError,
    BadInput,
    LedgerUnavailable,
    LedgerUncertain,
    NeedsApproval,
    NotFound,
    Refused,
)
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Record
from astra.trusted.policy import telemetry
from astra.trusted.policy.call import Footprint, Role, Tier

Handler = Callable[[Any, Any], Any]


class Text(Arguments):
    text: str = ""


class Said(Answer):
    text: str


def echo(arguments: Text, _services: Any) -> Said:
    return Said(text=arguments.text)


def tool(name: str = "astra.echo", tier: Tier = Tier.READ, **fields: Any) -> AnyTool:
    fields = {"title": name, "description": name, "handler": echo, **fields}
    return Tool(name=name, input=Text, output=Said, tier=tier, **fields)


def last(world: CounterInMemory) -> Record:
    return views.newest_records(world.gate.root.ledger, count=1)[0]


def test_a_read_is_one_record_with_decision_duration_and_size() -> None:
    world = CounterInMemory(tool())
    assert world.call("astra.echo", text="hi") == {"text": "hi"}
    record = last(world)
    assert record.type == "tool_called"
    assert record.data["decision"]["verdict"] == "allow"
    assert record.data["outcome"]["ok"] is True
    assert record.data["outcome"]["size"] > 0
    assert record.actor == "agent:test"


def test_both_spellings_of_a_name_are_understood() -> None:
    world = CounterInMemory(tool())
    assert world.call("astra_echo", text="hi") == world.call("astra.echo", text="hi")


def test_an_effect_is_started_before_and_finished_after() -> None:
    seen: list[str] = []
    world = CounterInMemory()

    def effect(arguments: Text, services: Any) -> Said:
        seen.append(views.newest_records(services.ledger, count=3)[0].type)
        return Said(text=arguments.text)

    world = CounterInMemory(tool(tier=Tier.LOCAL_WRITE, handler=effect))
    world.call("astra.echo", text="hi")
    assert seen == ["tool_started"]
    assert last(world).type == "tool_finished"


def test_a_failing_effect_is_finished_with_its_reason() -> None:
    def fail(_arguments: Text, _services: Any) -> Said:
        raise NotFound("it is not there", next_step="look elsewhere")

    world = CounterInMemory(tool(tier=Tier.LOCAL_WRITE, handler=fail))
    with pytest.raises(NotFound):
        world.call("astra.echo")
    finished, returned, _pool = views.newest_records(world.gate.root.ledger, count=3)
    assert finished.data["outcome"]["code"] == "not_found"
    assert returned.type == "budget_returned"


def test_an_unexpected_failure_is_recorded_and_not_swallowed() -> None:
    def crash(_arguments: Text, _services: Any) -> Said:
        raise ZeroDivisionError

    world = CounterInMemory(tool(handler=crash))
    with pytest.raises(ZeroDivisionError):
        world.call("astra.echo")
    assert last(world).data["outcome"] == {
        **last(world).data["outcome"],
        "ok": False,
        "code": "failed",
    }


@pytest.mark.parametrize(
    ("name", "arguments", "error", "code"),
    [
        ("nonsense", {}, NotFound, "unknown_tool"),
        ("astra.echo", {"text": 7}, BadInput, "bad_arguments"),
        ("astra.echo", {"tier": 0}, BadInput, "bad_arguments"),
        ("astra.echo", {"text": "\ud800"}, BadInput, "bad_arguments"),
    ],
)
def test_bad_requests_are_refused_and_recorded(
    name: str, arguments: dict[str, Any], error: type[AstraError], code: str
) -> None:
    world = CounterInMemory(tool())
    with pytest.raises(error):
        world.call(name, **arguments)
    assert (last(world).type, last(world).data["decision"]["code"]) == ("tool_refused", code)


def test_a_near_miss_is_suggested() -> None:
    world = CounterInMemory(tool())
    with pytest.raises(NotFound) as refused:
        world.call("astra.ecco")
    assert "astra.echo" in refused.value.next_step


def test_a_switched_off_tool_answers_kindly_whatever_its_arguments() -> None:
    world = CounterInMemory(tool(flags=("ASTRA_CODE_WRITE_ENABLED",)))
    with pytest.raises(Refused) as refused:
        world.call("astra.echo", nonsense=True)
    assert refused.value.reason == "flag_off"
    assert "astra flags set ASTRA_CODE_WRITE_ENABLED on" in refused.value.next_step


def test_switched_off_and_operator_tools_are_in_no_agents_list() -> None:
    world = CounterInMemory(
        tool("open"),
        tool("guarded", flags=("ASTRA_CODE_WRITE_ENABLED",)),
        tool("theirs", operator_only=True),
    )
    registry, flags = world.counter.registry, world.gate.on
    assert [found.name for found in registry.list_visible(flags, operator=False)] == ["open"]
    flags["ASTRA_CODE_WRITE_ENABLED"] = True
    assert len(registry.list_visible(flags, operator=False)) == 2
    assert len(registry.list_visible(flags, operator=True)) == 3


def test_operator_tools_refuse_an_agent_that_calls_them_anyway() -> None:
    world = CounterInMemory(tool(operator_only=True))
    with pytest.raises(Refused, match="for operators"):
        world.call("astra.echo")
    assert world.call("astra.echo", role=Role.OPERATOR, text="hi") == {"text": "hi"}


def test_a_path_outside_the_grants_is_refused_before_the_handler() -> None:
    def footprint(_arguments: Text, _services: Any) -> Footprint:
        return Footprint(write_paths=("/etc/passwd",))

    def never(_arguments: Text, _services: Any) -> Said:
        raise AssertionError("the handler was reached")

    world = CounterInMemory(tool(tier=Tier.LOCAL_WRITE, footprint=footprint, handler=never))
    with pytest.raises(Refused, match="/etc/passwd"):
        world.call("astra.echo")


def test_an_external_call_runs_once_a_person_signed_exactly_it() -> None:
    world = CounterInMemory(tool(tier=Tier.EXTERNAL))
    with pytest.raises(NeedsApproval) as waiting:
        world.call("astra.echo", text="send")
    world.gate.approve(waiting.value.facts["approval_id"])
    with pytest.raises(NeedsApproval):
        world.call("astra.echo", text="send more")
    assert world.call("astra.echo", text="send") == {"text": "send"}
    with pytest.raises(NeedsApproval):
        world.call("astra.echo", text="send")


def test_secrets_and_long_texts_do_not_reach_the_record() -> None:
    world = CounterInMemory(tool())
    token = "ghp_" + "a1B2" * 9
    world.call("astra.echo", text=f"token {token} " + "x" * 5000)
    line = last(world).line
    assert token not in line
    assert len(line) < 2500


def test_a_flood_of_reads_is_slowed_down() -> None:
    gate = GateInMemory()
    world = CounterInMemory(tool(), gate=gate)
    world.counter._rate._seconds = lambda: 0.0
    refused = 0
    for _ in range(BURST + 5):
        try:
            world.call("astra.echo")
        except Refused as error:
            assert error.reason == "too_many_calls"
            refused += 1
    assert refused == 5


def test_calls_that_a_dead_daemon_left_open_are_closed_as_interrupted() -> None:
    gate = GateInMemory()

    def die(_arguments: Text, _services: Any) -> Said:
        raise SystemExit

    world = CounterInMemory(tool(tier=Tier.LOCAL_WRITE, handler=die), gate=gate)
    ledger = gate.root.ledger
    forgotten, ledger.append = ledger.append, _dropping_finishes(ledger.append)
    with pytest.raises(SystemExit):
        world.call("astra.echo")
    ledger.append = forgotten
    assert telemetry.close_interrupted(ledger) == 1
    assert last(world).type == "tool_interrupted"
    assert telemetry.close_interrupted(ledger) == 0


def _dropping_finishes(append: Callable[..., list[Record]]) -> Callable[..., list[Record]]:
    """Stand for a process that dies before it can say that it finished."""

    def forget(events: Any, **options: Any) -> list[Record]:
        kept = [event for event in events if event.type != "tool_finished"]
        return append(kept, **options)

    return forget


@pytest.mark.parametrize("handled", ["succeeds", "fails behind its effect"])
def test_an_effect_whose_end_finds_the_disk_full_is_never_said_not_to_have_happened(
    handled: str,
) -> None:
    effects: list[str] = []

    def act(arguments: Text, _services: Any) -> Said:
        effects.append(arguments.text)
        if handled != "succeeds":
            raise AstraError("it broke in the middle", next_step="look")
        return Said(text=arguments.text)

    world = CounterInMemory(tool(tier=Tier.LOCAL_WRITE, handler=act))
    ledger = world.gate.root.ledger
    ledger.append = _refusing(ledger.append, "tool_finished")
    with pytest.raises(LedgerUncertain) as uncertain:
        world.call("astra.echo", text="sent")
    assert effects == ["sent"]
    assert uncertain.value.http_status == 500
    assert "astra.echo ran, and how it ended could not be recorded" in uncertain.value.detail


@pytest.mark.parametrize("ending", ["tool_called", "tool_finished"])
def test_a_call_without_an_effect_hears_that_nothing_was_recorded(ending: str) -> None:
    def refuse(_arguments: Text, _services: Any) -> Said:
        raise NotFound("it is not there", next_step="look elsewhere")

    tier = Tier.READ if ending == "tool_called" else Tier.LOCAL_WRITE
    world = CounterInMemory(tool(tier=tier, handler=refuse))
    ledger = world.gate.root.ledger
    ledger.append = _refusing(ledger.append, ending)
    with pytest.raises(LedgerUnavailable) as refused:
        world.call("astra.echo")
    assert refused.value.http_status == 503


def _refusing(append: Callable[..., list[Record]], type_: str) -> Callable[..., list[Record]]:
    """Stand for a disk that is full by the time one record is due."""

    def refuse(events: Any, **options: Any) -> list[Record]:
        if any(event.type == type_ for event in events):
            raise unavailable_error(OSError(errno.ENOSPC, ""))
        return append(events, **options)

    return refuse
