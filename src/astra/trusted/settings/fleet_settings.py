"""`[deploy.fleet]` of `astra.toml`: an app on several instances, released in waves.

An instance is a label that a worker is started with (`astra worker --instance web-1`), never an
address. Without instances there is no fleet, and the app runs on one machine.

>>> Fleet(instances=("web-1", "web-2")).waves
('1', '25%', 'rest')
"""

import re
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadSetting

REST = "rest"
_LABEL = re.compile(r"[a-z][a-z0-9-]{0,40}")
_SIZE = re.compile(r"[1-9]\d{0,2}|(?:[1-9]\d?|100)%")
_MOST_INSTANCES = 200
_LONGEST = 86_400


@dataclass(frozen=True, kw_only=True)
class Fleet:
    instances: tuple[str, ...] = ()
    """Labels of the instances, in the order in which they are released."""
    waves: tuple[str, ...] = ("1", "25%", REST)
    """The size of each wave: a number, a share of the fleet, or "rest" at the end."""
    max_down: int = 1
    """How many instances may be in change or away at once while a release goes out."""
    pause_seconds: int = 0
    """How long nothing happens between a wave that stayed healthy and the next one."""
    watch_seconds: int = 60
    """How long a wave is watched after its last instance was released."""
    away_seconds: int = 60
    """How long a wave waits for an instance whose worker is not there."""
    instance_seconds: int = 600
    """How long one instance may take to prove a release."""
    wave_seconds: int = 3_600
    """How long a wave may take altogether."""
    rollback_seconds: int = 900
    """How long going back may take before it counts as failed."""

    def __post_init__(self) -> None:
        for label in self.instances:
            if not _LABEL.fullmatch(label):
                _refuse("instances", f"{label[:50]!a} is no label", 'labels such as "web-1"')
        if len(set(self.instances)) != len(self.instances):
            _refuse("instances", "a label is there twice", "each label once")
        if len(self.instances) > _MOST_INSTANCES:
            _refuse("instances", "there are too many", f"{_MOST_INSTANCES} labels at most")
        self._check_waves()
        self._check_numbers()

    def _check_waves(self) -> None:
        sizes = self.waves[:-1] if self.waves[-1:] == (REST,) else self.waves
        for size in sizes:
            if not _SIZE.fullmatch(size):
                accepted = 'sizes such as "1", "25%" and, last, "rest"'
                _refuse("waves", f"{size[:50]!a} is no size of a wave", accepted)

    def _check_numbers(self) -> None:
        if not 1 <= self.max_down <= _MOST_INSTANCES:
            _refuse("max_down", f"{self.max_down} instances", f"1 to {_MOST_INSTANCES}")
        for name in ("away", "instance", "wave", "rollback", "watch", "pause"):
            seconds = getattr(self, f"{name}_seconds")
            least = 0 if name in {"watch", "pause"} else 1
            if not least <= seconds <= _LONGEST:
                _refuse(f"{name}_seconds", f"{seconds} seconds", f"{least} to {_LONGEST}")


def _refuse(name: str, problem: str, accepted: str) -> None:
    raise BadSetting(
        f"deploy.fleet.{name}: {problem}; accepted: {accepted}",
        next_step=f"mend deploy.fleet.{name} in astra.toml",
        key=f"deploy.fleet.{name}",
    )
