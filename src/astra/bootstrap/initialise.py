"""`astra init`: make a data root, once.

Everything before the first record of the ledger can be done again, and is after a crash; that
record is the moment the root exists. Running it again changes nothing.
"""

import errno
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from astra import __version__
from astra.adapters.boxes.clone_keeping import rules_file
from astra.adapters.free_ports import find_free_port
from astra.adapters.interpreters import propose_toolchain
from astra.adapters.package_registries import propose_registries
from astra.adapters.repository_snapshot import read_repository
from astra.adoption.configuration_text import (
    FIRST_PORT,
    OfMachine,
    render_configuration,
    render_target,
)
from astra.adoption.corrections import NO_CORRECTIONS, Corrections
from astra.adoption.detected import NOTHING, Detected
from astra.adoption.detecting import detect
from astra.bootstrap import PROJECTIONS
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.files import operators_key
from astra.trusted.files.data_root import DataRoot
from astra.trusted.git import agent_clone, trusted_repo
from astra.trusted.kernel import signatures
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.private_files import write_private
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import formats
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority, contract
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import machine
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.settings import configuration
from astra.trusted.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class Made:
    data_root: Path
    code_repo: Path
    operator_key: Path
    created: bool
    recovery_key: str = ""
    detected: Detected = NOTHING
    is_signed: bool = True
    """Whether the configuration on disk is the one that counts."""


def describe_existing(settings: Settings, target: Path | None) -> Made | None:
    """Describe the root that is there already; refuse to point it at another target."""
    root = DataRoot(settings.data_root)
    first = root.first_record()
    if first is None:
        return None
    known_target = first.data["target"]
    if target is not None and known_target != str(target):
        raise Refused(
            f"this data root was made for {known_target or 'no target'}, not for {target}",
            code="other_target",
            next_step="name another data root with --data-root",
        )
    return Made(
        data_root=root.path,
        code_repo=root.path / first.data["code_repo"],
        operator_key=operators_key.key_path(first.data["root_id"]),
        created=False,
    )


def initialise(
    settings: Settings,
    target: Path | None,
    *,
    passphrase: str,
    throwaway: bool,
    sign_detected: bool = False,
    corrections: Corrections = NO_CORRECTIONS,
) -> Made:
    """Make a data root; what was detected counts at once only where the operator said so."""
    branch = trusted_repo.current_branch(target) if target else "main"
    root = DataRoot(settings.data_root)
    root.make_folders()
    settings.sandbox_folder.mkdir(parents=True, exist_ok=True)
    trusted_repo.make_trusted(root.git, target, branch)
    detected = _detect_target(root, branch, corrections) if target else NOTHING
    guess, detected = _render_guess(target, branch, detected)
    write_configuration(root, guess)
    _make_clone(root, settings)
    _give_to_boxes(settings.sandbox_folder, settings.code_repo)
    operator, recovery = KeyPair.generate(), KeyPair.generate()
    root_id = random_id("root")
    key_file = operators_key.write(root_id, operator, passphrase)
    created = {
        "root_id": root_id,
        "throwaway": throwaway,
        "operator_key": operator.public,
        "operator_key_folder": str(key_file.parent),
        "recovery_key": recovery.public,
        "ledger_key": root.make_ledger_key().public,
        "target": str(target) if target else "",
        "branch": branch,
        "code_repo": _relative_to_root(settings.code_repo, root),
        "sandbox": _relative_to_root(settings.sandbox_folder, root),
        **formats.statement(__version__),
    }
    text = root.configuration.read_text()
    is_signed = sign_detected or not detected.has_commands or text != guess
    if not is_signed:
        text = render_target(str(target or ""), branch)
    _record_creation(root, created, operator, text)
    return Made(
        data_root=root.path,
        code_repo=settings.code_repo,
        operator_key=key_file,
        created=True,
        recovery_key=signatures.recovery_text(recovery.seed),
        detected=detected,
        is_signed=is_signed,
    )


def _make_clone(root: DataRoot, settings: Settings) -> None:
    """Make the agent's clone under the rules for secrets that are about to be signed."""
    patterns = configuration.parse(root.configuration.read_text()).agent.secret_patterns
    rules = SecretRules(patterns=patterns)
    agent_clone.make_clone(
        root.git,
        settings.code_repo,
        name=settings.git_user_name,
        email=settings.git_user_email,
        rules=rules,
    )
    write_private(rules_file(root.var), rules.digest.encode())


def _detect_target(root: DataRoot, branch: str, corrections: Corrections) -> Detected:
    return detect(read_repository(root.git, f"refs/heads/{branch}"), corrections)


def _render_guess(target: Path | None, branch: str, detected: Detected) -> tuple[str, Detected]:
    """Write down what was detected, with the registries and interpreters of this user."""
    registries: tuple[str, ...] = ()
    if detected.environment:
        registries = propose_registries("venv" if detected.language == "python" else "npm")
    toolchain, trouble = propose_toolchain(detected)
    detected = replace(detected, missing=(*detected.missing, *trouble))
    machine_facts = OfMachine(
        registries=registries, toolchain=toolchain, port=find_free_port(FIRST_PORT)
    )
    text = render_configuration(str(target or ""), branch, detected, machine_facts)
    return text, detected


def write_configuration(root: DataRoot, text: str) -> None:
    """Write `astra.toml`, unless somebody wrote one already."""
    if root.configuration.exists():
        return
    configuration.parse(text)
    write_private(root.configuration, text.encode())


def generated_passphrase() -> str:
    return "-".join(secrets.token_hex(2) for _ in range(4))


def _record_creation(
    root: DataRoot, created: Mapping[str, Any], operator: KeyPair, text: str
) -> None:
    """Append the first record, and the operator's signature under the first configuration."""
    clock = SystemClock()
    ledger = FileLedger(root.var, projections=PROJECTIONS, key=root.read_ledger_key(), clock=clock)
    Reserve(root.var).fill()
    try:
        story = random_id("cor")
        first = Event(
            type=authority.ROOT_CREATED,
            actor="operator",
            data=created,
            correlation=story,
            key="data-root",
        )
        ledger.append([first])
        statement = authority.draft(
            contract.CONFIG_SIGNED,
            contract.content(text),
            root_id=created["root_id"],
            head=ledger.head(),
            now=clock.now(),
        )
        operator_signature = authority.sign(statement, operator)
        ledger.append([contract.sign(ledger, text, operator_signature, now=clock.now())])
    finally:
        ledger.close()


def _give_to_boxes(*folders: Path) -> None:
    """Let boxes write the agent's folders: as root, boxes have a uid of their own."""
    try:
        identity = machine.choose_identity()
        for folder in folders if identity.dropped else ():
            for path in (folder, *folder.rglob("*")):
                os.chown(path, identity.uid, identity.gid, follow_symlinks=False)
    except SandboxUnavailable:
        return
    except OSError as error:
        # A container whose root is somebody else's user has no such uid: no box starts in it,
        # and the preflight says so.
        if error.errno not in {errno.EINVAL, errno.EPERM}:
            raise


def _relative_to_root(path: Path, root: DataRoot) -> str:
    return str(path.relative_to(root.path)) if path.is_relative_to(root.path) else str(path)
