"""Bytes that no decent client would send: too many, too slow, and not quite HTTP."""

import asyncio
import contextlib
import json
import socket

import pytest

from astra.interfaces.daemon import tcp
from astra.trusted.door import front_door
from http_driver import Served, problem


def raw(site: Served, request: bytes, *, family: str = "127.0.0.1") -> bytes:
    """Send bytes and read until the other side closes."""
    with socket.create_connection((family, site.port), timeout=60) as connection:
        connection.sendall(request)
        answer = b""
        while more := connection.recv(65536):
            answer += more
    return answer


def head(site: Served, *lines: str, method: str = "GET", path: str = "/api/status") -> bytes:
    given = [f"{method} {path} HTTP/1.1", f"Host: {site.host}", "Connection: close", *lines]
    return ("\r\n".join(given) + "\r\n\r\n").encode()


def test_both_families_of_localhost_answer(site: Served) -> None:
    for family in ("127.0.0.1", "::1"):
        assert b"200 OK" in raw(site, head(site, path="/healthz"), family=family)


def test_a_body_that_is_too_large_is_refused(site: Served) -> None:
    with site.client(site.login()) as http:
        said = http.post("/api/desires", content=b" " * (front_door.LARGEST_BODY + 1))
        problem(said, 413, "body_too_large")


def test_a_stranger_may_send_little(site: Served) -> None:
    with site.client() as http:
        code = "x" * front_door.LARGEST_PUBLIC_BODY
        problem(http.post("/api/session", json={"code": code}), 413, "body_too_large")


def test_a_body_without_a_length_is_counted(site: Served) -> None:
    def pieces() -> list[bytes]:
        return [b" " * 65536] * 3

    with site.client() as http:
        problem(http.post("/api/session", content=iter(pieces())), 413, "body_too_large")


def test_a_lying_length_does_not_hide_a_second_request(site: Served) -> None:
    secret = site.login()
    hidden = head(site, f"Authorization: Bearer {secret}", path="/api/status")
    said = raw(site, head(site, f"Content-Length: {len(hidden)}", path="/healthz") + hidden)
    assert said.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: identity, chunked",),
        ("Transfer-Encoding: xchunked",),
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -1",),
        ("Content-Length: +5",),
        ("Host: evil.example",),
        ("X: a\nAuthorization: Bearer x",),
        ("X : a",),
        ("X: a\0b",),
    ],
    ids=str,
)
def test_what_two_servers_could_read_differently_is_refused(
    site: Served, lines: tuple[str, ...]
) -> None:
    said = raw(site, head(site, *lines, method="POST", path="/api/session") + b"0\r\n\r\n")
    status = int(said.split(b" ", 2)[1])
    assert 400 <= status < 500
    assert said.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "path",
    [
        "//api/status",
        "/api//status",
        "/API/status",
        "/api/status/",
        "/api/../api/status",
        "/healthz/../api/status",
        "/healthz%2f..%2fapi/status",
        "/%61pi/status",
        "/api/status%00",
        "http://localhost/api/status",
    ],
)
def test_no_spelling_of_a_path_goes_around_its_rule(site: Served, path: str) -> None:
    said = raw(site, head(site, path=path))
    status = int(said.split(b" ", 2)[1])
    shell = status == 200 and b"<!doctype html>" in said
    assert shell or status in {400, 401, 404}
    assert b"data_root" not in said


@pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "TRACE", "CONNECT", "get", "STATUS"])
def test_no_other_method_goes_around_a_rule(site: Served, method: str) -> None:
    with site.client() as http:
        said = http.request(method, "/api/status")
    assert said.status_code in {400, 401, 404, 405}


@pytest.mark.parametrize(
    "lines", [("Upgrade: websocket", "Connection: Upgrade"), ("Upgrade: h2c",)]
)
def test_there_is_no_upgrade_around_the_door(site: Served, lines: tuple[str, ...]) -> None:
    said = raw(site, head(site, *lines))
    assert said.split(b" ", 2)[1] == b"401"


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"code": "\xff"}', b"", b"null", b'{"code": 1e999}', b'{"code":[]}']
)
def test_hostile_json_is_a_problem_and_the_daemon_stays(site: Served, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    with site.client() as http:
        said = http.post("/api/session", content=body[:60_000], headers=headers)
        assert said.headers["content-type"] == "application/problem+json"
        assert said.status_code in {400, 401}
        assert json.loads(said.content)["next_step"]
        assert http.get("/healthz").is_success


class _Slow:
    """A client that never finishes its body."""

    async def receive(self) -> dict[str, object]:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b" ", "more_body": True}


@pytest.mark.anyio
async def test_a_slow_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from starlette.datastructures import Headers

    monkeypatch.setattr(front_door, "BODY_SECONDS", 0.0)
    with pytest.raises(front_door.TooSlow):
        await front_door._whole_body(Headers(), _Slow().receive, 10**9)


@pytest.mark.anyio
async def test_a_connection_that_says_nothing_or_half_a_head_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import uvicorn

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("no request was complete")

    monkeypatch.setattr(tcp, "HEAD_SECONDS", 0.05)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=tcp.TcpProtocol, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    for sent in (b"", b"GET / HTTP/1.1\r\nHost: localhost"):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(sent)
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), 60) == b""
        writer.close()
    server.should_exit = True
    await serving


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    "path",
    [
        "/docs/../../../../../etc/passwd",
        "/docs/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/docs/..%2f..%2f..%2fetc/passwd",
        "/docs//etc/passwd",
        "/docs/.built-from",
        "/docs/index.html%00.png",
    ],
)
def test_the_documentation_gives_only_its_pages_under_the_same_policy(
    site: Served, path: str
) -> None:
    answer = raw(site, head(site, path=path))
    assert b"root:" not in answer
    assert b" 404 " in answer.split(b"\r\n")[0]
    assert b"default-src 'none'" in answer
    assert b"'unsafe" not in answer


def test_a_page_elsewhere_cannot_read_the_documentation_by_a_name_of_its_own(site: Served) -> None:
    request = f"GET /docs/ HTTP/1.1\r\nHost: evil.example:{site.port}\r\nConnection: close\r\n\r\n"
    assert b" 421 " in raw(site, request.encode()).split(b"\r\n")[0]
