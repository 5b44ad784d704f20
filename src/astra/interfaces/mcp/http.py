"""A daemon that also serves MCP on a loopback port, for conformance runs and tests.

    python -m astra.interfaces.mcp.http --data-root FOLDER --port 0

It prints one line of JSON, `{"url": …, "token": …}`: the token is shown this once, and whoever
does not send it (`Authorization: Bearer …`) is refused, whatever is asked for.
"""

import argparse
import asyncio
import json
import secrets
import socket
import sys
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon import server
from astra.trusted.kernel.errors import AstraError

_HOST = "127.0.0.1"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="astra-mcp-http", description=__doc__)
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    options = parser.parse_args(arguments)
    try:
        runtime = server.open_runtime(options.data_root.absolute())
    except AstraError as error:
        sys.stderr.write(f"{error.detail}\n  next: {error.next_step}\n")
        return error.exit_code
    serve_on_loopback(runtime, port=options.port)
    return 0


def serve_on_loopback(runtime: Runtime, *, port: int) -> None:
    """Serve until somebody ends this process, and let go of the data root then."""
    try:
        with listen(port) as listener:
            asyncio.run(server.serve(runtime, idle=False, beside=_make_loopback(listener)))
    finally:
        server.close(runtime)


def listen(port: int) -> socket.socket:
    """Listen at once: whoever reads the address that is printed may connect before uvicorn is up.

    The protocol is named, because without it asyncio leaves answers waiting for the peer.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind((_HOST, port))
    listener.listen()
    return listener


def _make_loopback(listener: socket.socket) -> server.Beside:
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(32)

    def beside(door: ASGIApp) -> tuple[ASGIApp, socket.socket]:
        sys.stdout.write(json.dumps({"url": f"http://{_HOST}:{port}/mcp", "token": token}) + "\n")
        sys.stdout.flush()
        return TokenRequired(door, token), listener

    return beside


class TokenRequired:
    """Lets through what carries the token and asks for `/mcp`; the rest learns nothing."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        authorization = Headers(scope=scope).get("authorization", "").encode()
        if not secrets.compare_digest(authorization, self._expected):
            await _build_refusal(
                401, "no_token", "this needs the bearer token that was printed at start"
            )(scope, receive, send)
        elif scope["path"] != "/mcp":
            await _build_refusal(404, "not_found", "only /mcp is here")(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _build_refusal(status: int, code: str, detail: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004 - HTTP
    body = {"code": code, "detail": detail, "next_step": "send Authorization: Bearer TOKEN to /mcp"}
    return JSONResponse(body, status_code=status, headers=headers)


if __name__ == "__main__":
    sys.exit(main())
