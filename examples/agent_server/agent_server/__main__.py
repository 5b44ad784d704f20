"""`python -m agent_server`: serve on an inherited socket, or on `PORT` when there is none.

Astra hands the listening socket over as descriptor 3, the way systemd does (`LISTEN_FDS`), names
the release in `ASTRA_RELEASE` and the folder for state in `ASTRA_STATE`. Run by hand it listens on
127.0.0.1:8800 and keeps its state in `./state`.
"""

import asyncio
import os
import signal
import socket
from pathlib import Path

from agent_server.api import About, Api
from agent_server.http import HttpServer
from agent_server.loop import BackgroundLoop
from agent_server.reloading import take_over
from agent_server.state import State

HERE = Path(__file__).resolve().parent.parent
_FIRST_INHERITED = 3


async def main() -> None:
    folder = Path(os.environ.get("ASTRA_STATE", "state"))
    state = State(folder)
    loop = BackgroundLoop(state, lock=folder / "loop.lock")
    release = os.environ.get("ASTRA_RELEASE", "by hand")
    about = About(release, HERE)
    api = Api(state=state, loop=loop, about=about)
    server = HttpServer(api.answer)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.drain)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, server.drain)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload, about, folder)
    thinking = asyncio.create_task(loop.run())
    print(f"release {release} is serving", flush=True)
    try:
        await server.serve(listener())
    finally:
        thinking.cancel()
        state.close()


def listener() -> socket.socket:
    if int(os.environ.get("LISTEN_FDS", "0")) > 0:
        return socket.socket(fileno=_FIRST_INHERITED)
    return socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "8800"))))


def reload(about: About, state: Path) -> None:
    """Take the code of another release over, or go on as before and say why."""
    try:
        about.release, about.folder = take_over(state, about.folder)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the old code goes on
        print(f"not reloaded: {error!r}", flush=True)
    else:
        print(f"reloaded as {about.release}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
