"""Start Astra's commands and daemons without the time that importing takes.

`warm("astra.interfaces.cli.main", "status")` is a command line for `subprocess` that behaves as
`python -m astra.interfaces.cli.main status` does; see `warm_nursery`. `run_warm` does what
`subprocess.run` would do with it, without a process that only waits for the other. Tests of what
happens before the first line of `main` (isolation, imports, terminals, other users) use `cold`.
"""

import atexit
import os
import selectors
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from warm_shim import hand_over, read_code

HERE = Path(__file__).parent


def warm(module: str, *words: str | Path) -> list[str]:
    shim = [sys.executable, "-I", "-S", str(HERE / "warm_shim.py")]
    return [*shim, _start_nursery(), "", module, *map(str, words)]


def warm_children(program: str | Path, *words: str | Path) -> list[str]:
    """Start a module or a script cold, and warm what it starts in turn; see `warm_children`."""
    runner = [sys.executable, str(HERE / "warm_children.py"), _start_nursery()]
    return [*runner, str(program), *map(str, words)]


def cold(module: str, *words: str | Path) -> list[str]:
    return [sys.executable, "-m", module, *map(str, words)]


def run_warm(
    module: str, *words: str | Path, environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a module to its end, with nothing to read and in a session of its own."""
    command = [module, *map(str, words)]
    (output, its_output), (errors, its_errors) = os.pipe(), os.pipe()
    with Path(os.devnull).open() as nothing, socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(_start_nursery())
            request = (command, dict(environment), str(folder), [0, 1, 2], [])
            hand_over(connection, request, [nothing.fileno(), its_output, its_errors])
        finally:
            os.close(its_output)
            os.close(its_errors)
            texts = _read_to_their_ends(output, errors)
        code = int.from_bytes(read_code(connection), "big", signed=True)
    return subprocess.CompletedProcess(command, code, *texts)


def _read_to_their_ends(*descriptors: int) -> list[str]:
    parts: dict[int, list[bytes]] = {descriptor: [] for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                parts[key.fd].append(os.read(key.fd, 65536))
                if not parts[key.fd][-1]:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [b"".join(part).decode().replace("\r\n", "\n") for part in parts.values()]


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
