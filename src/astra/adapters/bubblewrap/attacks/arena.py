"""Prepares what attacks are after, runs them all in one box, and looks at the host afterwards.

The arena holds a secret that is not granted, a readable and a writable folder with traps in them,
and a listener of each kind on the host. After the run the host side says whether anything was
touched, whatever the box claims.
"""

import contextlib
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

import astra
from astra.adapters.bubblewrap.attacks import referee
from astra.adapters.bubblewrap.attacks.app import app_attacks
from astra.adapters.bubblewrap.attacks.bombs import BOMB_LIMITS, BOMBS, Bomb
from astra.adapters.bubblewrap.attacks.cases import ATTACKS, Attack
from astra.adapters.bubblewrap.attacks.files import SECRET_FILES
from astra.trusted.policy.manifest import GIB, KIB, MIB, Limits, Manifest
from astra.trusted.sandbox import machine, staging, toolchain
from astra.trusted.sandbox.grants import Withholding
from astra.trusted.sandbox.launch import Box, run
from astra.trusted.sandbox.ports import Outcome

_LIMITS = Limits(
    wall_seconds=120,
    processes=64,
    # Room for as many interpreters: the watcher counts shared pages for each of them.
    memory_bytes=GIB,
    file_bytes=8 * MIB,
    scratch_bytes=8 * MIB,
    open_files=64,
    output_bytes=512 * KIB,
)
_ROOT_NAMES = ("bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc", "sbin")


@dataclass(frozen=True, kw_only=True)
class Result:
    name: str
    category: str
    expected: tuple[str, ...]
    outcome: str

    @property
    def is_expected(self) -> bool:
        return self.outcome in self.expected


def run_app_attacks() -> list[Result]:
    """Try what an app may not do that the operator let onto the host's network."""
    with tempfile.TemporaryDirectory(prefix="astra-arena-") as folder:
        arena = _Arena(Path(folder).resolve())
        with arena.listen_on_host():
            attacks = app_attacks()
            outcome = arena.run(attacks, host_network=True)
            outcomes = _read_outcomes(outcome)
            return [_make_result(attack, outcomes, outcome) for attack in attacks]


def run_bombs(bombs: Iterable[Bomb] = BOMBS) -> list[Result]:
    """Have each bomb pass a limit in a box of its own, and say how the box ended."""
    return [_run_bomb(bomb) for bomb in bombs]


def _run_bomb(bomb: Bomb) -> Result:
    with tempfile.TemporaryDirectory(prefix="astra-arena-") as folder:
        arena = _Arena(Path(folder).resolve())
        outcome = arena.run_script(bomb.script)
    ended = f"ended: {outcome.limit}" if outcome.limit else f"out: {outcome.reason}"
    return Result(
        name=bomb.name, category=bomb.limit, expected=(f"ended: {bomb.limit}",), outcome=ended
    )


def run_attacks(attacks: tuple[Attack, ...] = ATTACKS) -> list[Result]:
    """Try every attack in the real profile and give the table, the host's own findings last."""
    with tempfile.TemporaryDirectory(prefix="astra-arena-") as folder:
        arena = _Arena(Path(folder).resolve())
        with arena.listen_on_host() as touched:
            outcome = arena.run(attacks)
            outcomes = _read_outcomes(outcome)
            table = [_make_result(attack, outcomes, outcome) for attack in attacks]
            return [*table, *arena.host_findings(touched)]


class _Arena:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work, self.library = folder / "work", folder / "library"
        self.data_root = folder / "data"
        self.secret = folder / "secret.txt"
        self.canary = f"canary{secrets.token_hex(8)}"
        self._plant_traps()

    def run_script(self, script: str) -> Outcome:
        python = _find_python()
        box = Box(
            command=(str(python), "-I", "-S", "-B", "-c", script),
            manifest=Manifest(write_paths=(str(self.work),), limits=BOMB_LIMITS),
            toolchain=toolchain.find(python),
            label="attacks",
            withholding=Withholding(agent_folders=(str(self.work),)),
        )
        return run(box, data_root=self.data_root)

    def run(self, attacks: tuple[Attack, ...], *, host_network: bool = False) -> Outcome:
        scripts = [{"name": attack.name, "script": attack.script} for attack in attacks]
        job = self.library / "job.json"
        job.write_text(
            json.dumps({"attacks": scripts, "arena": self._describe_arena()}), encoding="utf-8"
        )
        shutil.copy(referee.__file__, self.library / "referee.py")
        python = _find_python()
        box = Box(
            host_network=host_network,
            command=(str(python), "-I", "-S", "-B", f"{self.library}/referee.py", str(job)),
            manifest=Manifest(
                read_paths=(str(self.library),), write_paths=(str(self.work),), limits=_LIMITS
            ),
            toolchain=toolchain.find(python),
            protected=(str(self.data_root / "var"),),
            label="attacks",
            withholding=Withholding(agent_folders=(str(self.work),)),
        )
        os.environ["ASTRA_ATTACK_CANARY"] = self.canary
        try:
            return run(box, data_root=self.data_root)
        finally:
            del os.environ["ASTRA_ATTACK_CANARY"]

    @contextlib.contextmanager
    def listen_on_host(self) -> Generator[list[str], None, None]:
        """Listen on the host where a box must not arrive; names who was reached."""
        touched: list[str] = []
        with contextlib.ExitStack() as stack:
            self.tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            self.abstract = f"astra-{self.canary}"
            unix = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2)]
            unix[0].bind(str(self.folder / "host.sock"))
            unix[1].bind("\0" + self.abstract)
            for listener, name in (
                (self.tcp, "loopback"),
                (unix[0], "path"),
                (unix[1], "abstract"),
            ):
                listener.listen()
                stack.callback(listener.shutdown, socket.SHUT_RDWR)
                threading.Thread(
                    target=_await_connection, args=(listener, name, touched), daemon=True
                ).start()
            yield touched

    def host_findings(self, touched: list[str]) -> list[Result]:
        config = self.work / ".git" / "config"
        findings = {
            "reach a listener of the host": ",".join(touched),
            "change the secret": _find_difference(self.secret, self.canary),
            "change a readable file": _find_difference(self.library / "page.txt", "page"),
            "change the git configuration": _find_difference(config, "[core]\n"),
            "change the covered .env": _find_difference(self.work / ".env", f"KEY={self.canary}"),
            "leave a set-id file behind": ",".join(_set_id_files(self.work)),
            "add to /usr": "yes" if Path("/usr/bin/astra-was-here").exists() else "",
        }
        return [
            Result(
                name=f"host: {name}",
                category="host",
                expected=("nothing",),
                outcome=f"out: {text}" if text else "nothing",
            )
            for name, text in findings.items()
        ]

    def _plant_traps(self) -> None:
        self.folder.chmod(0o755)
        for folder in (self.work, self.library, self.data_root / "var", self.work / ".git/hooks"):
            folder.mkdir(parents=True)
        self.secret.write_text(self.canary, encoding="utf-8")
        (self.work / ".git/config").write_text("[core]\n", encoding="utf-8")
        (self.work / ".env").write_text(f"KEY={self.canary}", encoding="utf-8")
        (self.library / "id_ed25519").write_text(self.canary, encoding="utf-8")
        for name in SECRET_FILES:
            (self.library / name).parent.mkdir(exist_ok=True)
            (self.library / name).write_text(self.canary, encoding="utf-8")
        (self.library / "page.txt").write_text("page", encoding="utf-8")
        (self.library / "link").symlink_to(self.secret)
        staging.hand_over(self.work, machine.inspect_machine().identity)

    def _describe_arena(self) -> dict[str, object]:
        return {
            "secret": str(self.secret),
            "work": str(self.work),
            "library": str(self.library),
            "var": str(self.data_root / "var"),
            "install": str(Path(astra.__file__).parent),
            "root_names": [*_ROOT_NAMES, "tmp", "usr", *self._own_roots()],
            "pid": os.getpid(),
            "port": self.tcp.getsockname()[1],
            "abstract": self.abstract,
            "socket": str(self.folder / "host.sock"),
            "canary": self.canary,
            "job": str(self.library / "job.json"),
            "processes": _LIMITS.processes,
            "free_port": _free_port(),
            "memory": _LIMITS.memory_bytes,
            "open_files": _LIMITS.open_files,
            "file": _LIMITS.file_bytes,
        }

    def _own_roots(self) -> set[str]:
        """Name the top folders on the way to what is granted: they exist, and are empty else."""
        paths = (self.folder, Path(sys.base_prefix))
        return {path.parts[1] for path in paths}


def _find_python() -> Path:
    return Path(getattr(sys, "_base_executable", sys.executable))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _await_connection(listener: socket.socket, name: str, touched: list[str]) -> None:
    with contextlib.suppress(OSError):
        listener.accept()
        touched.append(name)


def _read_outcomes(outcome: Outcome) -> dict[str, str]:
    outcomes: dict[str, str] = {}
    for line in outcome.stdout.decode("utf-8", "replace").splitlines():
        with contextlib.suppress(ValueError, KeyError):
            document = json.loads(line)
            outcomes[document["name"]] = document["outcome"]
    return outcomes


def _make_result(attack: Attack, outcomes: dict[str, str], outcome: Outcome) -> Result:
    default_outcome = (
        f"not tried: {outcome.reason} {outcome.stderr.decode('utf-8', 'replace')[-300:]}"
    )
    return Result(
        name=attack.name,
        category=attack.category,
        expected=attack.expected,
        outcome=outcomes.get(attack.name, default_outcome.strip()),
    )


def _find_difference(path: Path, text: str) -> str:
    try:
        now = path.read_text(encoding="utf-8")
    except OSError as error:
        return str(error)
    return "" if now == text else now[:80]


def _set_id_files(folder: Path) -> list[str]:
    paths = folder.rglob("*")
    return [path.name for path in paths if not path.is_symlink() and path.stat().st_mode & 0o6000]
