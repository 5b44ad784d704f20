"""`astra init`: make a data root, once.

Everything before the first record of the ledger can be done again, and is after a crash; that
record is the moment the root exists. Running it again changes nothing.
"""

import errno
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra import __version__
from astra.adapters.boxes.clone_keeping import rules_file
from astra.bootstrap import PROJECTIONS
from astra.trusted.file_ledger import FileLedger
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.files import operator_key
from astra.trusted.files.data_root import DataRoot, write_private
from astra.trusted.git import agent_clone, trusted_repo
from astra.trusted.kernel import signatures
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.ids import random_id
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


def existing(settings: Settings, target: Path | None) -> Made | None:
    """Describe the root that is there already; refuse to point it at another target."""
    root = DataRoot(settings.data_root)
    first = root.first_record()
    if first is None:
        return None
    known = first.data["target"]
    if target is not None and known != str(target):
        raise Refused(
            f"this data root was made for {known or 'no target'}, not for {target}",
            code="other_target",
            next_step="name another data root with --data-root",
        )
    return Made(
        data_root=root.path,
        code_repo=root.path / first.data["code_repo"],
        operator_key=operator_key.key_path(first.data["root_id"]),
        created=False,
    )


def initialise(
    settings: Settings, target: Path | None, *, passphrase: str, throwaway: bool
) -> Made:
    branch = trusted_repo.current_branch(target) if target else "main"
    root = DataRoot(settings.data_root)
    root.make_folders()
    settings.sandbox_folder.mkdir(parents=True, exist_ok=True)
    trusted_repo.make_trusted(root.git, target, branch)
    write_configuration(root, target, branch)
    _make_clone(root, settings)
    _give_to_boxes(settings.sandbox_folder, settings.code_repo)
    operator, recovery = KeyPair.generate(), KeyPair.generate()
    root_id = random_id("root")
    key_file = operator_key.write(root_id, operator, passphrase)
    created = {
        "root_id": root_id,
        "throwaway": throwaway,
        "operator_key": operator.public,
        "operator_key_folder": str(key_file.parent),
        "recovery_key": recovery.public,
        "ledger_key": root.make_ledger_key().public,
        "target": str(target) if target else "",
        "branch": branch,
        "code_repo": _relative(settings.code_repo, root),
        "sandbox": _relative(settings.sandbox_folder, root),
        **formats.statement(__version__),
    }
    _record(root, created, operator)
    return Made(
        data_root=root.path,
        code_repo=settings.code_repo,
        operator_key=key_file,
        created=True,
        recovery_key=signatures.recovery_text(recovery.seed),
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


def write_configuration(root: DataRoot, target: Path | None, branch: str) -> None:
    if root.configuration.exists():
        return
    lines = [
        "# What Astra may do with the target. Sign every change: astra config sign",
        "[target]",
    ]
    if target:
        lines.append(f"repo = {json.dumps(str(target))}")
    lines += [f"branch = {json.dumps(branch)}", ""]
    text = "\n".join(lines)
    configuration.parse(text)
    write_private(root.configuration, text.encode())


def generated_passphrase() -> str:
    return "-".join(secrets.token_hex(2) for _ in range(4))


def _record(root: DataRoot, created: Mapping[str, Any], operator: KeyPair) -> None:
    """Append the first record, and the operator's signature under the first configuration."""
    clock = SystemClock()
    ledger = FileLedger(root.var, projections=PROJECTIONS, key=root.ledger_key(), clock=clock)
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
        text = root.configuration.read_text()
        statement = authority.draft(
            contract.CONFIG_SIGNED,
            contract.content(text),
            root_id=created["root_id"],
            head=ledger.head(),
            now=clock.now(),
        )
        signed = authority.sign(statement, operator)
        ledger.append([contract.sign(ledger, text, signed, now=clock.now())])
    finally:
        ledger.close()


def _give_to_boxes(*folders: Path) -> None:
    """Let boxes write the agent's folders: as root, boxes have a uid of their own."""
    try:
        identity = machine.identity()
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


def _relative(path: Path, root: DataRoot) -> str:
    return str(path.relative_to(root.path)) if path.is_relative_to(root.path) else str(path)
