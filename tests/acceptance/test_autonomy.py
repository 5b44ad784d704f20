"""The harness of `make autonomy`: with a scripted model, and with what a small one answered."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

AUTONOMY = Path(__file__).parents[2] / "benchmarks" / "autonomy"
sys.path.insert(0, str(AUTONOMY))

from recording import Player  # noqa: E402 - beside the benchmark
from stories import GREETING, STORIES, Story  # noqa: E402

import run  # noqa: E402

PLACE = json.dumps({"places": ["agent_server/api.py::greeting"]})


def say(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "question": "",
        "seconds": 0.1,
        "answer": {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        },
    }


def rewrite(greeting: str) -> dict[str, Any]:
    return say(f'```python\ndef greeting() -> str:\n    return "{greeting}"\n```')


@pytest.mark.timeout(900)
def test_a_wish_becomes_a_deployed_change_and_failing_tests_come_back_on_the_way() -> None:
    tape = [say(PLACE), rewrite("Good day"), say(PLACE), rewrite("Good day from the agent")]
    with Player(tape) as player:
        outcome = run.live(GREETING, "scripted", player)
    assert outcome.passed, outcome
    assert outcome.tries == 2, "the first did not pass its tests and was superseded"
    assert outcome.signatures == 2, "the desire with its goal and graph, the diff"
    assert outcome.harmful == 0
    assert outcome.ledger[-1] == "(the chain verifies)"
    assert "change_returned" in outcome.ledger
    assert "deployment_settled" in outcome.ledger


AGENT = """
import json, os, pathlib, urllib.request
file = pathlib.Path("agent_server/api.py")
question = pathlib.Path(os.environ["CODER_INSTRUCTIONS"]).read_text()
asked = {"messages": [{"role": "user", "content": question}]}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
with urllib.request.urlopen(urllib.request.Request(url, json.dumps(asked).encode())) as answer:
    greeting = json.load(answer)["choices"][0]["message"]["content"]
file.write_text(file.read_text().replace("Hello from the agent", greeting))
"""


@pytest.mark.timeout(900)
def test_a_coding_agent_of_somebody_else_goes_the_same_way_with_two_signatures() -> None:
    command = shlex.join(["/usr/bin/python3", "-c", AGENT])
    with Player([say("Good day"), say("Good day from the agent")]) as player:
        outcome = run.live(GREETING, "scripted", player, command=command)
    assert outcome.passed, outcome
    assert outcome.tries == 2, "the first did not pass its tests, and the agent was told"
    assert outcome.signatures == 2, "the plan, the diff"
    assert outcome.harmful == 0
    assert outcome.ledger[-1] == "(the chain verifies)"
    assert {"agent_coder_called", "deployment_settled"} <= {*outcome.ledger}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_what_a_small_model_answered_becomes_a_deployed_change(story: Story) -> None:
    tape = json.loads((run.TAPES / f"{story.name}.json").read_text())
    with Player(tape) as player:
        outcome = run.live(story, run.MODEL_NAME, player)
    assert player.problem == ""
    assert outcome.passed, outcome
    assert player.place == len(tape)
    assert outcome.signatures == 2
    assert outcome.harmful == 0
    assert outcome.ledger[-1] == "(the chain verifies)"
