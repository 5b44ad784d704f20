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
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import astra
from astra.adapters.environment_mark import Mark, read_mark
from astra.adapters.supervisor.app_egress import AppEgress
from astra.adapters.supervisor.dialling import Dialler
from astra.deployments.ports import AppSpec, fill_state
from astra.trusted.egress.egress_proxy import Attempt, EgressProxy
from astra.trusted.files import operators_key
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
    outcome,
    staging,
    threshold,
    toolchain,
)
from astra.trusted.sandbox.descendants import list_process_tree
from astra.trusted.sandbox.grants import Withholding
from astra.trusted.sandbox.preparation import Box, Prepared, prepare
from astra.trusted.sandbox.profile import PROXY_PORT, Profile
from astra.trusted.sandbox.supervision import Started
from astra.trusted.sandbox.toolchain import Toolchain, find_named_programs
from astra.trusted.sandbox.watch import Watch

INHERITED = 3
INSIDE_PORT = 8080
_COMMAND_PID = "2"  # the first process in a box: bwrap itself is its init
_CHUNK = 65536
_DEATH_SECONDS = 10.0
_FIRST_OUTPUT = 1000
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
    never_ran: str = ""
    """Why the command could not be executed, as the shell before it said."""


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
    _first_output: bytearray = field(default_factory=bytearray, init=False)

    def run(self, running: Callable[[], None]) -> Ended:
        """Run to the end; `running` is called once the command was let go."""
        return threshold.run_in_own_thread(lambda: self._run_in_box(running))

    def terminate(self) -> None:
        """Ask the app's first process to finish."""
        self._told_to_end = True
        self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send the app's first process a signal."""
        for pid in list_process_tree(self._started.init)[1:2] if self._started else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def pids(self) -> list[int]:
        """List its processes, if it runs."""
        return list_process_tree(self._started.init) if self._started else []

    def kill(self) -> None:
        self._told_to_end = True
        if self._started is not None:
            with contextlib.suppress(OSError):
                self._started.kill()

    def _run_in_box(self, running: Callable[[], None]) -> Ended:
        launch.refuse_when_stopped(self.data_root)
        with contextlib.ExitStack() as stack:
            box = self.describe_box()
            try:
                prepared = prepare(box, stack)
                self._refuse_full_state(prepared.found.size)
                with _lend_listener(self.listener):
                    mark = boxes.mark(self.data_root, box.kind)
                    box_process = threshold.start(prepared, stack, mark=mark)
            except OSError as error:
                raise launch.unavailable_error(error) from error
            stack.enter_context(launch.keep_registered(self.data_root, box, box_process, None))
            self._connect_network(prepared.profile, box_process, stack)
            launch.refuse_when_stopped(self.data_root)
            self._started = box_process
            if self._told_to_end:
                return Ended(code=None, reason="ended before it began")
            box_process.open_gate()
            running()
            return self._follow_to_end(box_process, prepared)

    def _refuse_full_state(self, size: int) -> None:
        if size > self.spec.state_bytes:
            raise _state_full(f"holds {size >> 20:,} MiB", self.spec)

    def describe_box(self) -> Box:
        """Describe the app's box as data."""
        spec = self.spec
        mark = read_mark(Path(spec.folder))
        program, tools = find_tools(spec.command, mark, programs=spec.programs)
        arguments = [_fill_placeholders(word, self.port) for word in spec.command[1:]]
        return Box(
            command=(str(program), *arguments),
            manifest=Manifest(
                # One that reloads has to see the releases that come after it.
                read_paths=(str(Path(spec.folder).parent) if spec.reload else spec.folder,),
                write_paths=(spec.state,),
                network_domains=() if spec.network == "host" else tuple(spec.network),
                limits=_LIMITS,
                environment=self._make_environment(),
            ),
            workdir=spec.folder,
            toolchain=tools,
            protected=protected_places(self.data_root),
            homes=machine.own_homes(),
            kind=boxes.APP,
            label=spec.release,
            host_network=spec.network == "host",
            inherited=() if self.listener is None else (INHERITED,),
            bind_ports=self._bind_ports(),
            withholding=self._make_withholding(),
        )

    def _bind_ports(self) -> tuple[int, ...]:
        """Name the ports it may bind; any free one is among them: `listen` alone gives one too."""
        app_ports = (self.port,) if self.listener is None else ()
        return (*app_ports, *self.spec.listen_ports, landlock.ANY_FREE_PORT)

    def _make_withholding(self) -> Withholding:
        """Hide secrets of a release but those signed for the app; its state is its own."""
        spec = self.spec
        return Withholding(
            secrets=SecretRules(patterns=spec.secret_patterns),
            agent_folders=(str(Path(spec.folder).parent),),
            shown=(spec.state, *(f"{spec.folder}/{name}" for name in spec.secret_files)),
        )

    def _make_environment(self) -> dict[str, str]:
        spec = self.spec
        variables = {"ASTRA_RELEASE": spec.release, "ASTRA_STATE": spec.state}
        variables |= {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        if self.listener is not None:
            variables |= {"LISTEN_FDS": "1", "LISTEN_PID": _COMMAND_PID}
        else:
            variables |= {"PORT": str(self.port)}
        app_variables = fill_state(spec.env, spec.state)
        return {**app_variables, **read_secrets(self.data_root, spec.secrets), **variables}

    def _connect_network(
        self, profile: Profile, started: Started, stack: contextlib.ExitStack
    ) -> None:
        """Give a confined app its proxy outwards and its dialler inwards, before it starts."""
        if profile.host_network:
            return
        if profile.domains:
            as_root = profile.machine.identity.dropped
            (listener,) = listening.listen_inside(started.init, (PROXY_PORT,), as_root=as_root)
            proxy = EgressProxy(
                grants=profile.domains,
                record=self._note_attempt,
                announce=self._announce_connection,
            )
            proxy.serve(listener)
            stack.callback(proxy.close)
        self.dialler = stack.enter_context(Dialler.start_inside(started.init, self.port))

    def _announce_connection(self, host: str, port: int) -> None:
        AppEgress(self.data_root).note_opening(self.spec.release, host, port)

    def _note_attempt(self, attempt: Attempt) -> None:
        AppEgress(self.data_root).note_ending(self.spec.release, attempt)
        if not attempt.allowed:
            line = f"astra: refused {attempt.host[:200]!a}:{attempt.port} ({attempt.reason})\n"
            self.log(line.encode())

    def _follow_to_end(self, started: Started, prepared: Prepared) -> Ended:
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
                while limit is None and self._copy_output(
                    ready, started, watch.seconds_until_due()
                ):
                    limit = watch.check_limits()
        finally:
            if limit is not None:
                started.kill()
            code = _exit_code(started, grace=0 if self._told_to_end or limit else _DEATH_SECONDS)
        if limit in {"disk", "files"}:
            raise _state_full(f"passed the limit on {limit}", self.spec)
        if limit:
            return Ended(code=None, reason=f"passed the limit on {limit}")
        never_ran = outcome.find_start_failure(code, bytes(self._first_output))
        return Ended(code=code, reason=f"exit code {code}", never_ran=never_ran)

    def _copy_output(self, ready: selectors.BaseSelector, started: Started, seconds: float) -> bool:
        """Copy what is there to read; False when the box is gone and has said everything."""
        events = ready.select(seconds)
        for key, _events in events:
            if key.fd == started.init_handle:
                continue
            data = os.read(key.fd, _CHUNK)
            self.log(data)
            self._first_output += data[: _FIRST_OUTPUT - len(self._first_output)]
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
def _lend_listener(listener: socket.socket | None) -> Generator[None, None, None]:
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


def find_tools(
    command: Sequence[str], mark: Mark, *, programs: Sequence[str] = ()
) -> tuple[Path, Toolchain]:
    """Find what a command starts, and everything it needs to: as its tests had it.

    A program of the environment is taken as it lies there; packages wrote it, so no link of it is
    followed on the host.
    """
    environment_program = mark.find_program(command[0])
    program = environment_program or find_program(command[0])
    tools, homes = mark.toolchain, machine.own_homes()
    named_programs = (*find_named_programs(command), *(Path(text) for text in programs))
    for path in (*(() if environment_program else (program,)), *named_programs):
        tools |= toolchain.find(path, homes=homes)
    return program, tools


def find_program(name: str) -> Path:
    """Find what a command starts: an absolute path, or a program of the system."""
    for folder in ("",) if name.startswith("/") else machine.SYSTEM_PATH.split(":"):
        if (program := Path(folder) / name).is_file():
            return program
    raise NotFound(
        f"there is no program {name!r} on this machine",
        code="no_app_program",
        next_step="name the whole path of the program in [app] command, then astra config sign",
    )


def read_secrets(data_root: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Read the named secrets from `var/secrets`, where only the operator's user looks."""
    secret_values: dict[str, str] = {}
    for name in names:
        try:
            secret_values[name] = (data_root / "var" / "secrets" / name).read_text().rstrip("\n")
        except OSError:
            raise Refused(
                f"the app is to get the secret {name}, which is not there",
                code="no_secret",
                next_step=f"write it to {data_root}/var/secrets/{name}, or take it out of"
                " [app.permissions] secrets",
            ) from None
    return secret_values


def make_state_folder(path: Path) -> None:
    """Make the app's state folder; as root it belongs to the boxes' user."""
    if not os.path.lexists(path):
        path.mkdir(mode=0o700)
        staging.hand_over(path, machine.inspect_machine().identity)


def _state_full(what: str, spec: AppSpec) -> Refused:
    return Refused(
        f"the app's state folder {spec.state} {what}; it may have {spec.state_bytes >> 20:,} MiB"
        f" and {_LIMITS.disk_files:,} files",
        code="app_state_full",
        next_step="make room there, or raise [app.permissions] state_mb, then astra config sign",
    )


def protected_places(data_root: Path) -> tuple[str, ...]:
    private_names = ("var", "astra.toml", ".env")
    return (
        *(str(data_root / name) for name in private_names),
        *operators_key.key_folders(DataRoot(data_root)),
        str(Path(astra.__file__).parent),
    )


def _fill_placeholders(word: str, port: int) -> str:
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
