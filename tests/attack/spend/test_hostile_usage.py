"""A model's server that lies about what it used: no lie makes a call cheaper."""

from collections.abc import Iterator
from typing import Any

import pytest

from astra.adapters.language_models import LanguageModel
from astra.adapters.model_calls import Charge
from astra.adapters.model_endpoints import endpoint
from astra.adapters.talking_models import TalkingModel
from astra.persona.speech import Cut, Dialogue, FromPerson
from astra.plans.forms import PlainText
from astra.plans.ports import ModelUnavailable, Prompt, Usage
from astra.spend.model import NOTHING, SpendRefused
from astra.spend.projection import RESERVED
from model_server import ModelServer, Raw, make_usage, report_honestly
from spend_in_memory import ACCOUNT, SpendInMemory

PROMPT = Prompt(rules="be short", data=("word " * 2_000,), version="1")
CAP = "tokens_per_day = 1000000"
LIES: dict[str, Any] = {
    "nothing": make_usage(0, 0),
    "one token": make_usage(1, 1),
    "negative": make_usage(-1_000_000, -1_000_000),
    "negative output": make_usage(3_000, -3_000),
    "absurd": make_usage(10**30, 10**30),
    "all from the cache, and more": {
        **make_usage(3_000, 10),
        "prompt_tokens_details": {"cached_tokens": 10**9},
    },
    "no report": None,
    "a text": {"prompt_tokens": "none", "completion_tokens": "none", "total_tokens": "none"},
    "half a report": {"prompt_tokens": 3_000},
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    running = ModelServer(lambda _request: "an answer of more than sixteen bytes, surely")
    yield running
    running.close()


def make_charge(world: SpendInMemory) -> Charge:
    return Charge(meter=world.book, account=ACCOUNT)


def ask(server: ModelServer, world: SpendInMemory) -> Usage | None:
    where = endpoint("scripted", server.url, "")
    model = LanguageModel(endpoint=where, charge=make_charge(world))
    try:
        return model.ask(PROMPT, form=PlainText).usage
    except ModelUnavailable:
        return None


def talk(server: ModelServer, world: SpendInMemory) -> Usage | None:
    where = endpoint("scripted", server.url, "")
    model = TalkingModel(endpoint=where, charge=make_charge(world))
    dialogue = Dialogue(rules="be short", utterances=[FromPerson(PROMPT.data[0])])
    try:
        return model.converse(dialogue, say=lambda _text: None, cut=Cut()).usage
    except ModelUnavailable:
        return None


@pytest.mark.parametrize("call", [ask, talk])
@pytest.mark.parametrize("lie", LIES)
def test_no_lie_about_usage_makes_a_call_cheaper(server: ModelServer, lie: str, call: Any) -> None:
    world = SpendInMemory(CAP)
    server.usage = lambda _request: LIES[lie]
    usage = call(server, world)
    reserved = sum(
        record.data["reserved"]["tokens"] for record in world.root.ledger.records(RESERVED)
    )
    assert world.total().reserved == world.total().settled == NOTHING
    assert world.total().uncertain.tokens == reserved >= len(PROMPT.data[0])
    assert usage is None or min(usage.input_tokens, usage.output_tokens) >= 0
    assert usage is None or usage.tokens <= 20_000_000


@pytest.mark.parametrize("call", [ask, talk])
def test_an_honest_report_settles_far_below_what_was_reserved(
    server: ModelServer, call: Any
) -> None:
    world = SpendInMemory(CAP)
    server.usage = report_honestly
    call(server, world)
    assert world.total().uncertain == world.total().reserved == NOTHING
    assert 2_000 < world.total().settled.tokens < 4_000


@pytest.mark.parametrize("call", [ask, talk])
def test_a_server_that_reports_more_than_was_reserved_is_believed_and_ends_it(
    server: ModelServer, call: Any
) -> None:
    world = SpendInMemory("tokens_per_day = 100000")
    server.usage = lambda _request: make_usage(90_000, 20_000)
    call(server, world)
    assert world.total().settled.tokens == 110_000
    with pytest.raises(SpendRefused):
        call(server, world)
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("status", "counts"), [(400, False), (401, False), (429, False), (500, True), (503, True)]
)
def test_a_refused_request_takes_nothing_and_a_broken_one_all_that_was_reserved(
    server: ModelServer, status: int, counts: bool
) -> None:
    world = SpendInMemory(CAP)
    server.say = lambda _request: status
    assert ask(server, world) is None
    assert (world.total().uncertain.tokens > 0) is counts
    assert world.total().settled == world.total().reserved == NOTHING


def test_an_answer_cut_off_in_the_middle_counts_as_reserved(server: ModelServer) -> None:
    world = SpendInMemory(CAP)
    server.say = lambda _request: Raw(
        body=b'{"id": "x", "cho', promised=4_000, headers={"Content-Type": "application/json"}
    )
    assert ask(server, world) is None
    assert world.total().uncertain.tokens > len(PROMPT.data[0])


def test_a_server_that_nobody_reaches_takes_nothing(server: ModelServer) -> None:
    world = SpendInMemory(CAP)
    server.close()
    assert ask(server, world) is None
    assert world.total().counted == NOTHING


def test_a_call_over_a_cap_never_reaches_the_server(server: ModelServer) -> None:
    world = SpendInMemory("tokens_per_day = 9000")
    for call in (ask, talk):
        with pytest.raises(SpendRefused):
            call(server, world)
    assert server.calls == []
