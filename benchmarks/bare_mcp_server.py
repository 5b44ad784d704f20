"""The peer of P8 and P13: the official SDK's server with one trivial tool, and nothing else."""

import json
import socket
import sys

from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
def health() -> dict[str, str]:
    return {"status": "ok"}


def main() -> None:
    if sys.argv[1:] != ["http"]:
        server.run()
        return
    import uvicorn

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"}), flush=True)
        config = uvicorn.Config(server.streamable_http_app(), log_level="error")
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
