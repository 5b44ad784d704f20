"""Answers that `make autonomy` recorded, played back through the real adapter without a model."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.asking_modes import AskingModes
from astra.adapters.language_models import LanguageModel
from astra.adapters.model_endpoints import endpoint
from astra.plans.forms import ActionForm, PlainText
from astra.plans.ports import ModelUnavailable, Prompt
from model_server import ModelServer

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "autonomy"))

from recording import Player, Recorder

PROMPT = Prompt(rules="be brief", data=("it took 0.31s below /tmp/a1",), version="working-1")


def ask_twice(url: str, prompt: Prompt = PROMPT) -> list[Any]:
    model = LanguageModel(endpoint=endpoint("tiny", url, ""), modes=AskingModes())
    document = model.ask(prompt, form=ActionForm).document
    return [document, model.ask(prompt, form=PlainText).text]


@pytest.fixture(params=[True, False], ids=["streams", "in one piece"])
def tape(request: pytest.FixtureRequest) -> Iterator[list[dict[str, Any]]]:
    """A tape of a server that answers by schema or in words."""
    server = ModelServer(
        lambda call: {"kind": "done"} if "response_format" in call else "in words",
        streams=request.param,
    )
    with Recorder(server.url) as recorder:
        assert ask_twice(recorder.url) == [{"kind": "done"}, "in words"]
    yield recorder.tape
    server.close()


def test_a_tape_says_the_same_to_the_same_questions(tape: list[dict[str, Any]]) -> None:
    later = replace(PROMPT, data=("it took 2.05s below /tmp/b2",))
    with Player(tape) as player:
        assert ask_twice(player.url, later) == [{"kind": "done"}, "in words"]
    assert player.problem == ""


def test_another_question_gets_no_answer_and_is_told_how_to_record_anew(
    tape: list[dict[str, Any]],
) -> None:
    with Player(tape) as player:
        with pytest.raises(ModelUnavailable, match="not the one that was recorded"):
            ask_twice(player.url, replace(PROMPT, data=("something else",)))
        assert "make autonomy" in player.problem
    with Player([]) as player, pytest.raises(ModelUnavailable, match="at its end"):
        ask_twice(player.url)
