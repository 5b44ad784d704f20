"""What a rollout does next: a pure function of its state, of who is there, and of time gone by.

Nobody waits for ever. Every state has a deadline in the signed rules, and its end means going back:

| waits for                            | at most            | then                        |
|--------------------------------------|--------------------|-----------------------------|
| the proof of an instance             | `instance_seconds` | that try failed             |
| an instance that failed and is away  | `away_seconds`     | go back                     |
| an instance that is away             | `away_seconds`     | passed over                 |
| a wave                               | `wave_seconds`     | go back                     |
| the watch and the pause after a wave | their own seconds  | the next wave, or settled   |
| instances that go back               | `rollback_seconds` | the rollback failed; told   |

Never more than `max_down` instances are in change or away at once. Going back asks nobody: every
instance goes at once.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from astra.deployments.fleet.rollout import (
    InstanceProgress,
    InstanceState,
    Phase,
    Rollout,
)
from astra.trusted.stop.machines import LeaseHolder

Elapsed = Callable[[str], float]
"""Says for how many seconds something has been waited for; asking for the first time begins it."""
_UNRESOLVED = (InstanceState.WAITING, InstanceState.RETRY, InstanceState.ORDERED)


@dataclass(frozen=True, kw_only=True)
class Wait:
    reason: str


@dataclass(frozen=True, kw_only=True)
class BeginWave:
    number: int


@dataclass(frozen=True, kw_only=True)
class OrderInstances:
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PassOver:
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FailAttempt:
    """The daemon's own word that a try failed, where a worker gave none in time."""

    label: str
    reason: str
    forged: bool = False
    """Whether its proof was of a term that nobody had."""


@dataclass(frozen=True, kw_only=True)
class FinishWave:
    number: int


@dataclass(frozen=True, kw_only=True)
class Settle:
    pass


@dataclass(frozen=True, kw_only=True)
class RollBack:
    reason: str
    blamed: bool


@dataclass(frozen=True, kw_only=True)
class FinishRollback:
    pass


@dataclass(frozen=True, kw_only=True)
class GiveUpRollback:
    reason: str


Step = (
    Wait
    | BeginWave
    | OrderInstances
    | PassOver
    | FailAttempt
    | FinishWave
    | Settle
    | RollBack
    | FinishRollback
    | GiveUpRollback
)


def choose_step(
    rollout: Rollout,
    present: AbstractSet[str],
    elapsed: Elapsed,
    holders: Mapping[str, LeaseHolder] | None = None,
) -> Step:
    """Give the one thing to do now; `present` are the instances whose worker is there.

    `holders` are those who have or had the lease of each instance, where that is known.
    """
    return _find_forged(rollout, holders or {}) or _choose_by_phase(rollout, present, elapsed)


def _choose_by_phase(rollout: Rollout, present: AbstractSet[str], elapsed: Elapsed) -> Step:
    if rollout.phase is Phase.OVER:
        return Wait(reason="it is over")
    if rollout.phase is Phase.ROLLING_BACK:
        return _choose_way_back(rollout, present, elapsed)
    if failed := rollout.list_in(InstanceState.FAILED):
        return _roll_back_for(failed[0])
    if rollout.wave < 0:
        return BeginWave(number=0)
    if rollout.phase is Phase.WATCH:
        return _choose_after_watch(rollout, elapsed)
    return _choose_in_wave(rollout, present, elapsed)


def _find_forged(rollout: Rollout, holders: Mapping[str, LeaseHolder]) -> FailAttempt | None:
    """Find a proof of a term that its instance never had, or that another machine had."""
    if rollout.phase in {Phase.OVER, Phase.ROLLING_BACK}:
        return None
    for progress in rollout.list_in(InstanceState.RELEASED):
        holder = holders.get(progress.label)
        if holder is None:
            continue
        is_of_another = progress.epoch == holder.epoch and progress.machine != holder.machine
        if progress.epoch > holder.epoch or is_of_another:
            reason = (
                f"its proof is of epoch {progress.epoch} by {progress.machine}; the lease is at"
                f" epoch {holder.epoch}, held by {holder.machine}"
            )
            return FailAttempt(label=progress.label, reason=reason, forged=True)
    return None


def list_down(rollout: Rollout, present: AbstractSet[str]) -> set[str]:
    """List who does not count as serving: in change, failed, or away."""
    changing = rollout.list_in(InstanceState.ORDERED, InstanceState.RETRY)
    return {progress.label for progress in changing} | (set(rollout.instances) - present)


def _choose_in_wave(rollout: Rollout, present: AbstractSet[str], elapsed: Elapsed) -> Step:
    number, rules = rollout.wave, rollout.rules
    wave_elapsed = elapsed(f"wave {number}")
    unresolved = [progress for progress in rollout.list_in(*_UNRESOLVED) if progress.wave <= number]
    if not unresolved:
        return _close_wave(rollout)
    if overdue := _find_overdue(rollout, unresolved, present, elapsed):
        return overdue
    if wave_elapsed >= rules.wave_seconds:
        labels = ", ".join(progress.label for progress in unresolved)
        reason = f"wave {number + 1} was not over after {rules.wave_seconds} s: {labels}"
        return RollBack(reason=reason, blamed=False)
    absent = _list_absent(unresolved, present)
    if absent and wave_elapsed >= rules.away_seconds:
        return PassOver(labels=absent)
    if labels := _list_orderable(rollout, unresolved, present):
        return OrderInstances(labels=labels)
    waited_for = ", ".join(progress.label for progress in unresolved)
    return Wait(reason=f"wave {number + 1}: {waited_for}")


def _close_wave(rollout: Rollout) -> Step:
    """End a wave; one that nobody proved the release in, so far, proves nothing."""
    if rollout.list_in(InstanceState.RELEASED):
        return FinishWave(number=rollout.wave)
    reason = f"wave {rollout.wave + 1} had no instance that was there to prove the release"
    return RollBack(reason=reason, blamed=False)


def _find_overdue(
    rollout: Rollout,
    unresolved: Sequence[InstanceProgress],
    present: AbstractSet[str],
    elapsed: Elapsed,
) -> Step | None:
    for progress in unresolved:
        key = f"{progress.state} {progress.label} {progress.attempt}"
        if progress.state is InstanceState.ORDERED:
            limit = rollout.rules.instance_seconds
            if elapsed(key) >= limit:
                presence = "its worker is there" if progress.label in present else "it is away"
                reason = f"no proof of the release after {limit} s; {presence}"
                return FailAttempt(label=progress.label, reason=reason)
        elif progress.state is InstanceState.RETRY and progress.label not in present:
            limit = rollout.rules.away_seconds
            if elapsed(key) >= limit:
                reason = f"{progress.label} failed and was away for {limit} s after it"
                return RollBack(reason=f"{reason}: {progress.reason}", blamed=progress.blamed)
    return None


def _list_absent(
    unresolved: Sequence[InstanceProgress], present: AbstractSet[str]
) -> tuple[str, ...]:
    return tuple(
        progress.label
        for progress in unresolved
        if progress.state is InstanceState.WAITING and progress.label not in present
    )


def _list_orderable(
    rollout: Rollout, unresolved: Sequence[InstanceProgress], present: AbstractSet[str]
) -> tuple[str, ...]:
    """List who may be taken into change now; a retry is in change already and adds nobody."""
    down = list_down(rollout, present)
    room = rollout.rules.max_down - len(down)
    ready = [progress for progress in unresolved if progress.label in present]
    retries = [p.label for p in ready if p.state is InstanceState.RETRY and room >= 0]
    newcomers = [p.label for p in ready if p.state is InstanceState.WAITING]
    return (*retries, *newcomers[: max(room, 0)])


def _choose_after_watch(rollout: Rollout, elapsed: Elapsed) -> Step:
    rules, is_last = rollout.rules, rollout.wave == len(rollout.waves) - 1
    limit = rules.watch_seconds + (0 if is_last else rules.pause_seconds)
    if elapsed(f"watch {rollout.wave} {rollout.times_watched}") < limit:
        return Wait(reason=f"watching wave {rollout.wave + 1}")
    return Settle() if is_last else BeginWave(number=rollout.wave + 1)


def _roll_back_for(progress: InstanceProgress) -> RollBack:
    reason = f"{progress.label} failed {progress.attempt} times: {progress.reason}"
    return RollBack(reason=reason, blamed=progress.blamed)


def _choose_way_back(rollout: Rollout, present: AbstractSet[str], elapsed: Elapsed) -> Step:
    gone_by = elapsed("rolling back")
    pending = [progress.label for progress in rollout.list_in(InstanceState.RETURNING)]
    if rollout.recorded is None:
        return GiveUpRollback(reason="there is no proven release to go back to")
    if not pending:
        return FinishRollback()
    is_anybody_there = any(label in present for label in pending)
    if not is_anybody_there and gone_by >= rollout.rules.away_seconds:
        return FinishRollback()
    if gone_by >= rollout.rules.rollback_seconds:
        reason = f"not back after {rollout.rules.rollback_seconds} s: {', '.join(pending)}"
        return GiveUpRollback(reason=reason)
    return Wait(reason=f"going back: {', '.join(pending)}")
