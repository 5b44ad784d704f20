"""Start Astra's commands and daemons without the time that importing takes.

`warm("astra.interfaces.cli.main", "status")` is a command line for `subprocess` that behaves as
`python -m astra.interfaces.cli.main status` does; see `warm_nursery`. Tests of what happens before
the first line of `main` (isolation, imports, terminals, other users) use `cold` instead.
"""

import atexit
import os
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


def warm(module: str, *words: str | Path) -> list[str]:
    shim = [sys.executable, "-I", "-S", str(HERE / "warm_shim.py")]
    return [*shim, _start_nursery(), "", module, *map(str, words)]


def cold(module: str, *words: str | Path) -> list[str]:
    return [sys.executable, "-m", module, *map(str, words)]


@cache
def _start_nursery() -> str:
    """Start the nursery of this process; it leaves when the other end of its pipe does."""
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    atexit.register(folder.cleanup)
    address = str(Path(folder.name) / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(128)
        life, kept_open = os.pipe()
        nursery = subprocess.Popen(
            [sys.executable, "-I", HERE / "warm_nursery.py", str(listener.fileno()), str(life)],
            env={"PATH": os.environ["PATH"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(listener.fileno(), life),
            start_new_session=True,
        )
        os.close(life)
    atexit.register(_end, nursery, kept_open)
    return address


def _end(nursery: subprocess.Popen[bytes], kept_open: int) -> None:
    os.close(kept_open)
    nursery.wait()
