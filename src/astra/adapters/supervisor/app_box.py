"""Starts one process tree of the app in its box, and follows it to its end.

The profile is the one of every box, compiled from what the operator signed: the release read-only,
one state folder, named secrets, an otherwise empty environment, no root. On the host's network the
app inherits its listening socket as descriptor 3. With a list of domains it is alone on a network
of its own: no socket of the host enters, and connections are carried in by a dialler.
"""

import contextlib
import os
import selectors
import signal
import socket
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path

import astra
from astra.adapters.supervisor.app_egress import AppEgress
from astra.adapters.supervisor.dialling import Dialler
from astra.deployments.ports import AppSpec
from astra.trusted.egress.egress_proxy import Attempt, EgressProxy
from astra.trusted.files import operator_key
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import (
    boxes,
    landlock,
    launch,
    listening,
    machine,
    staging,
    threshold,
    toolchain,
)
from astra.trusted.sandbox.grants import Withholding
from astra.trusted.sandbox.preparation import Box, Prepared, prepare
from astra.trusted.sandbox.profile import PROXY_PORT, Profile
from astra.trusted.sandbox.supervision import Started
from astra.trusted.sandbox.watch import Watch, family

INHERITED = 3
INSIDE_PORT = 8080
_COMMAND_PID = "2"  # the first process in a box: bwrap itself is its init
_CHUNK = 65536
_DEATH_SECONDS = 10.0
_LIMITS = Limits(
    cpu_seconds=864_000,
    processes=512,
    open_files=8192,
    connections=1_000_000,
    network_bytes=2**40,
    disk_files=1_000_000,
)


_one_at_a_time = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Ended:
    code: int | None
    reason: str


@dataclass(kw_only=True)
class AppBox:
    """One start of the app. `run` blocks until it is over; the rest is for other threads."""

    spec: AppSpec
    data_root: Path
    log: Callable[[bytes], None]
    listener: socket.socket | None
    port: int
    dialler: Dialler | None = None
    _started: Started | None = field(default=None, init=False)
    _told_to_end: bool = field(default=False, init=False)

    def run(self, running: Callable[[], None]) -> Ended:
        """Run to the end; `running` is called once the command was let go."""
        return threshold.in_thread_of_its_own(lambda: self._run(running))

    def terminate(self) -> None:
        """Ask the app's first process to finish."""
        self._told_to_end = True
        self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send the app's first process a signal."""
        for pid in family(self._started.init)[1:2] if self._started else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def pids(self) -> list[int]:
        """List its processes, if it runs."""
        return family(self._started.init) if self._started else []

    def kill(self) -> None:
        self._told_to_end = True
        if self._started is not None:
            with contextlib.suppress(OSError):
                self._started.kill()

    def _run(self, running: Callable[[], None]) -> Ended:
        launch.refuse_when_stopped(self.data_root)
        with contextlib.ExitStack() as stack:
            box = self.described()
            try:
                prepared = prepare(box, stack)
                self._refuse_full_state(prepared.found.size)
                with _lent(self.listener):
                    mark = boxes.mark(self.data_root, box.kind)
                    started = threshold.start(prepared, stack, mark=mark)
            except OSError as error:
                raise launch.unavailable(error) from error
            stack.enter_context(launch.registered(self.data_root, box, started, None))
            self._connect(prepared.profile, started, stack)
            launch.refuse_when_stopped(self.data_root)
            self._started = started
            if self._told_to_end:
                return Ended(code=None, reason="ended before it began")
            started.open_gate()
            running()
            return self._follow(started, prepared)

    def _refuse_full_state(self, size: int) -> None:
        if size > self.spec.state_bytes:
            raise _state_full(f"holds {size >> 20:,} MiB", self.spec)

    def described(self) -> Box:
        """Describe the app's box as data."""
        spec = self.spec
        program = find_program(spec.command[0])
        words = [_filled(word, self.port) for word in spec.command[1:]]
        return Box(
            command=(str(program), *words),
            manifest=Manifest(
                # One that reloads has to see the releases that come after it.
                read_paths=(str(Path(spec.folder).parent) if spec.reload else spec.folder,),
                write_paths=(spec.state,),
                network_domains=() if spec.network == "host" else tuple(spec.network),
                limits=_LIMITS,
                environment=self._environment(),
            ),
            workdir=spec.folder,
            toolchain=toolchain.find(program, homes=machine.own_homes()),
            protected=protected_places(self.data_root),
            homes=machine.own_homes(),
            kind=boxes.APP,
            label=spec.release,
            host_network=spec.network == "host",
            inherited=() if self.listener is None else (INHERITED,),
            bind_ports=self._bind_ports(),
            withholding=self._withholding(),
        )

    def _bind_ports(self) -> tuple[int, ...]:
        """Name the ports it may bind; any free one is among them: `listen` alone gives one too."""
        own = (self.port,) if self.listener is None else ()
        return (*own, *self.spec.listen_ports, landlock.ANY_FREE_PORT)

    def _withholding(self) -> Withholding:
        """Hide secrets of a release but those signed for the app; its state is its own."""
        spec = self.spec
        return Withholding(
            secrets=SecretRules(patterns=spec.secret_patterns),
            agent_folders=(str(Path(spec.folder).parent),),
            shown=(spec.state, *(f"{spec.folder}/{name}" for name in spec.secret_files)),
        )

    def _environment(self) -> dict[str, str]:
        spec = self.spec
        own = {"ASTRA_RELEASE": spec.release, "ASTRA_STATE": spec.state}
        own |= {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        if self.listener is not None:
            own |= {"LISTEN_FDS": "1", "LISTEN_PID": _COMMAND_PID}
        else:
            own |= {"PORT": str(self.port)}
        return {**read_secrets(self.data_root, spec.secrets), **own}

    def _connect(self, profile: Profile, started: Started, stack: contextlib.ExitStack) -> None:
        """Give a confined app its proxy outwards and its dialler inwards, before it starts."""
        if profile.host_network:
            return
        if profile.domains:
            as_root = profile.machine.identity.dropped
            (listener,) = listening.listen_inside(started.init, (PROXY_PORT,), as_root=as_root)
            proxy = EgressProxy(grants=profile.domains, record=self._note, announce=self._announce)
            proxy.serve(listener)
            stack.callback(proxy.close)
        self.dialler = stack.enter_context(Dialler.into(started.init, self.port))

    def _announce(self, host: str, port: int) -> None:
        AppEgress(self.data_root).open(self.spec.release, host, port)

    def _note(self, attempt: Attempt) -> None:
        AppEgress(self.data_root).note(self.spec.release, attempt)
        if not attempt.allowed:
            words = f"astra: refused {attempt.host[:200]!a}:{attempt.port} ({attempt.reason})\n"
            self.log(words.encode())

    def _follow(self, started: Started, prepared: Prepared) -> Ended:
        """Copy what it says to the log until its init is gone, ending it when it takes too much."""
        watch = Watch(
            limits=replace(_LIMITS, disk_bytes=self.spec.state_bytes),
            writable=prepared.writable,
            size_before=0,
            entries_before=0,
            init=started.init,
            in_memory=prepared.in_memory,
            on_low_disk=True,
        )
        limit = None
        try:
            with selectors.DefaultSelector() as ready:
                for pipe in (started.process.stdout, started.process.stderr):
                    ready.register(pipe, selectors.EVENT_READ)  # pyright: ignore[reportArgumentType]
                ready.register(started.init_handle, selectors.EVENT_READ)
                while limit is None and self._copy(ready, started, watch.due_in()):
                    limit = watch.look()
        finally:
            if limit is not None:
                started.kill()
            code = _exit_code(started, grace=0 if self._told_to_end or limit else _DEATH_SECONDS)
        if limit in {"disk", "files"}:
            raise _state_full(f"passed the limit on {limit}", self.spec)
        if limit:
            return Ended(code=None, reason=f"passed the limit on {limit}")
        return Ended(code=code, reason=f"exit code {code}")

    def _copy(self, ready: selectors.BaseSelector, started: Started, seconds: float) -> bool:
        """Copy what is there to read; False when the box is gone and has said everything."""
        events = ready.select(seconds)
        for key, _events in events:
            if key.fd == started.init_handle:
                continue
            data = os.read(key.fd, _CHUNK)
            self.log(data)
            if not data:
                ready.unregister(key.fileobj)
        return not (_is_dead(started) and len(events) <= 1)


def reserve_descriptor() -> None:
    """Take the number that apps expect their socket under, before anything else gets it."""
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    if nothing != INHERITED:
        os.dup2(nothing, INHERITED, inheritable=False)
        os.close(nothing)


@contextlib.contextmanager
def _lent(listener: socket.socket | None) -> Generator[None, None, None]:
    """Have the socket at the reserved number while one child is started."""
    if listener is None:
        yield
        return
    with _one_at_a_time:
        os.dup2(listener.fileno(), INHERITED, inheritable=False)
        try:
            yield
        finally:
            reserve_descriptor()


def find_program(name: str) -> Path:
    """Find what a command starts: an absolute path, or a program of the system."""
    for folder in ("",) if name.startswith("/") else machine.SYSTEM_PATH.split(":"):
        if (found := Path(folder) / name).is_file():
            return found
    raise NotFound(
        f"there is no program {name!r} on this machine",
        code="no_app_program",
        next_step="name the whole path of the program in [app] command, then astra config sign",
    )


def read_secrets(data_root: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Read the named secrets from `var/secrets`, where only the operator's user looks."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = (data_root / "var" / "secrets" / name).read_text().rstrip("\n")
        except OSError:
            raise Refused(
                f"the app is to get the secret {name}, which is not there",
                code="no_secret",
                next_step=f"write it to {data_root}/var/secrets/{name}, or take it out of"
                " [app.permissions] secrets",
            ) from None
    return found


def make_state_folder(path: Path) -> None:
    """Make the app's state folder; as root it belongs to the boxes' user."""
    if not os.path.lexists(path):
        path.mkdir(mode=0o700)
        staging.hand_over(path, machine.look().identity)


def _state_full(what: str, spec: AppSpec) -> Refused:
    return Refused(
        f"the app's state folder {spec.state} {what}; it may have {spec.state_bytes >> 20:,} MiB"
        f" and {_LIMITS.disk_files:,} files",
        code="app_state_full",
        next_step="make room there, or raise [app.permissions] state_mb, then astra config sign",
    )


def protected_places(data_root: Path) -> tuple[str, ...]:
    own = ("var", "astra.toml", ".env")
    return (
        *(str(data_root / name) for name in own),
        *operator_key.key_folders(DataRoot(data_root)),
        str(Path(astra.__file__).parent),
    )


def _filled(word: str, port: int) -> str:
    return word.replace("{fd}", str(INHERITED)).replace("{port}", str(port))


def _is_dead(started: Started) -> bool:
    return boxes.wait_dead(started.init_handle, 0)


def _exit_code(started: Started, *, grace: float) -> int | None:
    """Wait for bwrap to give the command's exit code on; end what is left."""
    with contextlib.suppress(Exception):
        started.process.wait(grace)
    started.kill()
    boxes.wait_dead(started.init_handle, _DEATH_SECONDS)
    with contextlib.suppress(Exception):
        return started.process.wait(_DEATH_SECONDS)
    return None
