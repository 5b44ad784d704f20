"""The fleet as doors show it: what each instance runs, and the rollout that is under way."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from astra.deployments import views as deployment_views
from astra.deployments.fleet import events
from astra.deployments.fleet.rollout import TYPES, Phase, Rollout, fold_rollout
from astra.trusted.ledger.ports import Ledger
from astra.trusted.settings.fleet_settings import Fleet

_COLUMNS = "label, release, digest, state, since, deployment, attempt, wave, epoch, machine, reason"


@dataclass(frozen=True, kw_only=True)
class InstanceRow:
    """What was last heard of an instance."""

    label: str
    release: str
    digest: str
    state: str
    since: str
    deployment: str
    attempt: int
    wave: int
    epoch: int
    machine: str
    reason: str


def list_instances(ledger: Ledger) -> dict[str, InstanceRow]:
    return {instance.label: instance for instance in _select_instances(ledger, "label != ''")}


def find_instance(ledger: Ledger, label: str) -> InstanceRow | None:
    instances = _select_instances(ledger, "label = ?", label)
    return instances[0] if instances else None


def find_rollout(ledger: Ledger, deployment: str) -> Rollout | None:
    return fold_rollout(ledger.records_of(deployment, *sorted(TYPES)))


def require_rollout(ledger: Ledger, deployment: str) -> Rollout:
    rollout = find_rollout(ledger, deployment)
    assert rollout is not None  # noqa: S101 - the deployment's state says that there is one
    return rollout


def find_open_rollout(ledger: Ledger) -> Rollout | None:
    deployment = deployment_views.open_deployment(ledger)
    return find_rollout(ledger, deployment.id) if deployment else None


def find_newest_rollout(ledger: Ledger) -> Rollout | None:
    record = ledger.newest(events.ROLLOUT_BEGUN)
    return find_rollout(ledger, record.data["deployment"]) if record else None


def describe_fleet(ledger: Ledger, fleet: Fleet, present: AbstractSet[str]) -> dict[str, Any]:
    """Give the table of instances, and the newest rollout with its waves."""
    rows, rollout = list_instances(ledger), find_newest_rollout(ledger)
    return {
        "on": bool(fleet.instances),
        "items": [
            _describe_instance(label, rows.get(label), rollout, is_present=label in present)
            for label in fleet.instances
        ],
        "rollout": _describe_rollout(rollout) if rollout else None,
    }


def _describe_instance(
    label: str, row: InstanceRow | None, rollout: Rollout | None, *, is_present: bool
) -> dict[str, Any]:
    progress = rollout.instances.get(label) if rollout else None
    is_open = rollout is not None and rollout.phase is not Phase.OVER
    state = row.state if row else "unknown"
    if is_open and progress:
        state = str(progress.state)
    return {
        "instance": label,
        "release": row.release if row else "",
        "state": state,
        "since": row.since if row else "",
        "wave": progress.wave + 1 if progress else None,
        "attempt": progress.attempt if is_open and progress else 0,
        "epoch": row.epoch if row else 0,
        "machine": row.machine if row else "",
        "reason": row.reason if row else "",
        "present": is_present,
    }


def _describe_rollout(rollout: Rollout) -> dict[str, Any]:
    return {
        "deployment": rollout.deployment,
        "release": rollout.new.release,
        "recorded": rollout.recorded.release if rollout.recorded else None,
        "phase": str(rollout.phase),
        "wave": rollout.wave + 1,
        "waves": [list(wave) for wave in rollout.waves],
        "reason": rollout.reason,
        "instances": rollout.describe_instances(),
    }


def find_sealed_settings(ledger: Ledger, release: str) -> str:
    """Give the settings that a rollout recorded of a release, or nothing."""
    query = "SELECT id FROM deployment WHERE release = ?"
    for (deployment,) in ledger.query(query, [release]):
        for record in ledger.records_of(deployment, events.ROLLOUT_BEGUN):
            return str(record.data["settings"])
    return ""


def _select_instances(ledger: Ledger, condition: str, *parameters: str) -> list[InstanceRow]:
    query = f"SELECT {_COLUMNS} FROM fleet_instance WHERE {condition}"  # noqa: S608 - fixed text
    names = [name.strip() for name in _COLUMNS.split(",")]
    rows = ledger.query(query, parameters)
    return [InstanceRow(**dict(zip(names, row, strict=True))) for row in rows]
