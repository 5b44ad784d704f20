"""An agent's client over `astra mcp`: it sees its tools and its source, and is refused politely."""

import asyncio
import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from astra.bootstrap.build import build_runtime
from astra.trusted.settings import environment
from driver import Astra, kill_process
from mcp_driver import ERAS, Heard, answer, connected, names, parameters, raw, refusal

WRITE = "ASTRA_CODE_WRITE_ENABLED"
WRITE_TOOLS = {"schedule_code_modification", "execute_goal", "deploy_agent_code"}
OPERATOR_TOOLS = {
    "astra_approvals_approve",
    "astra_approvals_reject",
    "astra_flags_set",
    "astra_changes_run",
    "astra_stop",
}
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org")
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def in_thread(astra: Astra, *words: str, **environ: str) -> Any:
    return await asyncio.to_thread(lambda: astra.json(*words, **environ))


@pytest.mark.parametrize("mode", ERAS)
async def test_every_tool_is_listed_with_schemas_and_annotations(shared: Astra, mode: str) -> None:
    async with connected(shared, mode=mode) as client:
        tools = (await client.list_tools()).tools
    assert {"read_source_code", "write_file", "astra_health"} <= {tool.name for tool in tools}
    for tool in tools:
        hints = tool.annotations
        assert hints is not None
        assert None not in {hints.read_only_hint, hints.open_world_hint}, tool.name
        assert hints.read_only_hint or hints.destructive_hint is not None, tool.name
        assert tool.input_schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
    read_only = {
        tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint
    }
    assert "read_file" in read_only
    assert not read_only & {"write_file", "delete_file", "fetch_url"}


@pytest.mark.parametrize("mode", ERAS)
async def test_it_reads_its_own_source_as_structure_and_as_text(shared: Astra, mode: str) -> None:
    async with connected(shared, mode=mode) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        listed = await answer(client, "list_source_files")
        assert [item["path"] for item in listed["items"]] == ["agent.py"]
        result = await client.call_tool("read_source_code", {"path": "agent.py"})
        found = await answer(client, "search_source", pattern="return 42")
    assert "return 42" in result.structured_content["text"]
    assert result.content[0].text == result.structured_content["text"]
    facts = json.loads(result.content[1].text)
    assert {**facts, "text": result.content[0].text} == result.structured_content
    jsonschema.validate(result.structured_content, schemas["read_source_code"])
    jsonschema.validate(found, schemas["search_source"])


def commit_files(target: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (target / name).write_text(text)
    for words in (["add", "."], [*AUTHOR, "commit", "-qm", "files"]):
        subprocess.run(["git", *words], cwd=target, check=True)


@pytest.mark.parametrize("mode", ERAS)
async def test_an_attached_file_is_whole_or_says_what_is_missing(
    empty: Astra, target: Path, mode: str
) -> None:
    whole = "".join(f"x{number} = 1\n" for number in range(9_000))
    longer = "".join(f"y{number} = 2\n" for number in range(30_000))
    commit_files(target, {"whole.py": whole, "longer.py": longer})
    empty.json("init", target, "--throwaway")
    async with connected(empty, mode=mode) as client:
        (attached,) = (await client.read_resource("astra://source/whole.py")).contents
        assert attached.text == whole
        text, notice = (await client.read_resource("astra://source/longer.py")).contents
        cursor = notice.text.rpartition("cursor ")[2].removesuffix("]")
        rest = await answer(client, "read_source_code", path="longer.py", cursor=cursor)
        lines = [*text.text.splitlines(), *rest["text"].splitlines()]
        assert lines == longer.splitlines()[: len(lines)]
        with pytest.raises(MCPError) as absent:
            await client.read_resource("astra://source/nothing.py")
    assert absent.value.error.code == {"legacy": -32002, "auto": -32602}[mode]


async def test_every_boundary_refuses_with_a_reason_and_a_next_step(shared: Astra) -> None:
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("read_sauce_code", {}, "unknown_tool"),
        ("read_source_code", {}, "bad_arguments"),
        ("read_source_code", {"path": "agent.py", "admin": True}, "bad_arguments"),
        ("read_source_code", {"path": "../../etc/passwd"}, "path_parent_reference"),
        ("read_source_code", {"path": "agent.p"}, "not_found"),
        ("write_file", {"path": "../astra.toml", "content": "x"}, "path_parent_reference"),
        ("deploy_agent_code", {}, "flag_off"),
        ("research_and_summarize", {}, "bad_arguments"),
        ("astra_approvals_approve", {"id": "apr_1"}, "operator_only"),
    ]
    async with connected(shared) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for tool, arguments, code in asked:
            said = await refusal(client, tool, **arguments)
            assert said["code"] == code, said
            assert said["detail"]
            assert said["next_step"]
            if tool in schemas:
                jsonschema.validate(said, schemas[tool])


@pytest.mark.parametrize("mode", ERAS)
async def test_the_ledger_tells_the_story_of_a_call(astra: Astra, mode: str) -> None:
    """On a data root of its own: an agent that was refused often has its refusals counted only."""
    async with connected(astra, mode=mode) as client:
        given = await client.call_tool("write_file", {"path": "note.md", "content": "hello"})
        refused = await client.call_tool("write_file", {"path": "/etc/x", "content": "hello"})
    for result, verdict in ((given, "allow"), (refused, "deny")):
        story = astra.json("ledger", "story", result.meta["astra/correlation"])["items"]
        decisions = [item["data"]["decision"] for item in story if "decision" in item["data"]]
        assert [decision["verdict"] for decision in decisions] == [verdict]
        assert {item["actor"] for item in story} == {f"agent:user:{os.getuid()}"}


async def test_write_tools_appear_the_moment_an_operator_flips_the_flag(astra: Astra) -> None:
    heard = Heard()
    async with connected(astra, message_handler=heard) as client:
        assert not WRITE_TOOLS & set(await names(client))
        advisory = await refusal(client, "deploy_agent_code")
        assert advisory["code"] == "flag_off"
        assert f"astra flags set {WRITE} on" in advisory["next_step"]
        assert WRITE in (client.instructions or "")
        await in_thread(astra, "flags", "set", WRITE, "on")
        await heard.change()
        assert set(await names(client)) >= WRITE_TOOLS
        assert (await refusal(client, "deploy_agent_code"))["code"] != "flag_off"
        await in_thread(astra, "flags", "set", WRITE, "off")
        await heard.change()
        assert not WRITE_TOOLS & set(await names(client))


async def test_clients_of_the_stateless_protocol_hear_it_on_their_stream(astra: Astra) -> None:
    async with (
        connected(astra, mode="auto") as client,
        client.listen(tools_list_changed=True) as changes,
    ):
        assert client.protocol_version == "2026-07-28"
        await in_thread(astra, "flags", "set", WRITE, "on")
        await asyncio.wait_for(anext(aiter(changes)), 60)
        assert set(await names(client)) >= WRITE_TOOLS


async def test_both_spellings_of_a_name_are_accepted_and_either_advertised(shared: Astra) -> None:
    async with connected(shared, environment={"ASTRA_MCP_TOOL_NAMES": "dotted"}) as client:
        assert "astra.health" in await names(client)
        assert (await answer(client, "astra_health"))["status"] == "ok"
    async with connected(shared) as client:
        assert "astra_health" in await names(client)
        assert (await answer(client, "astra.health"))["status"] == "ok"


async def test_the_environment_of_a_client_narrows_its_own_session_only(astra: Astra) -> None:
    """Also when it is that client which starts the daemon."""
    switched = {"PERSONA_MODE_ENABLED": "off", WRITE: "on", "ASTRA_MCP_TOOL_NAMES": "dotted"}
    async with connected(astra, environment=switched) as narrow, connected(astra) as wide:
        assert "read_source_code" not in await names(narrow)
        assert not WRITE_TOOLS & set(await names(narrow))
        assert "PERSONA_MODE_ENABLED" in (narrow.instructions or "")
        said = await refusal(narrow, "read_source_code", path="agent.py")
        assert said["code"] == "flag_off"
        assert "astra_health" in await names(wide)
        await answer(wide, "read_source_code", path="agent.py")


@pytest.mark.parametrize("mode", ERAS)
async def test_a_session_has_a_budget_of_its_own(shared: Astra, mode: str) -> None:
    async with connected(shared, "--calls", "2", mode=mode) as client, connected(shared) as other:
        assert "2 calls" in (client.instructions or "")
        await answer(client, "astra_health")
        await refusal(client, "nope")
        said = await client.call_tool("astra_health", {})
        assert said.structured_content["code"] == "session_spent"
        await answer(other, "astra_health")
        await names(client)
    story = shared.json("ledger", "story", said.meta["astra/correlation"])["items"]
    assert [item["data"]["decision"]["code"] for item in story] == ["session_spent"]


async def test_operator_tools_are_there_in_operator_sessions_only(shared: Astra) -> None:
    async with connected(shared) as agent, connected(shared, "--operator") as operator:
        assert not OPERATOR_TOOLS & set(await names(agent))
        assert set(await names(operator)) >= OPERATOR_TOOLS
        assert "operator's session" in (operator.instructions or "")
        for tool in OPERATOR_TOOLS:
            assert (await refusal(agent, tool))["code"] == "operator_only"


def waiting_approval(astra: Astra) -> str:
    """Let something wait for a person, as a tool of tier 2 would."""
    runtime = build_runtime(environment.load({"AGENT_DATA_ROOT": str(astra.root)}))
    try:
        return runtime.desk.ask(
            kind="tool_call",
            subject_id="fetch_url",
            digest="0" * 64,
            summary="agent asks to run fetch_url once",
            details={},
            actor="agent:test",
            correlation="cor_0000000000000001",
        )
    finally:
        runtime.close()


@pytest.mark.parametrize("mode", ERAS)
async def test_approving_answers_with_a_link_and_approves_nothing(astra: Astra, mode: str) -> None:
    approval = waiting_approval(astra)
    opened: asyncio.Queue[Any] = asyncio.Queue()

    async def accept(_context: Any, asked: Any) -> ElicitResult:
        opened.put_nowait(asked)
        return ElicitResult(action="accept", content={"approve": True})

    async with (
        connected(astra, "--operator", mode=mode, elicitation_callback=accept) as client,
        connected(astra, "--operator", mode=mode) as plain,
    ):
        said = await answer(client, "astra_approvals_approve", id=approval)
        asked = await asyncio.wait_for(opened.get(), 60)
        assert (asked.mode, asked.url) == ("url", said["link"])
        assert (await answer(plain, "astra_approvals_approve", id=approval))["link"] == said["link"]
    (listed,) = astra.json("approvals")["items"]
    assert (listed["id"], listed["state"]) == (approval, "pending")
    types = {item["type"] for item in astra.json("ledger", "tail")["items"]}
    assert "approval_granted" not in types


async def test_two_sessions_at_once_share_the_daemon(shared: Astra) -> None:
    async with connected(shared) as first, connected(shared, mode="auto") as second:
        calls = [
            answer(client, "read_source_code", path="agent.py")
            for _ in range(10)
            for client in (first, second)
        ]
        assert len(await asyncio.gather(*calls)) == 20


async def test_a_session_survives_the_daemon_being_killed(astra: Astra) -> None:
    heard = Heard()
    async with connected(astra, message_handler=heard) as client:
        before = (await in_thread(astra, "status"))["daemon"]["pid"]
        kill_process(before)
        assert (await answer(client, "astra_health"))["status"] == "ok"
        await heard.change()
        assert (await in_thread(astra, "status"))["daemon"]["pid"] != before
        assert (await in_thread(astra, "ledger", "verify"))["ok"]


async def test_a_stateless_session_survives_it_too(astra: Astra) -> None:
    async with connected(astra, mode="auto") as client:
        kill_process((await in_thread(astra, "status"))["daemon"]["pid"])
        assert (await answer(client, "astra_health"))["status"] == "ok"


def test_what_is_under_way_when_the_daemon_dies_is_answered_once(astra: Astra) -> None:
    """As uncertain when the daemon had it already; the next daemon does it when it had not."""
    with raw(astra) as client:
        client.introduce()
        pid = astra.daemon_pid()
        os.kill(pid, signal.SIGSTOP)
        asked = client.post(
            "tools/call", name="write_file", arguments={"path": "a", "content": "b"}
        )
        kill_process(pid)
        while (said := client.read()).get("id") != asked:
            assert said["method"] == "notifications/tools/list_changed"
        assert "result" in said or said["error"]["data"]["code"] == "uncertain"
        assert client.call("astra_health")["structuredContent"]["status"] == "ok"


def test_a_session_follows_a_daemon_that_somebody_else_starts(astra: Astra) -> None:
    with raw(astra) as client:
        client.introduce()
        kill_process(astra.daemon_pid())
        astra.daemon_pid()
        assert client.read()["method"] == "notifications/tools/list_changed"


def test_down_ends_the_daemon_under_a_session_and_the_next_call_starts_one(astra: Astra) -> None:
    with raw(astra) as client:
        client.introduce()
        assert not client.call("astra_health")["isError"]  # the daemon is there
        ended = astra.json("down")["pid"]
        assert astra.json("down") == {"ended": False}
        assert client.call("astra_health")["isError"] is False
        assert astra.daemon_pid() != ended


def test_an_open_session_keeps_the_daemon_from_leaving(astra: Astra) -> None:
    astra.extra["ASTRA_DAEMON_IDLE_MINUTES"] = "0.01"
    with raw(astra) as client:
        client.introduce()
        descriptor = os.pidfd_open(astra.daemon_pid())
        left, _, _ = select.select([descriptor], [], [], 3)
        assert not left
        assert client.call("astra_health")["isError"] is False
    left, _, _ = select.select([descriptor], [], [], 240)
    os.close(descriptor)
    assert left


def test_without_a_data_root_it_says_so_and_ends(empty: Astra) -> None:
    done = empty.run("mcp")
    assert done.returncode == 1
    assert "astra init" in done.stderr
    assert done.stdout == ""


HOSTILE_LINES = [
    b"this is not JSON",
    b"",
    b"null",
    b'"text"',
    b"[]",
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
    b'{"jsonrpc":"1.0","id":"x","method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":[1],"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"\\ud800"}}',
    b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a","arguments":[1]}}',
    b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{}}}',
    b'{"jsonrpc":"2.0","id":"x","method":"no/such/method"}',
    b'{"jsonrpc":"2.0","id":"x","method":"' + b"x" * 100_000 + b'"}',
    b'{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":7}}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"\xff\xfe\x00",
    b'{"jsonrpc":"2.0","id":"x","method":"ping","params":"' + b"y" * 5_000_000 + b'"}',
]


def test_whatever_a_client_sends_is_answered_and_the_session_goes_on(shared: Astra) -> None:
    pid = shared.daemon_pid()
    with raw(shared) as client:
        client.introduce()
        for line in HOSTILE_LINES:
            client.send(line)
            assert "error" in client.read_answer(), line[:80]
            assert client.call("astra_health")["structuredContent"]["status"] == "ok"
    assert shared.daemon_pid() == pid


ODD_ARGUMENTS = [
    '{"path": NaN}',
    '{"path": "agent.py", "start": Infinity}',
    '{"path": "agent.py", "start": 1e999}',
    '{"path": "agent.py", "start": 99999999999999999999999}',
    '{"path": "agent.py", "start": -1}',
    '{"path": ' + '{"a":' * 150 + "1" + "}" * 150 + "}",
    '{"path": "' + "a" * 1_000_000 + '"}',
    '{"path": "\\u0000"}',
    '{"path": ["agent.py"]}',
    '{"path": null}',
    '{"": 1}',
]


def test_odd_arguments_are_tool_errors(shared: Astra) -> None:
    with raw(shared) as client:
        client.introduce()
        for arguments in ODD_ARGUMENTS:
            call = f'{{"name":"read_source_code","arguments":{arguments}}}'
            line = f'{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{call}}}'
            client.send(line.encode())
            said = client.read_answer()
            assert said["id"] == "x"
            assert said["result"]["isError"] is True, arguments[:80]
            assert "Traceback" not in json.dumps(said)


def test_answers_come_also_when_the_client_has_closed_its_end(shared: Astra) -> None:
    with raw(shared) as client:
        client.introduce()
        asked = client.post("tools/call", name="astra_health", arguments={})
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.read_answer()["id"] == asked


async def test_the_relay_starts_the_daemon_when_there_is_none(astra: Astra) -> None:
    assert await in_thread(astra, "down") == {"ended": False}
    async with Client(parameters(astra), mode="legacy") as client:
        assert (await answer(client, "astra_health"))["status"] == "ok"


def test_the_socket_is_its_owners_alone(shared: Astra) -> None:
    shared.daemon_pid()
    socket = Path(shared.root / "var" / "run" / "mcp.sock")
    assert socket.stat().st_mode & 0o077 == 0


async def test_a_session_is_shown_the_toolsets_it_was_started_with(shared: Astra) -> None:
    async with connected(shared, "--toolsets", "source,changes", "--read-only") as client:
        assert set(await names(client)) == {
            "list_source_files",
            "read_source_code",
            "search_source",
            "astra_changes_list",
            "astra_changes_get",
            "astra_health",
        }
        said = await refusal(client, "write_file", path="note.md", content="x")
        assert said["code"] == "not_available"
    done = shared.run("mcp", "--toolsets", "sauce")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no toolset 'sauce'" in done.stderr


@pytest.mark.parametrize("mode", ERAS)
async def test_turning_a_flag_on_that_is_on_says_that_it_is_on(shared: Astra, mode: str) -> None:
    async with connected(shared, "--operator", mode=mode) as client:
        said = await answer(client, "astra_flags_set", name="PERSONA_MODE_ENABLED", on=True)
        assert (said["on"], said["how"]) == (True, "it is on already")
        off = await answer(client, "astra_flags_set", name=WRITE, on=True)
        assert off["on"] is False
        assert f"astra flags set {WRITE} on" in off["how"]


async def test_a_box_says_how_long_it_may_run_as_it_was_asked(shared: Astra) -> None:
    async with connected(shared) as client:
        said = await answer(client, "run_in_sandbox", command=["true"], seconds=120, explain=True)
        assert "may use 120 s" in said["can"]


async def test_what_cannot_be_deployed_is_refused_before_anybody_is_asked(astra: Astra) -> None:
    """There is no app in this configuration, so no signature could make it work."""
    await in_thread(astra, "flags", "set", WRITE, "on")
    async with connected(astra) as client:
        said = await refusal(client, "deploy_agent_code", commit_message="try")
    assert said["code"] == "no_app"
    assert (await in_thread(astra, "approvals"))["items"] == []


def test_a_line_that_is_too_long_is_answered_with_its_own_id(shared: Astra) -> None:
    with raw(shared) as client:
        client.introduce()
        client.send(b'{"jsonrpc":"2.0","id":"mine","method":"ping","params":"' + b"y" * 5_000_000)
        said = client.read_answer()
    assert said["id"] == "mine"
    assert "4194304 bytes at most" in said["error"]["message"]


async def test_an_operator_stops_everything_with_a_tool(astra: Astra) -> None:
    async with connected(astra, "--operator") as client:
        said = await answer(client, "astra_stop")
        assert (said["clean"], said["recorded"]) == (True, True)
        assert (await answer(client, "astra_health"))["stopped"] is True
    assert (await in_thread(astra, "status"))["stopped"]


async def test_a_long_file_comes_in_parts_that_a_cursor_joins(astra: Astra) -> None:
    text = "".join(f"line {number} of a long note\n" for number in range(2_000)) + "y" * 40_000
    async with connected(astra) as client:
        await answer(client, "write_file", path="long.txt", content=text)
        parts, part = [], await answer(client, "read_file", path="long.txt")
        while part["next"]:
            parts.append(part)
            assert len(part["text"]) <= 16_000
            part = await answer(client, "read_file", path="long.txt", cursor=part["next"])
    joined = ""
    for before in [*parts, part]:
        newline = "\n" if joined and before["start"] > joined.count("\n") + 1 else ""
        joined += newline + before["text"]
    assert joined == text


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_is_answered_before_the_daemon_is_there(astra: Astra, mode: str) -> None:
    """The daemon cannot start while its lock is held; the relay knows how the last one ended."""
    await in_thread(astra, "flags", "set", WRITE, "on")
    async with connected(astra, mode=mode) as client:
        listed = (await client.list_tools()).tools
        introduced = client.instructions
    assert set(WRITE_TOOLS) <= {tool.name for tool in listed}
    await in_thread(astra, "down")
    with hold_starts(astra) as let_go:
        async with connected(astra, mode=mode) as client:
            assert (await client.list_tools()).tools == listed
            assert client.instructions == introduced
            assert not (astra.root / "var" / "run" / "mcp.sock").exists()
            let_go()
            assert (await answer(client, "astra_health"))["status"] == "ok"


@pytest.mark.parametrize("mode", ERAS)
async def test_the_first_session_of_a_data_root_is_answered_at_once(
    empty: Astra, mode: str
) -> None:
    """No daemon ever ran here."""
    await in_thread(empty, "init", "--throwaway")
    with hold_starts(empty) as let_go:
        async with connected(empty, mode=mode) as client:
            at_once = (await client.list_tools()).tools
            let_go()
            assert (await answer(client, "astra_health"))["status"] == "ok"
            assert (await client.list_tools()).tools == at_once


def test_what_a_killed_daemon_may_have_changed_is_not_said_at_once(astra: Astra) -> None:
    """A flag that is off by now shows no tool, whatever was written down before it was."""
    standing = astra.root / "var" / "run" / "mcp-standing.json"
    assert standing.exists()
    astra.json("status")
    assert not standing.exists()
    astra.json("flags", "set", "PERSONA_MODE_ENABLED", "off")
    kill_process(astra.json("status")["daemon"]["pid"])
    assert not standing.exists()
    with raw(astra) as client:
        client.introduce()
        assert "read_source_code" not in client.tools()


@contextlib.contextmanager
def hold_starts(astra: Astra) -> Iterator[Callable[[], None]]:
    """Keep every daemon from starting, until it is let go or this is over."""
    with (astra.root / "var" / "run" / "start.lock").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(turn, fcntl.LOCK_UN)
