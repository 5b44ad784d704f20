import asyncio
import json
from pathlib import Path

import build_client
from agent_server.api import greeting
from agent_server.loop import BackgroundLoop
from agent_server.state import State
from running import Running, request


def test_the_agent_greets() -> None:
    assert greeting()


def test_health_names_the_release(running: Running) -> None:
    async def story() -> None:
        async with running.serving() as client:
            status, body = await client.ask("GET", "/healthz")
            assert status == 200
            assert json.loads(body)["release"] == "rel-1"

    asyncio.run(story())


def test_health_fails_when_the_loop_has_died(running: Running) -> None:
    running.loop.trouble = "no disk"

    async def story() -> None:
        async with running.serving() as client:
            assert (await client.ask("GET", "/healthz"))[0] == 503

    asyncio.run(story())


def test_a_note_is_there_after_a_restart(running: Running, tmp_path: Path) -> None:
    async def story() -> None:
        async with running.serving() as client:
            status, _ = await client.ask("POST", "/api/notes", b'{"text": "remember"}')
            assert status == 201
            assert b"remember" in (await client.ask("GET", "/api/notes"))[1]

    asyncio.run(story())
    again = State(tmp_path / "state")
    assert [note["text"] for note in again.notes()] == ["remember"]
    again.close()


def test_bad_notes_are_refused(running: Running) -> None:
    async def story() -> None:
        async with running.serving() as client:
            for body in (b"", b"[]", b'{"text": ""}', b"no json"):
                assert (await client.ask("POST", "/api/notes", body))[0] == 400

    asyncio.run(story())


def test_only_built_files_are_served(running: Running) -> None:
    async def story() -> None:
        async with running.serving() as client:
            assert (await client.ask("GET", "/"))[0] == 200
            for path in ("/../state/agent.db", "/state/agent.db", "/agent.db", "/nothing.js"):
                assert (await client.ask("GET", path))[0] == 404

    asyncio.run(story())


def test_draining_answers_a_kept_connection_once_more_and_closes_it(running: Running) -> None:
    async def story() -> None:
        async with running.serving() as client:
            reader, writer = await client.open()
            writer.write(request("GET", "/healthz"))
            assert b"keep-alive" in await reader.readuntil(b"\r\n\r\n")
            running.server.drain()
            await asyncio.sleep(0)
            writer.write(request("GET", "/healthz"))
            rest = await reader.read()
            assert b"200 OK" in rest
            assert b"Connection: close" in rest
            writer.close()

    asyncio.run(story())


def test_a_request_that_is_no_http_is_refused(running: Running) -> None:
    async def story() -> None:
        async with running.serving() as client:
            reader, writer = await client.open()
            writer.write(b"what is this\r\n\r\n")
            assert b"400" in await reader.read()
            writer.close()

    asyncio.run(story())


def test_one_process_thinks_at_a_time(tmp_path: Path) -> None:
    state = State(tmp_path)
    first = BackgroundLoop(state, lock=tmp_path / "loop.lock")
    second = BackgroundLoop(state, lock=tmp_path / "loop.lock")
    with (tmp_path / "loop.lock").open("w") as mine, (tmp_path / "loop.lock").open("w") as theirs:
        first.think(mine.fileno())
        second.think(theirs.fileno())
        assert (first.thinking, second.thinking) == (True, False)
        mine.close()
        second.think(theirs.fileno())
        assert second.thinking
    assert state.counted("thoughts") == 2
    state.close()


def test_the_client_is_built_with_names_of_its_content(tmp_path: Path) -> None:
    here = Path(__file__).resolve().parent.parent
    names = build_client.build(here / "client", tmp_path / "static")
    page = (tmp_path / "static" / "index.html").read_text()
    assert all(name in page for name in names[:-1])
    assert len(names) == 3
