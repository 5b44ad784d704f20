"""Everything that a person asks first, in one answer."""

import os
from typing import Any

from astra import __version__, flow
from astra.bootstrap.runtime import Runtime
from astra.changes import counting
from astra.interfaces.daemon.server_routes import describe_server
from astra.numbers import budget_usage
from astra.numbers.queues import queues
from astra.schedules import views as schedules
from astra.trusted.file_ledger.reserve import Reserve, free_inodes, free_space
from astra.trusted.kernel.clock import describe_time_ahead, format_time
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import authority, contract, flags


def status(
    runtime: Runtime, *, off: frozenset[str] = frozenset(), asked_on: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Describe everything that a person asks first."""
    effective = runtime.switches.flags(off=off, asked_on=asked_on)
    keys = authority.find_keys(runtime.ledger)
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
            "on_demand": runtime.dashboard.on_demand,
            "started_at": format_time(runtime.started_at),
        },
        "flags": {name: flag.as_dict() for name, flag in effective.items()},
        "code_access": flags.code_access(effective),
        "configuration": configuration_state(runtime),
        "stopped": runtime.stops.is_stopped(),
        "held": [hold.detail for hold in runtime.ledger.holds],
        "witness": witness_state(runtime),
        "notify": notify_state(runtime),
        "approvals": {"pending": len(runtime.desk.list_by_state())},
        "queues": queues(runtime.ledger, runtime.desk),
        "budgets": budget_usage.list_week_usage(runtime.ledger, now=runtime.clock.now()),
        "read_scope": str(runtime.views.current.read_scope),
        "sandbox": runtime.sandbox.state(),
        "disk": disk_state(runtime.reserve),
        "ledger": {
            "records": head.sequence,
            "head": head.hash,
            "time": head.time,
            "clock": describe_time_ahead(head.time, runtime.clock.machine.now()),
            "trouble": runtime.ledger.trouble or runtime.background.trouble(flow.QUICK),
            "next_index": runtime.installed.state,
        },
        "changes": changes_state(runtime),
        "plans": plans_state(runtime),
        "executor": executor_state(runtime),
        "app": app_state(runtime),
        "smoke": smoke_state(runtime),
        "servers": servers_state(runtime),
        "spend": runtime.spend.summarise(),
        "model": model_state(runtime),
    }


def witness_state(runtime: Runtime) -> dict[str, Any]:
    state = runtime.witness.state()
    return {**state, "trouble": state["trouble"] or runtime.background.trouble(flow.WITNESS)}


def changes_state(runtime: Runtime) -> dict[str, Any]:
    return {
        **counting.count_changes(runtime.ledger),
        "alerts": counting.list_alerts(runtime.ledger),
        "trouble": runtime.background.trouble(flow.CHANGES),
    }


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
        "running": runtime.background.count_running(flow.PLANS, flow.DRAFTS),
        "states": runtime.planning.register.counts(),
        "closed": runtime.switches.why_no_steps(),
        "trouble": runtime.background.trouble(*flow.OF_PLANS),
    }


def app_state(runtime: Runtime) -> dict[str, Any] | None:
    state = runtime.deployer.state()
    trouble = runtime.background.trouble(flow.DEPLOYMENTS)
    return state and {**state, "trouble": trouble or state["trouble"]}


def servers_state(runtime: Runtime) -> dict[str, Any]:
    """Count other MCP servers, and name those that do not run or whose tools rest."""
    entries = runtime.servers.servers().servers
    described = [describe_server(runtime, entry) for entry in entries]
    return {
        "count": len(described),
        "resting": [server["name"] for server in described if server["resting"]],
        "troubles": {
            server["name"]: server["trouble"] for server in described if server["trouble"]
        },
    }


def smoke_state(runtime: Runtime) -> dict[str, Any] | None:
    """Sum up the last smoke run; None where there was none."""
    last = runtime.smoke.find_last()
    failed_names = [item.name for item in last.items if not item.ok] if last else []
    return last and {"id": last.id, "at": last.at, "ok": last.ok, "failed": failed_names}


def model_state(runtime: Runtime) -> str | None:
    """Name the model that is configured, or say what is wrong with it."""
    models = runtime.planning.drafting.models
    try:
        return models.current().name if models.configured() else None
    except AstraError as error:
        return error.detail


def disk_state(reserve: Reserve) -> dict[str, Any]:
    free_bytes, floor = free_space(reserve.var)
    inodes = free_inodes(reserve.var)
    return {
        "inodes": inodes[0] if inodes else None,
        "free": free_bytes,
        "floor": floor,
        "low": reserve.is_low(),
        "reserve": "used up" if reserve.is_out() else "held",
    }


def notify_state(runtime: Runtime) -> dict[str, Any]:
    """Name the channels people are told through, those without an address; count the devices."""
    known_names = runtime.channels.current().names
    signed_names = contract.read_configuration(runtime.ledger).notify.channels
    missing_names = [name for name in signed_names if name not in known_names]
    return {
        "channels": [*known_names],
        "missing": missing_names,
        "devices": len(runtime.devices.list_devices()),
    }


def configuration_state(runtime: Runtime) -> str:
    """Say whether the file `astra.toml` is the configuration that counts."""
    try:
        text = runtime.root.configuration.read_text()
    except (OSError, UnicodeDecodeError):
        text = ""
    return "signed" if text == contract.signed_text(runtime.ledger) else "changed since signed"
