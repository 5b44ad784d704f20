"""A server of the official SDK, of its first or second generation, over HTTP with TLS.

    python sdk_server.py CERTIFICATE KEY HOST

It prints the port that it listens on.
"""

import socket
import sys
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings


def main() -> None:
    certificate, key, host = sys.argv[1:]
    server, options = make_server(TransportSecuritySettings(allowed_hosts=[host]))
    server.tool()(add)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        config = uvicorn.Config(
            server.streamable_http_app(**options),
            log_level="error",
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        uvicorn.Server(config).run(sockets=[listener])


def make_server(security: TransportSecuritySettings) -> tuple[Any, dict[str, Any]]:
    """Make the server that this generation of the SDK has."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        from mcp.server.fastmcp import FastMCP

        return FastMCP("sdk", transport_security=security), {}
    return MCPServer("sdk"), {"transport_security": security}


def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


if __name__ == "__main__":
    main()
