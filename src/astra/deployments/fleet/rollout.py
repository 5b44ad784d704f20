"""A rollout as its records tell it: a pure fold, the same at every daemon and after every crash.

| state of an instance | what it means                                                      |
|----------------------|--------------------------------------------------------------------|
| waiting              | its wave has not ordered it yet; it has the recorded release       |
| ordered              | its worker is to bring the new release up and to prove it          |
| released             | its worker proved the new release                                  |
| retry                | it failed once and gets one more try                               |
| failed               | it failed twice: the rollout goes back                             |
| passed_over          | it was away when its wave went; it gets what is recorded later     |
| returning            | it had the new release ordered and is to go back                   |
| back                 | its worker proved the recorded release after the failure           |

An instance counts as released by a proof only: the release that was ordered, its digest, a good
look at its health, the attempt that was ordered, and an epoch no older than any seen of it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from astra.deployments import events as deployment_events
from astra.deployments.fleet import events
from astra.trusted.ledger.record import Record

MOST_ATTEMPTS = 2
"""The first try and one replacement."""


class InstanceState(StrEnum):
    WAITING = "waiting"
    ORDERED = "ordered"
    RELEASED = "released"
    RETRY = "retry"
    FAILED = "failed"
    PASSED_OVER = "passed_over"
    RETURNING = "returning"
    BACK = "back"


class Phase(StrEnum):
    WAVE = "wave"
    WATCH = "watch"
    ROLLING_BACK = "rolling_back"
    OVER = "over"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What was signed when the rollout began; signing anew changes none that is under way."""

    max_down: int = 1
    pause_seconds: int = 0
    watch_seconds: int = 60
    away_seconds: int = 60
    instance_seconds: int = 600
    wave_seconds: int = 3_600
    rollback_seconds: int = 900

    @staticmethod
    def read(fields: Mapping[str, Any]) -> "Rules":
        return Rules(**{name: int(fields[name]) for name in Rules.__dataclass_fields__})


@dataclass(frozen=True, kw_only=True)
class InstanceProgress:
    label: str
    wave: int
    state: InstanceState = InstanceState.WAITING
    attempt: int = 0
    epoch: int = 0
    machine: str = ""
    """Who proved it, as the proof says."""
    since: str = ""
    reason: str = ""
    blamed: bool = False
    output: str = ""
    """The end of what the app printed before it failed."""

    @property
    def is_touched(self) -> bool:
        """Tell whether it may have anything of the new release."""
        return self.attempt > 0


@dataclass(frozen=True, kw_only=True)
class Target:
    """A release as its proof has to name it."""

    release: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Rollout:
    deployment: str
    new: Target
    recorded: Target | None
    """What every instance goes back to; None where nothing was ever recorded as live."""
    waves: tuple[tuple[str, ...], ...]
    rules: Rules
    instances: Mapping[str, InstanceProgress]
    settings: str = ""
    """The settings that the release was sealed with, to build it on other machines."""
    phase: Phase = Phase.WAVE
    wave: int = -1
    """The wave that is under way, from 0; -1 before the first."""
    times_watched: int = 0
    reason: str = ""

    def list_in(self, *states: InstanceState) -> list[InstanceProgress]:
        return [progress for progress in self.instances.values() if progress.state in states]

    def describe_instances(self) -> dict[str, str]:
        """Name every instance with its state, for the result."""
        return {label: str(progress.state) for label, progress in self.instances.items()}


def fold_rollout(records: Iterable[Record]) -> Rollout | None:
    """Give the rollout that a deployment's records tell of; None where it has none."""
    rollout: Rollout | None = None
    for record in records:
        if record.type == events.ROLLOUT_BEGUN:
            rollout = _begin_rollout(record)
        elif rollout is not None and record.type in _EFFECTS:
            rollout = _EFFECTS[record.type](rollout, record)
    return rollout


def _begin_rollout(record: Record) -> Rollout:
    data = record.data
    waves = tuple(tuple(wave) for wave in data["waves"])
    recorded = data["recorded"]
    return Rollout(
        deployment=data["deployment"],
        new=Target(release=data["release"], digest=data["digest"]),
        recorded=Target(**recorded) if recorded else None,
        waves=waves,
        rules=Rules.read(data["rules"]),
        settings=data["settings"],
        instances={
            label: InstanceProgress(label=label, wave=number, since=record.time)
            for number, wave in enumerate(waves)
            for label in wave
        },
    )


def _begin_wave(rollout: Rollout, record: Record) -> Rollout:
    if rollout.phase not in {Phase.WAVE, Phase.WATCH} or record.data["wave"] != rollout.wave + 1:
        return rollout
    return replace(rollout, wave=rollout.wave + 1, phase=Phase.WAVE)


def _finish_wave(rollout: Rollout, record: Record) -> Rollout:
    if rollout.phase is not Phase.WAVE or record.data["wave"] != rollout.wave:
        return rollout
    return replace(rollout, phase=Phase.WATCH, times_watched=rollout.times_watched + 1)


def _order_instance(rollout: Rollout, record: Record) -> Rollout:
    progress = rollout.instances.get(record.data["instance"])
    if progress is None or progress.state not in {InstanceState.WAITING, InstanceState.RETRY}:
        return rollout
    return _move_instance(
        rollout, progress, record, state=InstanceState.ORDERED, attempt=progress.attempt + 1
    )


def _pass_over(rollout: Rollout, record: Record) -> Rollout:
    progress = rollout.instances.get(record.data["instance"])
    if progress is None or progress.state is not InstanceState.WAITING:
        return rollout
    return _move_instance(rollout, progress, record, state=InstanceState.PASSED_OVER)


def _count_proof(rollout: Rollout, record: Record) -> Rollout:
    progress = rollout.instances.get(record.data["instance"])
    if progress is None or not _is_proof(rollout, progress, record.data):
        return rollout
    state = InstanceState.RELEASED
    if progress.state is InstanceState.RETURNING:
        state = InstanceState.BACK
    facts = {"epoch": int(record.data["epoch"]), "machine": str(record.data.get("machine", ""))}
    return _move_instance(rollout, progress, record, state=state, reason="", **facts)


def _is_proof(rollout: Rollout, progress: InstanceProgress, data: Mapping[str, Any]) -> bool:
    """Tell whether a record proves what this instance was asked for, and nothing older."""
    returns = progress.state is InstanceState.RETURNING
    if not returns and progress.state is not InstanceState.ORDERED:
        return False
    target = rollout.recorded if returns else rollout.new
    attempt = 0 if returns else progress.attempt
    return (
        target is not None
        and data["release"] == target.release
        and data["digest"] == target.digest
        and data["attempt"] == attempt
        and bool(data["health"])
        and int(data["epoch"]) >= max(progress.epoch, 1)
    )


def _count_failure(rollout: Rollout, record: Record) -> Rollout:
    data = record.data
    progress = rollout.instances.get(data["instance"])
    is_current = progress is not None and data["attempt"] == progress.attempt
    if progress is None or not is_current or not _may_fail(progress, data):
        return rollout
    is_last = progress.attempt >= MOST_ATTEMPTS
    state = InstanceState.FAILED if is_last else InstanceState.RETRY
    rollout = _move_instance(
        rollout,
        progress,
        record,
        state=state,
        reason=data["reason"],
        blamed=bool(data["blamed"]),
        output=str(data.get("said", "")),
        # An epoch that was made up must not outdo the true ones that follow.
        epoch=0 if data.get("forged") else max(progress.epoch, int(data["epoch"])),
    )
    return replace(rollout, phase=Phase.WAVE)


def _may_fail(progress: InstanceProgress, data: Mapping[str, Any]) -> bool:
    """Tell whether a failure speaks of the present: epoch 0 is the daemon's own word."""
    is_active = progress.state in {InstanceState.ORDERED, InstanceState.RELEASED}
    return is_active and (data["epoch"] == 0 or data["epoch"] >= progress.epoch)


def _fail_rollout(rollout: Rollout, record: Record) -> Rollout:
    """Begin to go back: everywhere where the new release was ordered, also where it was proven."""
    instances = {
        label: replace(progress, state=InstanceState.RETURNING, since=record.time)
        if progress.is_touched
        else progress
        for label, progress in rollout.instances.items()
    }
    phase = Phase.ROLLING_BACK if record.data["rolls_back"] else Phase.OVER
    return replace(rollout, instances=instances, phase=phase, reason=record.data["reason"])


def _end_rollout(rollout: Rollout, record: Record) -> Rollout:  # noqa: ARG001 - as every effect
    return replace(rollout, phase=Phase.OVER)


def _move_instance(
    rollout: Rollout, progress: InstanceProgress, record: Record, **fields: Any
) -> Rollout:
    instance = replace(progress, since=record.time, **fields)
    return replace(rollout, instances={**rollout.instances, progress.label: instance})


_EFFECTS: dict[str, Callable[[Rollout, Record], Rollout]] = {
    events.WAVE_BEGUN: _begin_wave,
    events.WAVE_FINISHED: _finish_wave,
    events.INSTANCE_ORDERED: _order_instance,
    events.INSTANCE_PASSED_OVER: _pass_over,
    events.INSTANCE_RELEASED: _count_proof,
    events.INSTANCE_FAILED: _count_failure,
    deployment_events.FAILED: _fail_rollout,
    deployment_events.SETTLED: _end_rollout,
    deployment_events.ROLLED_BACK: _end_rollout,
    deployment_events.ROLLBACK_FAILED: _end_rollout,
}
TYPES = frozenset({events.ROLLOUT_BEGUN, *_EFFECTS})
