"""One actor's calls run a few at once; a slot is free again however its call ended."""

import threading
from typing import Any

import pytest

from astra.testing import CounterInMemory
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.calls.slots import Slots
from astra.trusted.kernel.errors import AstraError, NotFound, Refused
from astra.trusted.policy.call import Actor, Call, Role, Tier
from astra.trusted.policy.caps import BOXES_AT_ONCE, CALLS_AT_ONCE
from astra.trusted.policy.decision import Reason


class Nothing(Arguments):
    pass


class Done(Answer):
    ok: bool = True


def call(name: str = "one", **fields: Any) -> Call:
    actor = Actor(role=Role.AGENT, name=name, door="http")
    return Call(
        tool="t", tier=Tier.LOCAL_WRITE, actor=actor, arguments={}, correlation="cor_1", **fields
    )


def tool(handler: Any, *, slow: bool) -> AnyTool:
    return Tool(
        name="work",
        title="work",
        description="work",
        input=Nothing,
        output=Done,
        tier=Tier.LOCAL_WRITE,
        slow=slow,
        handler=handler,
    )


@pytest.mark.parametrize(
    ("boxed", "most", "reason"),
    [
        (True, BOXES_AT_ONCE.most, Reason.TOO_MANY_BOXES),
        (False, CALLS_AT_ONCE.most, Reason.TOO_MANY_AT_ONCE),
    ],
)
def test_an_actor_has_so_many_slots_and_another_has_its_own(
    boxed: bool, most: int, reason: Reason
) -> None:
    slots = Slots()
    assert [slots.take(call(), boxed=boxed) for _ in range(most)] == [None] * most
    objection = slots.take(call(), boxed=boxed)
    assert objection is not None
    assert objection.reason is reason
    assert str(most) in objection.explanation
    assert slots.take(call("other"), boxed=boxed) is None
    slots.give_back(call(), boxed=boxed)
    assert slots.take(call(), boxed=boxed) is None


def test_the_signed_number_of_boxes_counts_at_once() -> None:
    most = [1]
    slots = Slots(most_boxes=lambda: most[0])
    assert slots.take(call(), boxed=True) is None
    assert slots.take(call(), boxed=True) is not None
    most[0] = 2
    assert slots.take(call(), boxed=True) is None


def test_a_plan_and_a_schedule_take_no_slot() -> None:
    slots = Slots(most_boxes=lambda: 0)
    for own in ({"plan_id": "plan_1"}, {"schedule_id": "sch_1"}):
        assert slots.take(call(**own), boxed=True) is None
        slots.give_back(call(**own), boxed=True)


def _fail(_arguments: Any, _services: Any) -> Done:
    raise NotFound("no", next_step="no")


def _crash(_arguments: Any, _services: Any) -> Done:
    raise ZeroDivisionError


@pytest.mark.parametrize("handler", [lambda _a, _s: Done(), _fail, _crash])
def test_a_slot_is_free_again_however_the_call_ended(handler: Any) -> None:
    world = CounterInMemory(tool(handler, slow=True))
    for _ in range(BOXES_AT_ONCE.most * 2):
        try:
            world.call("work")
        except (NotFound, ZeroDivisionError):
            continue


def test_a_call_that_the_gate_refuses_gives_its_slot_back() -> None:
    world = CounterInMemory(tool(lambda _a, _s: Done(), slow=True))
    world.gate.stopped = True
    for _ in range(BOXES_AT_ONCE.most * 2):
        with pytest.raises(Refused) as caught:
            world.call("work")
        assert caught.value.reason == "stopped"
    world.gate.stopped = False
    assert world.call("work") == {"ok": True}


def test_what_runs_counts_until_it_has_ended() -> None:
    began, may_end = threading.Semaphore(0), threading.Event()

    def wait(_arguments: Any, _services: Any) -> Done:
        began.release()
        may_end.wait()
        return Done()

    world = CounterInMemory(tool(wait, slow=True))
    threads = [
        threading.Thread(target=world.call, args=("work",)) for _ in range(BOXES_AT_ONCE.most)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        began.acquire()
    with pytest.raises(AstraError) as caught:
        world.call("work")
    assert caught.value.reason == "too_many_boxes"
    may_end.set()
    for thread in threads:
        thread.join()
