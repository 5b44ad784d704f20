"""What is signed is kept whole and shown whole; what cannot be shown is never asked for."""

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from astra.interfaces.cli.approvals import fold_payload, render_payload
from astra.schedules.model import Definition
from astra.testing import CounterInMemory, GateInMemory
from astra.trusted.calls.registry import Answer, Arguments, Tool
from astra.trusted.kernel import canonical, masking
from astra.trusted.kernel.errors import NeedsApproval, Refused
from astra.trusted.policy import payload
from astra.trusted.policy.call import Tier

SECRET = "ghp_" + "a1B2" * 9


class Letter(Arguments):
    text: str
    content_base64: str = ""
    options: dict[str, Any] = Field(default_factory=dict)


class Sent(Answer):
    text: str


@pytest.fixture
def world() -> CounterInMemory:
    return CounterInMemory(
        Tool(
            name="send",
            title="Send",
            description="Sends a letter",
            input=Letter,
            output=Sent,
            tier=Tier.EXTERNAL,
            handler=lambda arguments, _services: Sent(text=arguments.text),
        )
    )


def ask(world: CounterInMemory, **arguments: Any) -> dict[str, Any]:
    """Call the tool as an agent, and give the request that waits for the operator."""
    with pytest.raises(NeedsApproval) as waiting:
        world.call("send", **arguments)
    return world.gate.desk.details(str(waiting.value.facts["approval_id"]))


def test_the_end_of_a_long_argument_is_kept_and_shown(world: CounterInMemory) -> None:
    text = "harmless\n" * 300 + "rm -rf everything"
    request = ask(world, text=text)

    assert request["details"]["arguments"]["text"] == text
    assert "rm -rf everything" in request["payload"]["text"]
    assert any("rm -rf everything" in line for line in render_payload(request["payload"]))


def test_the_digest_can_be_worked_out_from_what_is_kept(world: CounterInMemory) -> None:
    request = ask(world, text="x" * 20_000, options={"a": [1, {"b": None}]})
    content = {name: request["details"][name] for name in payload.OF_CALL if name != "plan"}

    assert hashlib.sha256(canonical.encode(content)).hexdigest() == request["digest"]


def test_what_is_folded_counts_the_rest(world: CounterInMemory) -> None:
    request = ask(world, text="\n".join(f"line {number}" for number in range(100)))
    lines = fold_payload(request["payload"], request["id"])

    more = request["payload"]["lines"] - 4
    assert lines[-1] == f"    … {more} more lines: astra approvals show {request['id']}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"text": "x" * payload.LARGEST}, "bytes"),
        ({"text": "a\0b"}, "binary"),
        ({"text": "\u3164" * 100}, "cannot be seen"),
        ({"text": "", "content_base64": base64.b64encode(b"\xff\xfe\0").decode()}, "binary"),
        ({"text": "", "content_base64": "this is not base64"}, "binary"),
        ({"text": f"curl -H 'Authorization: token {SECRET}'"}, "looks like a secret"),
        ({"text": "", "options": {"headers": {"api_key": "abc"}}}, "options.headers.api_key"),
        (
            {"text": "", "content_base64": base64.b64encode(SECRET.encode()).decode()},
            "looks like a secret",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anybody_is_asked(
    world: CounterInMemory, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(Refused, match=words) as refused:
        world.call("send", **arguments)

    assert refused.value.reason == "cannot_be_shown"
    assert refused.value.next_step
    assert world.gate.desk.list_by_state(state="all") == []
    assert SECRET not in refused.value.detail


def test_a_call_without_an_approval_to_sign_may_be_large() -> None:
    assert payload.find_objection({"tool": "send"}) is None
    assert payload.find_objection({"text": "x" * 100_000}, largest=200_000) is None


def test_a_request_that_does_not_hold_all_its_digest_covers_cannot_be_granted() -> None:
    gate = GateInMemory()
    approval = gate.desk.ask(
        kind="tool_call",
        subject_id="send",
        digest="d" * 64,
        summary="send",
        details={"tool": "send", "tier": 2, "arguments": {"text": "short…"}, "footprint": {}},
        actor="agent:test",
        correlation="cor_0000000000000001",
    )

    with pytest.raises(Refused, match="not the whole"):
        gate.approve(approval)
    assert gate.desk.get(approval).state == "pending"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * 70_000, "payload_too_large"),
        (SECRET, "cannot_be_shown"),
        ("a\0b", "cannot_be_shown"),
    ],
)
def test_a_schedule_whose_firings_nobody_could_sign_is_refused(
    world: CounterInMemory, text: str, reason: str
) -> None:
    definition = Definition(
        name="letters",
        cron_expression="@hourly",
        timezone="UTC",
        target_tool="send",
        payload={"text": text},
        safety_tier=2,
    )

    with pytest.raises(Refused) as refused:
        world.timetable.create(definition, actor="agent:test")
    assert refused.value.reason == reason


_TEXT = st.text(max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _TEXT | st.sampled_from(["a\nb", "{}", "- a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES, _VALUES)
def test_two_values_never_look_the_same(one: Any, other: Any) -> None:
    if canonical.encode(one) != canonical.encode(other):
        assert payload.render_text(_sorted(one)) != payload.render_text(_sorted(other))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


_PIECES = st.sampled_from(
    [SECRET, "PASSWORD=", "hunter2", "Bearer ", "abcdefgh12345678", "https://me:pw@host", "\n", "a"]
)
_CALLS = st.recursive(
    st.lists(_PIECES, max_size=3).map("".join),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["to", "api_key", SECRET]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(_CALLS)
def test_what_may_be_signed_is_recorded_as_it_is(value: Any) -> None:
    """The ledger masks what is appended; a call that it would mask is refused before that."""
    content = {"arguments": {"value": value}}
    if payload.find_objection(content) is None:
        assert masking.mask_value(content) == content
