"""Everything that a person asks first, in one answer."""

import os
from typing import Any

from astra import __version__
from astra.bootstrap.queues import queues
from astra.bootstrap.runtime import Runtime
from astra.trusted.file_ledger.reserve import Reserve, free_inodes, free_space
from astra.trusted.kernel.clock import format_time, time_ahead
from astra.trusted.kernel.errors import AstraError, BadSetting
from astra.trusted.policy import budgets, contract, flags


def status(
    runtime: Runtime, *, off: frozenset[str] = frozenset(), asked_on: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Describe everything that a person asks first."""
    effective = runtime.switches.flags(off=off, asked_on=asked_on)
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
            "url": runtime.url,
            "port": runtime.port,
            "started_at": format_time(runtime.started_at),
        },
        "flags": {name: flag.as_dict() for name, flag in effective.items()},
        "code_access": flags.code_access(effective),
        "configuration": configuration_state(runtime),
        "stopped": runtime.stopped(),
        "notify": notify_state(runtime),
        "approvals": {"pending": len(runtime.desk.listed())},
        "queues": queues(runtime.ledger, runtime.desk),
        "budgets": budgets.week(runtime.ledger, now=runtime.clock.now()),
        "read_scope": str(runtime.views.read_scope),
        "sandbox": runtime.sandbox.state(),
        "disk": disk_state(runtime.reserve),
        "ledger": {
            "records": head.sequence,
            "head": head.hash,
            "time": head.time,
            "clock": time_ahead(head.time, runtime.clock.now()),
            "trouble": runtime.ledger.trouble or runtime.steps.trouble,
        },
        "changes": {
            **runtime.changes.book.counters(),
            "alerts": runtime.changes.book.alerts(),
            "trouble": runtime.change_steps.trouble,
        },
        "plans": runtime.workers.state(),
        "executor": {**runtime.scheduler.state(), "closed": runtime.switches.why_no_firings()},
        "app": runtime.deployer.state(),
        "model": model_state(runtime),
    }


def model_state(runtime: Runtime) -> str | None:
    """Name the model that is configured, or say what is wrong with it."""
    models = runtime.planning.drafting.models
    try:
        return models.current().name if models.configured() else None
    except AstraError as error:
        return error.detail


def disk_state(reserve: Reserve) -> dict[str, Any]:
    free, floor = free_space(reserve.var)
    inodes = free_inodes(reserve.var)
    return {
        "inodes": inodes[0] if inodes else None,
        "free": free,
        "floor": floor,
        "low": reserve.is_low(),
        "reserve": "used up" if reserve.is_out() else "held",
    }


def notify_state(runtime: Runtime) -> dict[str, Any]:
    """Name the channels people are told through, those without an address; count the devices."""
    try:
        known = runtime.channels().names
    except BadSetting:  # a `.env` that cannot be read; whoever looks is told so beside this
        known = ()
    signed = contract.in_force(runtime.ledger).notify.channels
    missing = [name for name in signed if name not in known]
    return {"channels": [*known], "missing": missing, "devices": len(runtime.devices.listed())}


def configuration_state(runtime: Runtime) -> str:
    """Say whether the file `astra.toml` is the configuration that counts."""
    try:
        text = runtime.root.configuration.read_text()
    except (OSError, UnicodeDecodeError):
        text = ""
    return "signed" if text == contract.signed_text(runtime.ledger) else "changed since signed"
