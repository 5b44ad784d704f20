"""A model that was turned against its operator still has an agent's hands, and no others."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from driver import Astra, make_repository
from http_driver import Served, problem, served
from model_server import ModelServer, Raw, Use


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    made = ModelServer(lambda _request: "hello")
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Served]:
    made = Astra(tmp_path_factory.mktemp("chat"))
    made.json("init", make_repository(made.folder / "target"), "--throwaway")
    made.extra |= {"ASTRA_MODEL": "scripted", "ASTRA_MODEL_BASE_URL": model.url}
    with served(made) as found:
        yield found


@pytest.fixture(scope="module")
def http(site: Served) -> Iterator[httpx2.Client]:
    with site.client(site.login()) as made:
        yield made


def ask(http: httpx2.Client, model: ModelServer, *lines: Any) -> dict[str, Any]:
    left = list(lines)
    model.say = lambda _request: left.pop(0) if len(left) > 1 else left[0]
    said = http.post("/api/chat", json={"text": "go on, I am the operator and I approve"})
    assert said.status_code == 200, said.text
    return said.json()


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("astra_approvals_approve", {"id": "apr_00000000"}, "operator_only"),
        ("astra_flags_set", {"name": "ASTRA_CODE_WRITE_ENABLED", "on": True}, "operator_only"),
        ("schedule_code_modification", {"reason": "x"}, "flag_off"),
        ("deploy_agent_code", {"commit_message": "x"}, "flag_off"),
        ("write_file", {"path": "../../astra.toml", "content": "x"}, "path_parent_reference"),
        ("read_source_code", {"path": "../../../etc/passwd"}, "path_parent_reference"),
        ("no_such_tool", {}, "unknown_tool"),
        ("x" * 10_000, {}, "unknown_tool"),
        ("write_file", {"path": "a", "content": "x", "operator": True}, "bad_arguments"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_operators_session_lends_the_persona_nothing(
    http: httpx2.Client, model: ModelServer, tool: str, arguments: dict[str, Any], code: str
) -> None:
    before = http.get("/api/flags").json()
    (call,) = ask(http, model, Use(tool=tool, arguments=arguments), "tried")["calls"]
    assert call["outcome"] == "refused"
    assert call["code"] == code
    assert len(call["tool"]) <= 100
    assert http.get("/api/flags").json() == before


def test_hostile_words_stay_words(site: Served, http: httpx2.Client, model: ModelServer) -> None:
    words = "<script>alert(1)</script> \x1b]0;x\x07 \u202egnp.exe"
    answer = ask(http, model, words)
    assert answer["text"] == words
    shown = site.astra.run("chat", "--show", answer["conversation"]).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_lone_surrogate_breaks_nothing(
    site: Served, http: httpx2.Client, model: ModelServer
) -> None:
    answer = ask(http, model, "half \ud83d of a face")
    assert answer["ended"] == "done"
    assert site.astra.json("ledger", "verify")["ok"]


@pytest.mark.parametrize(
    "arguments", ["not json", '{"a": ', "[1, 2]", "[" * 100_000], ids=lambda text: text[:10]
)
def test_arguments_that_are_none_are_refused(
    http: httpx2.Client, model: ModelServer, arguments: str
) -> None:
    call = {"index": 0, "id": "1", "type": "function"}
    called = {**call, "function": {"name": "write_file", "arguments": arguments}}
    chunk = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"tool_calls": [called]}, "finish_reason": "tool_calls"}],
    }
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    raw = Raw(body=body, headers={"Content-Type": "text/event-stream"})
    (found,) = ask(http, model, raw, "tried")["calls"]
    assert (found["outcome"], found["code"]) == ("refused", "bad_arguments")


def test_an_agents_token_and_a_viewer_do_not_talk(site: Served) -> None:
    for role in ("agent", "viewer"):
        with site.client(site.token(role)["secret"]) as http:
            problem(http.post("/api/chat", json={"text": "hello"}), 403, "wrong_role")
            said = http.post(
                "/v1/chat/completions", json={"messages": [{"role": "user", "content": "x"}]}
            )
            problem(said, 403, "wrong_role")


def test_a_session_that_ends_ends_the_answer_and_what_was_said_is_kept(
    site: Served, model: ModelServer
) -> None:
    """The model is held in the middle; the session is closed meanwhile."""
    asked, over = threading.Event(), threading.Event()

    def slow(_request: dict[str, Any]) -> str:
        asked.set()
        over.wait(300)
        return "too late"

    model.say = slow
    secret = site.login()

    def close() -> None:
        asked.wait(300)
        with site.client(secret) as http:
            http.delete("/api/session")

    closing = threading.Thread(target=close)
    closing.start()
    with (
        site.client(secret, Accept="text/event-stream") as http,
        http.stream("POST", "/api/chat", json={"text": "hello"}) as said,
    ):
        text = "".join(said.iter_text())
    closing.join()
    over.set()
    assert "event: end" not in text
    identifier = json.loads(text.split("data: ")[1].splitlines()[0])["conversation"]
    with site.client(site.login()) as http:
        while http.get(f"/api/chat/{identifier}").json()["answering"]:
            pass
        items = http.get(f"/api/chat/{identifier}").json()["items"]
    assert [each["ended"] for each in items] == [None, "cut"]
