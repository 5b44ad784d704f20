"""Running agent code: in a box, with what the caller was granted and nothing else.

Every connection a box tries to make is a record, and so is every box's end. Before the first box
the real profile is tried with canaries; where it does not hold, nothing runs. The one way around is
`off-unsafe`: set for the daemon, and signed by the operator. Then commands are plain processes.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import astra
from astra.adapters.boxes.clone_keeping import CloneKeeper, rules_file
from astra.adapters.bubblewrap import preflight
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.unconfined import run as unconfined
from astra.trusted.egress.egress_proxy import PUBLIC_INTERNET, Attempt, Internet
from astra.trusted.egress.secured_request import PREFIX, SecretHeader
from astra.trusted.files import operators_key
from astra.trusted.files.data_root import DataRoot
from astra.trusted.files.withholding import agent_folders, secret_rules
from astra.trusted.kernel.errors import LedgerUnavailable, LedgerUncertain, Refused
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import contract
from astra.trusted.policy.confinement import OFF, UnsafeRecord
from astra.trusted.policy.manifest import Manifest, touches
from astra.trusted.sandbox import launch, machine, toolchain
from astra.trusted.sandbox.cgroups import NOT_DELEGATED, Delegation
from astra.trusted.sandbox.grants import Withholding
from astra.trusted.sandbox.launch import Box
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.sandbox.ports import BoxRequest, Outcome
from astra.trusted.sandbox.profile import PROXY_PORT
from astra.trusted.stop import stop

EGRESS_OPENED, EGRESS_ATTEMPTED, BOX_ENDED = "egress_opened", "egress_attempted", "box_ended"
SECRET_ADDED = "egress_secret_added"  # noqa: S105 - the type of a record
ENDPOINT = f"http://127.0.0.1:{PROXY_PORT}{PREFIX.rstrip('/')}"
"""Where a box speaks plainly to its proxy, which takes the request to HOST/PATH over TLS."""
UNSAFE = "UNSAFE: agent code runs unconfined, as a plain process"


def name_endpoint(secrets: tuple[str, ...]) -> dict[str, str]:
    """Give the variable by which a box with secrets finds the endpoint that adds them."""
    return {"EGRESS_HTTPS": ENDPOINT} if secrets else {}


@dataclass
class Sandbox:
    root: DataRoot
    ledger: Ledger
    internet: Internet = PUBLIC_INTERNET
    check: Callable[[], Preflight] = preflight.preflight
    asked_off: bool = False
    groups: Delegation = NOT_DELEGATED
    _found: Preflight | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _keeper: CloneKeeper | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._signed_off = UnsafeRecord(self.ledger)

    @property
    def is_off(self) -> bool:
        """Tell whether commands run unconfined: both have to say so, at every run anew."""
        return self.asked_off and self._signed_off.is_in_force()

    def run(self, request: BoxRequest) -> Outcome:
        off = self.is_off
        if not off:
            self.require_proof()
        withholding = self._make_withholding(request.manifest, off=off)
        withholding = replace(withholding, shown=request.shown)
        homes = machine.own_homes()
        tools = request.environment
        for program in request.programs:
            theirs = (str(self.root.path), *request.manifest.write_paths)
            tools |= toolchain.find(program, homes=homes, theirs=theirs)
        box = Box(
            command=request.command,
            manifest=request.manifest,
            workdir=request.workdir,
            toolchain=tools,
            protected=self._list_protected(),
            homes=homes,
            workspace=request.workspace,
            label=request.label or request.command[0],
            host_network=request.host_network,
            on_low_disk=request.on_low_disk,
            withholding=withholding,
            on_started=request.on_started,
            secrets=self.find_secrets(request.secrets),
            note_secret=partial(
                self.note_secret, actor=request.actor, correlation=request.correlation
            ),
        )

        caller = {"actor": request.actor, "correlation": request.correlation}

        def record(attempt: Attempt) -> None:
            self.ledger.append([build_egress_event(attempt, **caller)], lazy=True)

        def announce(host: str, port: int) -> None:
            self.ledger.append([build_opened_event(host, port, **caller)], lazy=True)

        run_box = unconfined.run if off else launch.run
        outcome = run_box(
            box,
            data_root=self.root.path,
            on_output=request.on_output,
            record=record,
            announce=announce,
            internet=replace(
                self.reach_inner(*request.inner_hosts), own_services=request.own_services
            ),
            groups=self.groups,
        )
        self._record_end(outcome, request)
        return outcome

    def _record_end(self, outcome: Outcome, request: BoxRequest) -> None:
        """Write down how a box ended; its command ran, whatever becomes of the record."""
        try:
            self.ledger.append([_ended_event(outcome, request)])
        except LedgerUnavailable as error:
            raise LedgerUncertain(
                f"{request.command[0]} ran in a box, and how it ended could not be recorded:"
                f" {error.detail}",
                next_step="look at what it did before you run it again",
            ) from error

    def find_secrets(self, names: tuple[str, ...]) -> tuple[SecretHeader, ...]:
        """Find the signed secrets of these names; values are read at each use, and stay outside."""
        if not names:
            return ()
        signed_secrets = contract.read_configuration(self.ledger).egress.select(names)
        if missing_names := {*names} - {secret.name for secret in signed_secrets}:
            raise Refused(
                f"the signed configuration has no [[egress.secrets]] named {min(missing_names)}",
                code="no_secret",
                next_step="add it to astra.toml, then astra config sign",
            )
        folder = self.root.var / "secrets"
        return tuple(
            SecretHeader(secret=secret, read=partial(_read_secret, folder / secret.name))
            for secret in signed_secrets
        )

    def note_secret(self, name: str, host: str, port: int, *, actor: str, correlation: str) -> None:
        """Record that a secret is about to be added to a request; never its value."""
        data = {"secret": name, "host": host[:300], "port": port}
        event = Event(type=SECRET_ADDED, actor=actor, data=data, correlation=correlation)
        self.ledger.append([event], lazy=True)

    def reach_inner(self, *hosts: str) -> Internet:
        """Give the way out for hosts that the operator signed by name."""
        return replace(self.internet, inner_hosts=frozenset(hosts))

    def _make_withholding(self, manifest: Manifest, *, off: bool) -> Withholding:
        """Say what a box does not get to see; the agent's clone is cleared of secrets first."""
        rules, folders = secret_rules(self.ledger), agent_folders(self.root, self.ledger)
        paths = (*manifest.read_paths, *manifest.write_paths)
        if not off and any(touches(path, folders[0]) for path in paths):
            keeper = self._clone_keeper(Path(folders[0]))
            if not keeper.ensure_cleared(rules, self._clear_clone):
                folders = folders[1:]
        return Withholding(secrets=rules, agent_folders=folders)

    def _clone_keeper(self, clone: Path) -> CloneKeeper:
        with self._lock:
            if self._keeper is None:
                marker = rules_file(self.root.var)
                self._keeper = CloneKeeper(clone=clone, repository=self.root.git, marker=marker)
            return self._keeper

    def _clear_clone(self, command: tuple[str, ...], manifest: Manifest, workdir: str) -> Outcome:
        withholding = Withholding(agent_folders=(workdir,))
        box = Box(command=command, manifest=manifest, workdir=workdir, withholding=withholding)
        return launch.run(box, data_root=self.root.path, groups=self.groups)

    def end(self, label: str, why: str) -> int:
        """End the boxes that carry a label; what they came to is recorded by who ran them."""
        return stop.end_labelled(self.root.path, label, why=why)

    def require_proof(self) -> None:
        """Refuse unless the profile was proven to hold on this machine."""
        proof = self.preflight()
        if not proof.ok:
            problem = proof.problems[0]
            raise SandboxUnavailable(
                f"agent code does not run here: {problem.what}", next_step=problem.fix
            )

    def preflight(self) -> Preflight:
        with self._lock:
            if self._found is None or not self._found.ok:
                self._found = self.check()
            return self._found

    def problems(self) -> tuple[str, ...]:
        """Say what the proof found wrong with the profile on this machine."""
        return tuple(problem.what for problem in self.preflight().problems)

    def state(self) -> dict[str, Any]:
        """Say what is known without waiting for a check."""
        unsafe: dict[str, Any] = {"kind": OFF, "state": UNSAFE, "problems": []}
        boxes_state = unsafe if self.is_off else self._boxes_state()
        return {**boxes_state, "limits": self.groups.in_words(), **self.read_switches()}

    def read_switches(self) -> dict[str, bool]:
        """Say which of the two halves of `off-unsafe` are there."""
        return {"off_in_environment": self.asked_off, "off_signed": self._signed_off.is_in_force()}

    def _boxes_state(self) -> dict[str, Any]:
        proof = self._found
        if proof is None:
            return {"kind": "bubblewrap", "state": "not checked yet", "problems": []}
        problems = [{"what": problem.what, "fix": problem.fix} for problem in proof.problems]
        state = "ok" if proof.ok else "broken"
        return {"kind": "bubblewrap", "state": state, "problems": problems}

    def _list_protected(self) -> tuple[str, ...]:
        private_names = ("var", "astra.toml", ".env")
        return (
            *(str(self.root.path / name) for name in private_names),
            *operators_key.key_folders(self.root),
            str(Path(astra.__file__).parent),
        )


def _read_secret(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip("\r\n")


def build_opened_event(host: str, port: int, *, actor: str, correlation: str) -> Event:
    data = {"host": host[:300], "port": port}
    return Event(type=EGRESS_OPENED, actor=actor, data=data, correlation=correlation)


def build_egress_event(attempt: Attempt, *, actor: str, correlation: str) -> Event:
    data = {
        "host": attempt.host[:300],
        "port": attempt.port,
        "allowed": attempt.allowed,
        "reason": attempt.reason,
        "sent": attempt.sent,
        "received": attempt.received,
    }
    return Event(type=EGRESS_ATTEMPTED, actor=actor, data=data, correlation=correlation)


def _ended_event(outcome: Outcome, request: BoxRequest) -> Event:
    data = {
        "program": request.command[0][:300],
        "verdict": str(outcome.verdict),
        "reason": outcome.reason,
        "seconds": round(outcome.seconds, 3),
        "confined": outcome.confined,
        "egress": {
            "allowed": outcome.egress.allowed,
            "denied": outcome.egress.denied,
            "sent": outcome.egress.sent,
            "received": outcome.egress.received,
            "hosts": list(outcome.egress.hosts[:50]),
            "ungranted": list(outcome.egress.ungranted[:50]),
        },
    }
    return _make_event(BOX_ENDED, data, request)


def _make_event(kind: str, data: dict[str, Any], request: BoxRequest) -> Event:
    return Event(type=kind, actor=request.actor, data=data, correlation=request.correlation)
