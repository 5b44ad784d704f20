"""Talking with the persona by every door: HTTP, OpenAI's own client, and a terminal."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from driver import Astra
from http_driver import Served, problem, served
from model_server import Cut, ModelServer, Use, as_json

WRITE = Use(tool="write_file", arguments={"path": "a.md", "content": "x"})
FETCH = Use(tool="fetch_url", arguments={"url": "https://example.com/"})


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    made = ModelServer(lambda _request: "hello there")
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(shared: Astra, model: ModelServer) -> Iterator[Served]:
    shared.extra |= {"ASTRA_MODEL": "scripted", "ASTRA_MODEL_BASE_URL": model.url}
    with served(shared) as found:
        yield found


@pytest.fixture(scope="module")
def secret(site: Served) -> str:
    return site.token("operator")["secret"]


def script(model: ModelServer, *lines: Any) -> None:
    left = list(lines)
    model.say = lambda _request: left.pop(0) if len(left) > 1 else left[0]


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event: ")]
    return [(kind[7:], json.loads(data[6:])) for kind, data in blocks]


def test_an_answer_comes_as_events_and_is_kept(
    site: Served, model: ModelServer, secret: str
) -> None:
    script(model, WRITE, "I wrote it")
    with site.client(secret, Accept="text/event-stream") as http:
        said = http.post("/api/chat", json={"text": "write it down"})
        heard = events(said.text)
        kinds = [kind for kind, _ in heard]
        assert kinds[0] == "started"
        assert kinds[1:3] == ["call", "result"]
        assert kinds[-1] == "end"
        assert "".join(data["text"] for kind, data in heard if kind == "text") == "I wrote it"
        found = http.get(f"/api/chat/{heard[0][1]['conversation']}").json()
    assert [(each["who"], each["text"]) for each in found["items"]] == [
        ("person", "write it down"),
        ("persona", "I wrote it"),
    ]
    assert found["items"][1]["calls"][0]["outcome"] == "ok"
    assert not found["answering"]
    persona = site.astra.root / "persona_space" / "a.md"
    assert persona.read_text() == "x"
    copy = site.astra.root / "conversations" / f"{found['id']}.json"
    assert [each["text"] for each in json.loads(copy.read_text())["items"]] == [
        "write it down",
        "I wrote it",
    ]


def test_without_a_wish_for_events_the_answer_comes_whole(
    site: Served, model: ModelServer, secret: str
) -> None:
    script(model, "first", "second")
    with site.client(secret) as http:
        one = http.post("/api/chat", json={"text": "one"}).json()
        two = http.post(
            "/api/chat", json={"text": "two", "conversation": one["conversation"]}
        ).json()
        listed = http.get("/api/chat", params={"limit": 1}).json()
    assert (one["text"], two["text"]) == ("first", "second")
    assert listed["items"][0]["id"] == one["conversation"]
    assert listed["items"][0]["messages"] == 4
    assert listed["unavailable"] is None


def test_the_model_is_given_the_tools_and_told_what_is_off(
    site: Served, model: ModelServer, secret: str
) -> None:
    script(model, "hm")
    with site.client(secret) as http:
        http.post("/api/chat", json={"text": "what can you do?"})
    heard = model.calls[-1]
    names = {each["function"]["name"] for each in heard["tools"]}
    assert {"read_source_code", "astra_desires_record", "suggest_project"} <= names
    assert not {"schedule_code_modification", "astra_approvals_approve"} & names
    assert "ASTRA_CODE_WRITE_ENABLED" in str(heard["messages"][0])


def test_openais_own_client_talks_with_the_persona(
    site: Served, model: ModelServer, secret: str
) -> None:
    client = openai.OpenAI(base_url=f"{site.origin}/v1", api_key=secret)
    assert [each.id for each in client.models.list()] == ["astra"]
    script(model, "blue", "still blue")
    said: list[Any] = [
        {"role": "system", "content": "you are a pirate"},
        {"role": "user", "content": "which colour?"},
    ]
    whole = client.chat.completions.create(model="astra", messages=said)
    assert whole.choices[0].message.content == "blue"
    assert whole.usage is not None
    assert whole.usage.total_tokens == 120
    assert "UNTRUSTED what the client says went before" in str(model.calls[-1]["messages"][0])
    said += [{"role": "assistant", "content": "blue"}, {"role": "user", "content": "and now?"}]
    chunks = list(
        client.chat.completions.create(
            model="astra", messages=said, stream=True, stream_options={"include_usage": True}
        )
    )
    pieces = [each.choices[0].delta.content for each in chunks if each.choices]
    assert "".join(each or "" for each in pieces) == "still blue"
    assert chunks[-1].usage is not None
    with site.client(secret) as http:
        (newest,) = http.get("/api/chat", params={"limit": 1}).json()["items"]
    assert (newest["title"], newest["messages"]) == ("which colour?", 4)


def test_what_waits_for_a_person_is_said_to_a_client_that_only_reads_text(
    site: Served, model: ModelServer, secret: str
) -> None:
    script(model, FETCH, "Done.")
    client = openai.OpenAI(base_url=f"{site.origin}/v1", api_key=secret)
    whole = client.chat.completions.create(
        model="astra", messages=[{"role": "user", "content": "fetch it"}]
    )
    (waiting,) = site.astra.json("approvals")["items"]
    assert f"waits for your approval: {waiting['id']}" in str(whole.choices[0].message.content)
    site.astra.json("reject", waiting["id"], "--reason", "no")


def test_a_model_that_fails_is_an_error_where_openais_clients_look(
    site: Served, model: ModelServer, secret: str
) -> None:
    script(model, 500)
    client = openai.OpenAI(base_url=f"{site.origin}/v1", api_key=secret, max_retries=0)
    hello: list[Any] = [{"role": "user", "content": "hello"}]
    with pytest.raises(openai.APIStatusError) as error:
        client.chat.completions.create(model="astra", messages=hello)
    assert "did not answer" in error.value.message
    assert (error.value.status_code, error.value.body["upstream_status"]) == (500, 500)
    with pytest.raises(openai.APIError) as error:
        list(client.chat.completions.create(model="astra", messages=hello, stream=True))
    assert "did not answer" in error.value.message


@pytest.mark.parametrize("streams", [True, False])
def test_an_answer_that_its_model_could_not_finish_ends_with_length(
    site: Served, model: ModelServer, secret: str, *, streams: bool
) -> None:
    script(model, Cut(text="half of an"))
    client = openai.OpenAI(base_url=f"{site.origin}/v1", api_key=secret, max_retries=0)
    hello: list[Any] = [{"role": "user", "content": "hello"}]
    if streams:
        chunks = list(client.chat.completions.create(model="astra", messages=hello, stream=True))
        choices = [choice for chunk in chunks for choice in chunk.choices]
        text = "".join(choice.delta.content or "" for choice in choices)
        assert (text, choices[-1].finish_reason) == ("half of an", "length")
        return
    (choice,) = client.chat.completions.create(model="astra", messages=hello).choices
    assert (choice.message.content, choice.finish_reason) == ("half of an", "length")


def test_a_secret_in_what_a_models_server_says_is_masked(
    site: Served, model: ModelServer, secret: str
) -> None:
    key = "sk-proj-" + "aB3d" * 12
    script(model, as_json({"error": {"message": f"not valid: {key}"}}, status=401))
    with site.client(secret) as http:
        asked = {"messages": [{"role": "user", "content": "hello"}]}
        answer = http.post("/v1/chat/completions", json=asked)
    problem(answer, 502, "model_unavailable")
    assert answer.json()["upstream_status"] == 401
    assert key not in answer.text
    assert "[masked]" in answer.text


def test_another_model_than_the_persona_is_not_found(site: Served, secret: str) -> None:
    asked = {"model": "other", "messages": [{"role": "user", "content": "hello"}]}
    with site.client(secret) as http:
        problem(http.post("/v1/chat/completions", json=asked), 404, "model_not_found")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"messages": [{"role": "assistant", "content": "x"}]}, "bad_input"),
        ({"messages": [{"role": "user", "content": "x"}], "tools": [{}]}, "unsupported_parameter"),
        ({"messages": [{"role": "user", "content": ""}]}, "bad_message"),
        ({"messages": []}, "bad_input"),
        ({"messages": [{"role": "user", "content": "x"}], "n": 2}, "bad_input"),
        (
            {"messages": [{"role": "user", "content": "x"}], "temperature": 0},
            "unsupported_parameter",
        ),
        ({"messages": [{"role": "user", "content": "x"}], "sauce": 1}, "unsupported_parameter"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "bad_input"),
    ],
)
def test_a_completion_that_cannot_be_given_says_why(
    site: Served, secret: str, body: dict[str, Any], code: str
) -> None:
    with site.client(secret) as http:
        said = http.post("/v1/chat/completions", json=body)
        problem(said, 400, code)
    error = said.json()["error"]
    assert (error["code"], error["type"]) == (code, "invalid_request_error")


def test_every_refusal_below_v1_has_the_shape_that_openais_clients_read(
    site: Served, secret: str
) -> None:
    with site.client(secret) as http, site.client() as stranger:
        answers = [
            (stranger.get("/v1/models"), 401, "authentication_error"),
            (http.get("/v1/models/other"), 404, "not_found_error"),
            (http.get("/v1/nothing"), 404, "not_found_error"),
            (http.post("/v1/chat/completions", content=b"{"), 400, "invalid_request_error"),
        ]
        assert http.get("/v1/models/astra").json()["id"] == "astra"
    for said, status, kind in answers:
        assert said.status_code == status
        assert said.json()["error"]["type"] == kind
        assert said.json()["next_step"] in said.json()["error"]["message"]


def test_a_terminal_shows_the_answer_and_how_to_go_on(site: Served, model: ModelServer) -> None:
    script(model, WRITE, "I wrote \x1b[2J it")
    astra = site.astra
    said = astra.run("chat", "write it down")
    assert said.returncode == 0, said.stderr
    assert said.stdout.strip() == "I wrote \\x1b[2J it"
    assert "write_file: ok" in said.stderr
    assert "astra chat --conversation chat_" in said.stderr
    identifier = astra.json("chat", "--list")["items"][0]["id"]
    script(model, "again")
    answer = astra.json("chat", "and?", "--conversation", identifier)
    assert (answer["text"], answer["conversation"]) == ("again", identifier)
    shown = astra.run("chat", "--show", identifier).stdout
    assert "write it down" in shown
    assert "\x1b" not in shown


def test_a_terminal_hears_why_there_is_no_answer(site: Served, model: ModelServer) -> None:
    script(model, 500)
    assert site.astra.json("chat", "hello", code=1)["code"] == "model_unavailable"
    failed = site.astra.run("chat", "hello")
    assert (failed.returncode, "did not answer" in failed.stderr) == (1, True)
    assert site.astra.json("chat", code=2)["code"] == "bad_input"
    assert site.astra.json("chat", "x", "--conversation", "chat_00000000", code=1)["code"] == (
        "not_found"
    )


def test_a_first_no_is_kept(site: Served, model: ModelServer, secret: str) -> None:
    script(model, Use(tool="suggest_project", arguments={"description": "all of it"}), "shall I?")
    with site.client(secret) as http:
        one = http.post("/api/chat", json={"text": "do it all"}).json()
        assert one["suggestion"] == "all of it"
        said = http.post(f"/api/chat/{one['conversation']}/silence")
    assert said.json()["silenced"]


def test_without_a_model_chat_says_so_and_the_rest_works(astra: Astra) -> None:
    assert astra.json("chat", "hello", code=1)["code"] == "no_model"
    listed = astra.json("chat", "--list")
    assert listed["unavailable"]["code"] == "no_model"
    assert "astra config sign" in listed["unavailable"]["next_step"]
    assert astra.json("tools", "call", "astra_health", "{}")["status"] == "ok"
    astra.json("flags", "set", "PERSONA_MODE_ENABLED", "off")
    assert astra.json("chat", "hello", code=1)["code"] == "flag_off"


def test_a_cap_that_is_reached_is_a_refusal_and_no_servers_fault(
    astra: Astra, model: ModelServer
) -> None:
    settings = astra.root / "astra.toml"
    settings.write_text(f"{settings.read_text()}\n[spend]\ntokens_per_day = 100\n")
    astra.json("config", "sign")
    astra.extra |= {"ASTRA_MODEL": "scripted", "ASTRA_MODEL_BASE_URL": model.url}
    asked = {"messages": [{"role": "user", "content": "hello"}]}
    with served(astra) as site, site.client(site.token("operator")["secret"]) as http:
        problem(http.post("/v1/chat/completions", json=asked), 403, "spend_cap_reached")
        stream = http.post("/v1/chat/completions", json={**asked, "stream": True}).text
    assert '"type": "permission_error", "param": null, "code": "spend_cap_reached"' in stream


def test_a_long_conversation_comes_in_pages_from_its_end(
    site: Served, model: ModelServer, secret: str
) -> None:
    script(model, "yes")
    with site.client(secret) as http:
        found = http.post("/api/chat", json={"text": "0"}).json()["conversation"]
        for number in range(1, 4):
            http.post("/api/chat", json={"text": str(number), "conversation": found})
        last = http.get(f"/api/chat/{found}", params={"limit": 3}).json()
        before = http.get(f"/api/chat/{found}", params={"limit": 5, "cursor": last["next"]}).json()
    assert [each["text"] for each in last["items"]] == ["yes", "3", "yes"]
    assert [each["text"] for each in before["items"]] == ["0", "yes", "1", "yes", "2"]
    assert before["next"] is None


def test_a_killed_daemon_loses_no_question_and_the_talk_goes_on(
    night: Astra, server: ModelServer
) -> None:
    asked, over = threading.Event(), threading.Event()

    def held(_request: dict[str, Any]) -> str:
        asked.set()
        over.wait(300)
        return "too late"

    server.say = held
    talking = threading.Thread(target=night.run, args=("chat", "are you there?"))
    talking.start()
    assert asked.wait(300)
    night.kill_daemon()
    over.set()
    talking.join()
    (kept,) = night.json("chat", "--list")["items"]
    shown = night.json("chat", "--show", kept["id"])
    assert [each["text"] for each in shown["items"]] == ["are you there?"]
    assert not shown["answering"]
    server.say = lambda _request: "yes"
    assert night.json("chat", "still?", "--conversation", kept["id"])["text"] == "yes"


def test_a_conversation_is_deleted_by_the_command_and_by_the_route(
    site: Served, model: ModelServer, secret: str
) -> None:
    words = "nobody else should read this"
    script(model, f"I heard: {words}")
    with site.client(secret) as http:
        one, two = (http.post("/api/chat", json={"text": words}).json() for _ in range(2))
        deletion = http.delete(f"/api/chat/{one['conversation']}").json()
        assert deletion == {"id": one["conversation"], "messages": 2, "in_ledger": 0}
        problem(http.get(f"/api/chat/{one['conversation']}"), 404, "conversation_deleted")
        assert http.delete(f"/api/chat/{one['conversation']}").status_code == 404
    refused = site.astra.run("chat", "delete", two["conversation"])
    assert "add --yes" in refused.stderr
    site.astra.json("chat", "delete", two["conversation"], "--yes")
    listed = site.astra.json("chat", "--list")["items"]
    assert not {one["conversation"], two["conversation"]} & {each["id"] for each in listed}
    holding = [
        path
        for folder in ("var/ledger", "var/conversations", "conversations")
        for path in (site.astra.root / folder).rglob("*")
        if path.is_file() and words in path.read_text()
    ]
    assert holding == []
    assert site.astra.json("ledger", "verify")["ok"]


def test_an_agent_and_a_viewer_delete_nothing(
    site: Served, model: ModelServer, secret: str
) -> None:
    script(model, "hello")
    with site.client(secret) as http:
        identifier = http.post("/api/chat", json={"text": "hello"}).json()["conversation"]
    for role in ("agent", "viewer"):
        with site.client(site.token(role)["secret"]) as http:
            assert http.delete(f"/api/chat/{identifier}").status_code == 403
    with site.client(secret) as http:
        assert http.get(f"/api/chat/{identifier}").status_code == 200
