"""A fleet without machines: records in a list, workers that behave as a test says, and time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from astra.deployments import events as deployment_events
from astra.deployments.fleet import deciding, events
from astra.deployments.fleet.deciding import Step, choose_step, list_down
from astra.deployments.fleet.rollout import (
    InstanceProgress,
    InstanceState,
    Phase,
    Rollout,
    Rules,
    fold_rollout,
)
from astra.deployments.fleet.stopwatch import Stopwatch
from astra.deployments.fleet.waves import plan_waves
from astra.trusted.ledger.record import Record

NEW, OLD = {"release": "new", "digest": "d-new"}, {"release": "old", "digest": "d-old"}
RULES = Rules(
    max_down=1,
    pause_seconds=5,
    watch_seconds=10,
    away_seconds=20,
    instance_seconds=30,
    wave_seconds=200,
    rollback_seconds=60,
)


_TYPES: dict[type[Step], str] = {
    deciding.BeginWave: events.WAVE_BEGUN,
    deciding.FinishWave: events.WAVE_FINISHED,
    deciding.OrderInstances: events.INSTANCE_ORDERED,
    deciding.PassOver: events.INSTANCE_PASSED_OVER,
    deciding.Settle: deployment_events.SETTLED,
    deciding.FinishRollback: deployment_events.ROLLED_BACK,
    deciding.GiveUpRollback: deployment_events.ROLLBACK_FAILED,
}


def make_record(number: int, type_: str, data: Mapping[str, Any]) -> Record:
    content = json.dumps({"deployment": "dep_1", **data})
    return Record(
        number,
        f"t{number:04}",
        type_,
        "test",
        "cor_1",
        "dep_1",
        None,
        1,
        (1, 1),
        content,
        "",
        "",
        "",
    )


@dataclass
class FleetWorld:
    """`behaviours` says per instance what each try does: ok, fail, blame, silent, wrong digest."""

    instances: Sequence[str]
    rules: Rules = RULES
    sizes: Sequence[str] = ("1", "25%", "rest")
    behaviours: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    away: set[str] = field(default_factory=set[str])
    stays: set[str] = field(default_factory=set[str])
    """Instances that do not go back."""
    has_recorded: bool = True
    records: list[Record] = field(default_factory=list[Record])
    steps: list[Step] = field(default_factory=list[Step])
    seconds: float = 0.0
    most_down: int = 0
    _folded: tuple[int, Rollout | None] = (0, None)

    def __post_init__(self) -> None:
        self.stopwatch = Stopwatch(lambda: self.seconds)
        waves = plan_waves(self.instances, self.sizes, away=self.away)
        begun = {**NEW, "recorded": OLD if self.has_recorded else None, "settings": "{}"}
        self.append(
            events.ROLLOUT_BEGUN, {**begun, "waves": waves, "rules": dict(self.rules.__dict__)}
        )

    @property
    def present(self) -> set[str]:
        return set(self.instances) - self.away

    @property
    def rollout(self) -> Rollout:
        if self._folded[0] != len(self.records):
            self._folded = (len(self.records), fold_rollout(self.records))
        rollout = self._folded[1]
        assert rollout is not None
        return rollout

    def append(self, type_: str, data: Mapping[str, Any]) -> None:
        self.records.append(make_record(len(self.records) + 1, type_, data))

    def tick(self) -> Step:
        """Let a second go by, do the next step, and let every worker answer what it was asked."""
        self.seconds += 1.0
        self.stopwatch.look("dep_1")
        step = choose_step(self.rollout, self.present, self.stopwatch.elapsed)
        self.steps.append(step)
        self.carry_out(step)
        if self.rollout.phase in {Phase.WAVE, Phase.WATCH} and not self.away:
            self.most_down = max(self.most_down, len(list_down(self.rollout, self.present)))
        self.answer()
        return step

    def run(self, *, seconds: int = 5_000) -> Rollout:
        for _ in range(seconds):
            self.tick()
            if self.rollout.phase is Phase.OVER:
                return self.rollout
        raise AssertionError(f"it hangs: {self.rollout}")

    def carry_out(self, step: Step) -> None:
        if isinstance(step, deciding.RollBack):
            rolls_back = any(p.is_touched for p in self.rollout.instances.values())
            failure = {"reason": step.reason, "blamed": step.blamed, "rolls_back": rolls_back}
            self.append(deployment_events.FAILED, failure)
        elif isinstance(step, deciding.FailAttempt):
            self.fail(step.label, reason=step.reason, epoch=0)
        elif isinstance(step, deciding.OrderInstances | deciding.PassOver):
            for label in step.labels:
                self.append(_TYPES[type(step)], {"instance": label})
        elif isinstance(step, deciding.BeginWave | deciding.FinishWave):
            self.append(_TYPES[type(step)], {"wave": step.number})
        elif not isinstance(step, deciding.Wait):
            self.append(_TYPES[type(step)], {})

    def answer(self) -> None:
        for progress in list(self.rollout.instances.values()):
            if progress.label in self.away:
                continue
            if progress.state is InstanceState.ORDERED:
                self._answer_order(progress.label, progress.attempt)
            if self.has_recorded and self._goes_back(progress):
                self.prove(progress.label, attempt=0, target=OLD)

    def _goes_back(self, progress: InstanceProgress) -> bool:
        return progress.state is InstanceState.RETURNING and progress.label not in self.stays

    def _answer_order(self, label: str, attempt: int) -> None:
        tries = self.behaviours.get(label, [])
        behaviour = tries[attempt - 1] if attempt <= len(tries) else "ok"
        if behaviour == "ok":
            self.prove(label, attempt=attempt, target=NEW)
        elif behaviour == "wrong digest":
            self.prove(label, attempt=attempt, target={**NEW, "digest": "another"})
        elif behaviour in {"fail", "blame"}:
            self.fail(label, reason="it crashed", blamed=behaviour == "blame")

    def prove(self, label: str, *, attempt: int, target: Mapping[str, str], epoch: int = 1) -> None:
        proof = {"instance": label, "attempt": attempt, "epoch": epoch, "health": "200"}
        self.append(events.INSTANCE_RELEASED, {**proof, **target})

    def fail(self, label: str, *, reason: str, epoch: int = 1, blamed: bool = False) -> None:
        attempt = self.rollout.instances[label].attempt
        failure = {"instance": label, "attempt": attempt, "epoch": epoch, "release": "new"}
        self.append(events.INSTANCE_FAILED, {**failure, "reason": reason, "blamed": blamed})

    def states(self) -> dict[str, str]:
        return self.rollout.describe_instances()

    def types(self) -> list[str]:
        return [record.type for record in self.records]
