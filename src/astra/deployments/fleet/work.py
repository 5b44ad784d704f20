"""Carrying a rollout out: one step at a time, each derived from the records and appended to them.

The daemon that leads gives orders and counts proofs; it starts nothing itself. A step is appended
only on top of the records it was decided on: a proof that came meanwhile is counted first.
"""

import hashlib
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from astra.deployments import events as deployment_events
from astra.deployments import views as deployment_views
from astra.deployments.failing import MOST_TEXT, make_event, make_failure_batch
from astra.deployments.fleet import events, views
from astra.deployments.fleet.deciding import (
    BeginWave,
    FailAttempt,
    FinishRollback,
    FinishWave,
    GiveUpRollback,
    OrderInstances,
    PassOver,
    RollBack,
    Settle,
    Step,
    Wait,
    choose_step,
)
from astra.deployments.fleet.rollout import InstanceState, Rollout, Rules
from astra.deployments.fleet.stopwatch import Stopwatch
from astra.deployments.fleet.waves import plan_waves
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import Trouble
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.settings.fleet_settings import REST, Fleet
from astra.trusted.stop.machines import LeaseHolder

_STAGE = "fleet"


@dataclass(frozen=True, kw_only=True)
class FleetWork:
    ledger: Ledger
    fleet: Callable[[], Fleet]
    find_present: Callable[[], AbstractSet[str]]
    """Names the instances whose worker holds its lease now."""
    stopwatch: Stopwatch
    find_holders: Callable[[], Mapping[str, LeaseHolder]] = dict[str, LeaseHolder]
    """Names who has or had the lease of each instance, to hold proofs against."""

    def is_on(self) -> bool:
        return bool(self.fleet().instances)

    def has_rollout(self, deployment: str) -> bool:
        return bool(self.ledger.records_of(deployment, events.ROLLOUT_BEGUN))

    def preview_waves(self) -> list[list[str]]:
        """Say which waves a deployment would have now; none without a fleet."""
        fleet = self.fleet()
        if not fleet.instances:
            return []
        away = frozenset(fleet.instances) - self.find_present()
        return [list(wave) for wave in plan_waves(fleet.instances, fleet.waves, away=away)]

    def find_live_twin(self, commit: str, settings: bytes) -> Release | None:
        """Give the recorded release if it is proven and has this commit with these settings."""
        live = deployment_views.live_release(self.ledger)
        sealed = hashlib.sha256(settings).hexdigest()
        is_twin = live is not None and live.good and live.commit_id == commit
        return live if live is not None and is_twin and live.settings == sealed else None

    def describe_trouble(self) -> str:
        """Name the instances that last said that they failed, or nothing."""
        rows, labels = views.list_instances(self.ledger), self.fleet().instances
        failed = [label for label in labels if label in rows and rows[label].state == "failed"]
        return f"failed on {', '.join(failed)}: {rows[failed[0]].reason}" if failed else ""

    def begin(self, deployment: Deployment, release: Release, settings: bytes) -> bool:
        """Plan the waves with who is there now; nothing is begun that has no room to go on."""
        fleet, present = self.fleet(), self.find_present()
        away = [label for label in fleet.instances if label not in present]
        if reason := _explain_no_room(fleet, away, is_rollback=deployment.kind == "rollback"):
            return self._fail_before_orders(deployment, reason)
        data = _plan_rollout(fleet, frozenset(away), is_rollback=deployment.kind == "rollback")
        live = deployment_views.live_release(self.ledger)
        recorded = {"release": live.id, "digest": live.digest} if live else None
        data |= {"release": release.id, "digest": release.digest, "recorded": recorded}
        data |= {"settings": settings.decode()}
        self.ledger.append([make_event(events.ROLLOUT_BEGUN, deployment, data)])
        return True

    def advance(self, deployment: Deployment) -> bool:
        """Do the next step; tells whether there was one to do."""
        version = self.ledger.version(deployment.id)
        rollout = views.require_rollout(self.ledger, deployment.id)
        self.stopwatch.look(deployment.id)
        step = choose_step(
            rollout, self.find_present(), self.stopwatch.elapsed, self.find_holders()
        )
        batch = self._make_batch(deployment, rollout, step)
        if batch:
            self.ledger.append(batch, expect={deployment.id: version})
        return bool(batch)

    def _fail_before_orders(self, deployment: Deployment, reason: str) -> bool:
        trouble = Trouble(reason=reason, blamed=False)
        self.ledger.append(self._make_failure(deployment, trouble, rolls_back=False))
        return True

    def _make_batch(self, deployment: Deployment, rollout: Rollout, step: Step) -> list[Event]:
        if isinstance(step, Wait):
            return []
        if isinstance(step, RollBack):
            return self._make_rollback(deployment, rollout, step)
        return _describe_step(deployment, rollout, step)

    def _make_rollback(
        self, deployment: Deployment, rollout: Rollout, step: RollBack
    ) -> list[Event]:
        trouble = Trouble(reason=step.reason, blamed=step.blamed)
        failed = rollout.list_in(InstanceState.FAILED, InstanceState.RETRY)
        return self._make_failure(
            deployment,
            trouble,
            rolls_back=any(progress.is_touched for progress in rollout.instances.values()),
            rollback_to=rollout.recorded.release if rollout.recorded else None,
            output=failed[0].output if failed else "",
            facts={"instances": rollout.describe_instances()},
        )

    def _make_failure(
        self,
        deployment: Deployment,
        trouble: Trouble,
        *,
        rolls_back: bool,
        rollback_to: str | None = None,
        output: str = "",
        facts: dict[str, Any] | None = None,
    ) -> list[Event]:
        return make_failure_batch(
            self.ledger,
            deployment,
            trouble,
            stage=_STAGE,
            rolls_back=rolls_back,
            rollback_to=rollback_to,
            output=output,
            facts=facts,
        )


def _explain_no_room(fleet: Fleet, away: list[str], *, is_rollback: bool) -> str:
    """Say why nobody could be taken into change; a rollback takes who is there."""
    if len(away) == len(fleet.instances):
        return "no instance of the fleet has a worker: start `astra worker --instance` on each"
    if is_rollback or len(away) < fleet.max_down:
        return ""
    return (
        f"{', '.join(away)} away, and at most {fleet.max_down} may be down at once"
        " (deploy.fleet.max_down), so nobody could be taken into change"
    )[:MOST_TEXT]


def _plan_rollout(fleet: Fleet, away: frozenset[str], *, is_rollback: bool) -> dict[str, Any]:
    """Freeze waves and rules; an operator's rollback skips waves and goes everywhere at once."""
    sizes = (REST,) if is_rollback else fleet.waves
    rules = Rules(**{name: getattr(fleet, name) for name in Rules.__dataclass_fields__})
    if is_rollback:
        rules = replace(rules, max_down=len(fleet.instances))
    waves = plan_waves(fleet.instances, sizes, away=away)
    return {"waves": [list(wave) for wave in waves], "rules": dict(rules.__dict__)}


def _describe_step(deployment: Deployment, rollout: Rollout, step: Step) -> list[Event]:
    """Give the records of a step."""
    if isinstance(step, OrderInstances | PassOver):
        return [_describe_label(deployment, rollout, step, label) for label in step.labels]
    if isinstance(step, BeginWave | FinishWave):
        return [_describe_wave(deployment, rollout, step)]
    if isinstance(step, FailAttempt):
        attempt = rollout.instances[step.label].attempt
        data = {"instance": step.label, "release": rollout.new.release, "attempt": attempt}
        data |= {"epoch": 0, "reason": step.reason, "blamed": False, "said": ""}
        data |= {"forged": True} if step.forged else {}
        return [make_event(events.INSTANCE_FAILED, deployment, data)]
    return _describe_end(deployment, rollout, step)


def _describe_wave(deployment: Deployment, rollout: Rollout, step: BeginWave | FinishWave) -> Event:
    instances = list(rollout.waves[step.number])
    data = {"wave": step.number, "of": len(rollout.waves), "instances": instances}
    if isinstance(step, BeginWave):
        return make_event(events.WAVE_BEGUN, deployment, data)
    return make_event(events.WAVE_FINISHED, deployment, data)


def _describe_label(
    deployment: Deployment, rollout: Rollout, step: OrderInstances | PassOver, label: str
) -> Event:
    progress = rollout.instances[label]
    data = {"instance": label, "release": rollout.new.release, "wave": progress.wave}
    if isinstance(step, PassOver):
        data |= {"attempt": progress.attempt}
        return make_event(events.INSTANCE_PASSED_OVER, deployment, data)
    data |= {"attempt": progress.attempt + 1}
    return make_event(events.INSTANCE_ORDERED, deployment, data)


def _describe_end(deployment: Deployment, rollout: Rollout, step: Step) -> list[Event]:
    """Give the result, which names every instance."""
    result = {"instances": rollout.describe_instances()}
    if isinstance(step, GiveUpRollback):
        data = {"reason": step.reason[:MOST_TEXT], **result}
        return [make_event(deployment_events.ROLLBACK_FAILED, deployment, data)]
    new, recorded = rollout.new.release, rollout.recorded.release if rollout.recorded else None
    if isinstance(step, FinishRollback):
        data = {"release": recorded, "from": new, **result}
        return [make_event(deployment_events.ROLLED_BACK, deployment, data)]
    assert isinstance(step, Settle)  # noqa: S101 - every other step is above
    switch = {"release": new, "replaced": recorded, "backup": None, "how": "fleet"}
    return [
        make_event(deployment_events.SWITCHED, deployment, switch),
        make_event(deployment_events.SETTLED, deployment, {"release": new, **result}),
    ]
