"""The model adapter against a real server on loopback: answers, garbage, silence."""

from collections.abc import Iterator
from typing import Any

import pytest

from astra.adapters.language_models import LanguageModel, endpoint
from astra.kernel.errors import BadSetting
from astra.plans.forms import ActionForm
from astra.plans.ports import ModelUnavailable, Prompt
from model_server import ModelServer

PROMPT = Prompt(rules="be brief", data=("one", "two"), version="working-1")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer(lambda _request: {"kind": "done", "output": "x"})
    yield made
    made.close()


def model(server: ModelServer, name: str = "tiny", seconds: float = 20.0) -> LanguageModel:
    return LanguageModel(endpoint=endpoint(name, server.url, "the-key"), seconds=seconds)


def test_an_answer_in_the_form_is_a_document_with_its_tokens(server: ModelServer) -> None:
    reply = model(server).ask(PROMPT, form=ActionForm)
    assert reply.document == {"kind": "done", "output": "x"}
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)


def test_rules_and_data_are_apart_and_the_key_goes_along(server: ModelServer) -> None:
    model(server).ask(PROMPT, form=ActionForm)
    (call,) = server.calls
    assert [(each["role"], each["content"]) for each in call["messages"]] == [
        ("system", "be brief"),
        ("user", "one\n\ntwo"),
    ]
    assert call["model"] == "tiny"
    assert server.headers[0]["authorization"] == "Bearer the-key"


@pytest.mark.parametrize(
    ("said", "document"),
    [
        ('{"kind": "done"}', {"kind": "done"}),
        ('Here:\n```json\n{"kind": "done"}\n```', {"kind": "done"}),
        ("I would rather not", None),
        ("{" * 500, None),
        ("", None),
    ],
)
def test_an_answer_in_plain_text_is_read_or_is_nothing(
    server: ModelServer, said: str, document: Any
) -> None:
    server.say = lambda _request: said
    try:
        reply = model(server).ask(PROMPT, form=ActionForm)
    except ModelUnavailable:
        assert said == "", "a server that says nothing at all has not answered"
        return
    assert reply.document == document


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_whatever_goes_wrong_is_one_error_and_one_call(server: ModelServer, status: int) -> None:
    server.say = lambda _request: status
    with pytest.raises(ModelUnavailable) as failed:
        model(server).ask(PROMPT, form=ActionForm)
    assert len(server.calls) == 1, "retries belong to whoever asks"
    assert "the-key" not in failed.value.detail


def test_a_server_that_is_not_there_is_the_same_error(server: ModelServer) -> None:
    gone = model(server)
    server.close()
    with pytest.raises(ModelUnavailable):
        gone.ask(PROMPT, form=ActionForm)


def test_a_name_says_who_serves_it() -> None:
    assert endpoint("openai:gpt", "", "").provider == "openai"
    assert endpoint("anthropic:claude", "", "").provider == "anthropic"
    assert endpoint("qwen3:4b", "http://localhost/v1", "").provider == "openai"
    with pytest.raises(BadSetting):
        endpoint("gpt", "", "")
    with pytest.raises(BadSetting):
        endpoint("other:gpt", "", "")


def test_a_key_is_not_shown() -> None:
    assert "the-key" not in repr(endpoint("openai:gpt", "", "the-key"))
