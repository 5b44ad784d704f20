"""Everything that a person asks first, in one answer."""

import os
from typing import Any

from astra import __version__, flow
from astra.bootstrap.runtime import Runtime
from astra.numbers.queues import queues
from astra.schedules import views as schedules
from astra.trusted.file_ledger.reserve import Reserve, free_inodes, free_space
from astra.trusted.kernel.clock import format_time, time_ahead
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import authority, budgets, contract, flags


def status(
    runtime: Runtime, *, off: frozenset[str] = frozenset(), asked_on: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Describe everything that a person asks first."""
    effective = runtime.switches.flags(off=off, asked_on=asked_on)
    keys = authority.keys(runtime.ledger)
    head = runtime.ledger.head()
    return {
        "version": __version__,
        "data_root": str(runtime.root.path),
        "root_id": keys.root_id,
        "throwaway": keys.throwaway,
        "daemon": {
            "pid": os.getpid(),
            "socket": str(runtime.root.run / "astra.sock"),
            "url": runtime.dashboard.url,
            "port": runtime.dashboard.port,
            "started_at": format_time(runtime.started_at),
        },
        "flags": {name: flag.as_dict() for name, flag in effective.items()},
        "code_access": flags.code_access(effective),
        "configuration": configuration_state(runtime),
        "stopped": runtime.stops.stopped(),
        "held": [hold.detail for hold in runtime.ledger.holds],
        "witness": witness_state(runtime),
        "notify": notify_state(runtime),
        "approvals": {"pending": len(runtime.desk.listed())},
        "queues": queues(runtime.ledger, runtime.desk),
        "budgets": budgets.week(runtime.ledger, now=runtime.clock.now()),
        "read_scope": str(runtime.views.current.read_scope),
        "sandbox": runtime.sandbox.state(),
        "disk": disk_state(runtime.reserve),
        "ledger": {
            "records": head.sequence,
            "head": head.hash,
            "time": head.time,
            "clock": time_ahead(head.time, runtime.clock.machine.now()),
            "trouble": runtime.ledger.trouble or runtime.background.trouble(flow.QUICK),
        },
        "changes": {
            **runtime.changes.book.counters(),
            "alerts": runtime.changes.book.alerts(),
            "trouble": runtime.background.trouble(flow.CHANGES),
        },
        "plans": plans_state(runtime),
        "executor": executor_state(runtime),
        "app": app_state(runtime),
        "model": model_state(runtime),
    }


def witness_state(runtime: Runtime) -> dict[str, Any]:
    state = runtime.witness.state()
    return {**state, "trouble": state["trouble"] or runtime.background.trouble(flow.WITNESS)}


def executor_state(runtime: Runtime) -> dict[str, Any]:
    return {
        **schedules.counts(runtime.ledger),
        "running": runtime.firings.claimed,
        "next_due": runtime.executor.next_due(),
        "trouble": runtime.background.trouble(flow.FIRINGS, flow.JOBS),
        "closed": runtime.switches.why_no_firings(),
    }


def plans_state(runtime: Runtime) -> dict[str, Any]:
    return {
        "running": runtime.background.running(flow.PLANS, flow.DRAFTS),
        "states": runtime.planning.register.counts(),
        "closed": runtime.switches.why_no_steps(),
        "trouble": runtime.background.trouble(*flow.OF_PLANS),
    }


def app_state(runtime: Runtime) -> dict[str, Any] | None:
    state = runtime.deployer.state()
    trouble = runtime.background.trouble(flow.DEPLOYMENTS)
    return state and {**state, "trouble": trouble or state["trouble"]}


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
    known = runtime.channels.current().names
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
