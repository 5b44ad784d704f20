"""Streams that stay open end with the session or token they were opened by."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from http_driver import Served, problem
from mcp_driver import names, over_http


@contextmanager
def following(site: Served, secret: str, after: int, **headers: str) -> Iterator[Iterator[str]]:
    with (
        site.client(secret, **headers) as http,
        http.stream("GET", "/api/events", params={"after": after}) as said,
    ):
        assert said.headers["content-type"].startswith("text/event-stream")
        yield said.iter_lines()


def ids(lines: Iterator[str], until: str) -> list[int]:
    """Collect the ids of events up to one of a type."""
    found: list[int] = []
    for line in lines:
        if line.startswith("id: "):
            found.append(int(line[4:]))
        elif line == f"event: {until}":
            break
    return found


def test_a_closed_session_hears_nothing_more(site: Served) -> None:
    secret, other = site.login(), site.login()
    with following(site, secret, 0) as lines:
        ids(lines, "session_opened")
        with site.client(secret) as http:
            http.delete("/api/session")
        rest = list(lines)
    assert "event: session_closed" not in rest or rest[-1] == ""
    with site.client(secret) as http:
        problem(http.get("/api/events"), 401, "not_recognised")
    with following(site, other, 0) as lines:
        ids(lines, "session_closed")


def test_a_revoked_token_hears_nothing_more(site: Served) -> None:
    made = site.token("viewer")
    with following(site, made["secret"], 0) as lines:
        ids(lines, "token_created")
        site.astra.json("tokens", "revoke", made["id"])
        list(lines)


def test_a_stream_resumes_behind_the_last_event(site: Served) -> None:
    secret = site.login()
    with following(site, secret, 0) as lines:
        first = ids(lines, "session_opened")
    assert first == list(range(1, first[-1] + 1))
    with (
        site.client(secret, **{"Last-Event-ID": "2"}) as http,
        http.stream("GET", "/api/events") as said,
    ):
        again = ids(said.iter_lines(), "session_opened")
    assert again == first[2:]


@pytest.mark.parametrize("mark", ["-1", "1.5", "x", "²", "9" * 30])
def test_a_last_event_id_that_is_none_is_refused(site: Served, mark: str) -> None:
    with site.client(site.login()) as http:
        said = http.get("/api/events", headers={"Last-Event-ID": mark.encode()})
    problem(said, 400, "bad_input")


def test_data_of_an_event_is_one_record(site: Served) -> None:
    with following(site, site.login(), 0) as lines:
        for line in lines:
            if line.startswith("data: "):
                assert json.loads(line[6:])["sequence"] == 1
                break


@pytest.mark.anyio
async def test_mcp_takes_agents_tokens_only(site: Served) -> None:
    url = f"{site.origin}/mcp"
    secret = site.token("agent")["secret"]
    async with over_http(url, headers={"Authorization": f"Bearer {secret}"}) as client:
        assert "read_source_code" in await names(client)
        assert "astra_flags_set" not in await names(client)
    for other in (site.login(), site.token("operator")["secret"], "nothing"):
        headers = {"Authorization": f"Bearer {other}", "Accept": "text/event-stream"}
        said = httpx2.post(url, json={"jsonrpc": "2.0", "id": 1}, headers=headers)
        assert said.status_code in {401, 403}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
