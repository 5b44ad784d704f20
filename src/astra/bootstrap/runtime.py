"""A running Astra: the ledger of one data root and everything that needs it."""

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from astra import __version__
from astra.adapters.data_root import DataRoot
from astra.adapters.file_ledger import FileLedger
from astra.bootstrap import PROJECTIONS
from astra.kernel.clock import Clock, SystemClock, format_time
from astra.kernel.errors import BadSetting
from astra.ledger.record import Record
from astra.policy import authority, contract, flags
from astra.policy.authority import Keys
from astra.policy.flags import Flag
from astra.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class Runtime:
    root: DataRoot
    settings: Settings
    ledger: FileLedger
    clock: Clock
    started_at: datetime

    def keys(self) -> Keys:
        return authority.keys(self.ledger)

    def flags(self, *, off: frozenset[str] = frozenset()) -> dict[str, Flag]:
        return flags.effective(
            self.ledger,
            off=self.settings.flags_off | off,
            asked_on=self.settings.flags_asked_on,
        )

    def close(self) -> None:
        self.ledger.close()


def start(settings: Settings, *, clock: Clock | None = None) -> Runtime:
    """Take ownership of a data root and open its ledger."""
    root = DataRoot(settings.data_root)
    created = root.require()
    _refuse_moved_folders(settings, root, created)
    clock = clock or SystemClock()
    ledger = FileLedger(root.var, projections=PROJECTIONS, key=root.ledger_key(), clock=clock)
    return Runtime(root=root, settings=settings, ledger=ledger, clock=clock, started_at=clock.now())


def status(runtime: Runtime, *, off: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Describe everything that a person asks first."""
    effective = runtime.flags(off=off)
    keys = runtime.keys()
    head = runtime.ledger.head()
    return {
        "version": __version__,
        "data_root": str(runtime.root.path),
        "root_id": keys.root_id,
        "throwaway": keys.throwaway,
        "daemon": {
            "pid": os.getpid(),
            "socket": str(runtime.root.run / "astra.sock"),
            "started_at": format_time(runtime.started_at),
        },
        "flags": {name: flag.as_dict() for name, flag in effective.items()},
        "code_access": code_access(effective),
        "configuration": configuration_state(runtime),
        "stopped": False,
        "sandbox": None,
        "ledger": {
            "records": head.sequence,
            "head": head.hash,
            "time": head.time,
            "trouble": runtime.ledger.trouble,
        },
        "executor": None,
        "app": None,
        "model": None,
    }


def code_access(effective: dict[str, Flag]) -> str:
    if not effective["PERSONA_MODE_ENABLED"].on:
        return "off"
    return "write" if effective["ASTRA_CODE_WRITE_ENABLED"].on else "read"


def configuration_state(runtime: Runtime) -> str:
    """Say whether the file `astra.toml` is the configuration that counts."""
    try:
        text = runtime.root.configuration.read_text()
    except (OSError, UnicodeDecodeError):
        text = ""
    return "signed" if text == contract.signed_text(runtime.ledger) else "changed since signed"


def _refuse_moved_folders(settings: Settings, root: DataRoot, created: Record) -> None:
    """Hold the environment to the folders chosen at init: it may not point the agent elsewhere."""
    for name, given, chosen in (
        ("AGENT_CODE_REPO_PATH", settings.code_repo, created.data["code_repo"]),
        ("AGENT_SANDBOX_PATH", settings.sandbox_folder, created.data["sandbox"]),
    ):
        if given != root.path / chosen:
            raise BadSetting(
                f"{name} is {given}; this data root was made with {root.path / chosen}",
                next_step=f"unset {name}",
                key=name,
            )
