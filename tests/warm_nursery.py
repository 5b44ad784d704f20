"""A process that has imported Astra, and forks one that runs a module of it for whoever asks.

    python -I warm_nursery.py LISTENER LIFE

Importing takes a daemon four times as long as everything else it does before it serves, and a
command ten times. What is forked here is a process of its own, with its own environment, folder,
descriptors and session: only the import is shared. It asks for the modules by their names, so that
nothing in Astra knows of this.
"""

import ctypes
import gc
import importlib
import marshal
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

SHIM = str(Path(__file__).with_name("warm_shim.py"))
WARM = (
    "astra.interfaces.cli.main",
    "astra.interfaces.daemon.server",
    "astra.interfaces.mcp.http",
    "astra.interfaces.worker",
)
LATE = (
    "astra.bootstrap.initialise",
    "astra.interfaces.mcp.session",
    "astra.interfaces.mcp.transports",
)
LIBRARIES = (
    "anyio._backends._asyncio",
    "cryptography.hazmat.primitives.kdf.argon2",
    "dbos",
    "fido2.server",
    "mcp.server",
    "pydantic.v1",
    "tree_sitter",
)
HUGE, MADV_COLLAPSE = 2 << 20, 25
FOR_MODELS = (
    "anthropic",
    "astra.adapters.model_transport",
    "openai",
    "pydantic_ai.direct",
    "pydantic_ai.models.anthropic",
    "pydantic_ai.models.openai",
)
"""What a daemon imports at its first call of a model: only nurseries of such daemons have it."""


def main() -> NoReturn:
    listener = socket.socket(fileno=int(sys.argv[1]))
    import_everything()
    seal_keys_cheaply()
    keep_for_forks()
    Nursery(listener, life=int(sys.argv[2])).serve()


def import_everything() -> None:
    import astra.interfaces.cli as commands

    for name in (*WARM, *LATE, *LIBRARIES):
        importlib.import_module(name)
    for module in pkgutil.iter_modules(commands.__path__, commands.__name__ + "."):
        importlib.import_module(module.name)


@cache
def import_what_models_need() -> None:
    for name in FOR_MODELS:
        importlib.import_module(name)
    keep_for_forks()


def keep_for_forks() -> None:
    assert threading.active_count() == 1, "a forked process has no other threads"
    gc.collect()
    gc.freeze()
    gather_into_huge_pages()


def gather_into_huge_pages() -> None:
    """Make forks cheap: the kernel goes through every page that a process has, for each fork.

    That is 13 ms of a processor for forty thousand small pages, and 3 ms where they lie in huge
    ones. A kernel that does not know how leaves the pages as they are.
    """
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for first, last in list_heaps(Path("/proc/self/maps").read_text()):
        for address in range(-(-first // HUGE) * HUGE, last - HUGE + 1, HUGE):
            madvise(address, HUGE, MADV_COLLAPSE)


def list_heaps(maps: str) -> list[tuple[int, int]]:
    """List where a process may write to memory of its own that belongs to no file."""
    fields = [line.split() for line in maps.splitlines()]
    private = [part for part in fields if part[1] == "rw-p" and part[5:] in ([], ["[heap]"])]
    return [(int(first, 16), int(last, 16)) for first, last in (p[0].split("-") for p in private)]


def seal_keys_cheaply() -> None:
    """Let keys that are made here open at once: the cost stands in the file of the key.

    Every signature of an operator opens one. The real cost is held by the tests of signatures, and
    by those that start a command cold.
    """
    from astra.trusted.kernel import signatures

    signatures._ARGON2 |= {"iterations": 1, "lanes": 1, "memory_kib": 64}


class Nursery:
    """Forks for those who connect, until whoever started it has gone."""

    def __init__(self, listener: socket.socket, *, life: int) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._admit)
        self._selector.register(life, selectors.EVENT_READ, lambda: os._exit(0))

    def serve(self) -> NoReturn:
        while True:
            for key, _ in self._selector.select():
                # An earlier event may have ended it, and its number may be another's by now.
                if self._selector.get_map().get(key.fd) is key:
                    key.data()

    def _admit(self) -> None:
        connection, _ = self._listener.accept()
        try:
            request, descriptors = read_request(connection)
        except OSError:
            connection.close()
            return
        if "ASTRA_MODEL" in request[1]:
            import_what_models_need()
        if (pid := os.fork()) == 0:
            self._selector.close()
            be(request, descriptors, address=self._listener.getsockname())
        for number in descriptors:
            os.close(number)
        child = os.pidfd_open(pid)
        register = self._selector.register
        register(child, selectors.EVENT_READ, lambda: self._report(pid, child, connection))
        register(connection, selectors.EVENT_READ, lambda: pass_signal(child, connection))

    def _report(self, pid: int, child: int, connection: socket.socket) -> None:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._selector.unregister(child)
        self._selector.unregister(connection)
        os.close(child)
        with connection:
            try:
                connection.sendall(code.to_bytes(4, "big", signed=True))
            except OSError:
                return  # it was killed, and so was the one who stood for it


def pass_signal(child: int, connection: socket.socket) -> None:
    """Pass signals on; when the one who stands for the process is gone, end it too."""
    try:
        numbers = connection.recv(64) or bytes([signal.SIGKILL])
    except OSError:
        numbers = bytes([signal.SIGKILL])
    for number in numbers:
        signal.pidfd_send_signal(child, number)


def read_request(connection: socket.socket) -> tuple[Any, list[int]]:
    header, descriptors, _, _ = socket.recv_fds(connection, 4, 16)
    if len(header) < 4:
        raise ConnectionError("whoever asked was ended before the request")
    size, payload = int.from_bytes(header, "big"), b""
    while len(payload) < size:
        if not (part := connection.recv(size - len(payload))):
            raise ConnectionError("the request ended early")
        payload += part
    return marshal.loads(payload), descriptors


def be(request: Any, descriptors: Sequence[int], *, address: str) -> NoReturn:
    """Become the process that was asked for."""
    command, environment, folder, numbers, ignored = request
    os.setsid()
    hear_signals(ignored)
    place_descriptors(descriptors, numbers)
    os.chdir(folder)
    subprocess.Popen = warm_popen(address)
    os.execve = run_instead_of_exec
    run_module(command[0], command[1:], environment)


def hear_signals(ignored: Sequence[int]) -> None:
    """Ignore what whoever asked ignores, and nothing that only the nursery does (under nohup)."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1):
        default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, signal.SIG_IGN if number in ignored else default)


def place_descriptors(descriptors: Sequence[int], numbers: Sequence[int]) -> None:
    """Put descriptors where they were, and close whatever else the nursery had."""
    high = [os.dup2(number, 500 + index) for index, number in enumerate(descriptors)]
    os.closerange(3, 500)
    for source, number in zip(high, numbers, strict=True):
        os.dup2(source, number)
    os.closerange(500, 500 + len(high))


def run_module(module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Do what `python -m` does from here on, and end without taking every module apart."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None
    sys.argv = [module, *arguments]
    open_streams(unbuffered="PYTHONUNBUFFERED" in environment)
    try:
        code = sys.modules[module].main()
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # noqa: BLE001 - as the interpreter does at its top
        sys.excepthook(*sys.exc_info())
        code = 1
    finish(code or 0)


def finish(code: int) -> NoReturn:
    import atexit

    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = code or 120  # as Python does when it cannot flush
    os._exit(code)


def open_streams(*, unbuffered: bool) -> None:
    """Open them as the interpreter does at its start: what they lead to is known only now."""
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stdout.reconfigure(line_buffering=os.isatty(1), write_through=unbuffered)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.stderr.reconfigure(line_buffering=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def warm_module(command: Any) -> list[str]:
    """Give module and arguments, if a command runs one of the modules that are imported here."""
    if isinstance(command, (str, bytes)):
        return []
    parts = [os.fspath(part) for part in command]
    if parts[:1] != [sys.executable]:
        return []
    parts = parts[2:] if parts[1:2] == ["-I"] else parts[1:]
    return parts[1:] if parts[:1] == ["-m"] and parts[1] in WARM else []


def warm_popen(address: str) -> type[subprocess.Popen[Any]]:
    class Popen(subprocess.Popen[Any]):
        """Starts Astra's own programs warm, and everything else as ever."""

        def __init__(self, args: Any, **options: Any) -> None:
            if module := warm_module(args):
                numbers = ",".join(map(str, options.get("pass_fds", ())))
                args = [sys.executable, "-I", "-S", SHIM, address, numbers, *module]
            super().__init__(args, **options)

    return Popen


_execve = os.execve


def run_instead_of_exec(path: Any, command: Sequence[str], environment: Any) -> NoReturn:
    module = warm_module(command)
    if not module:
        _execve(path, command, environment)
    sys.stdout.flush()
    sys.stderr.flush()
    for number in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if number > 2 and is_open(number) and not os.get_inheritable(number):
            os.close(number)
    run_module(module[0], module[1:], environment)


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
