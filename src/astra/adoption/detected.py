"""What was found out about a repository: values only, each with the file that said so."""

from dataclasses import dataclass
from typing import Any

from astra.adoption.other_locks import OtherLock


@dataclass(frozen=True, kw_only=True)
class DetectedApp:
    """How the app seems to be started; `command` may hold `{port}`."""

    command: str
    health_path: str = "/"
    because: str = ""
    listens: bool = True
    """False for a worker, which has no port."""
    parts: tuple[tuple[str, str], ...] = ()
    """Name and command of every other process."""
    before_start: str = ""
    env: tuple[tuple[str, str], ...] = ()
    is_installed: bool = False
    """Whether its program is there only once the project itself is installed."""


@dataclass(frozen=True, kw_only=True)
class Detected:
    language: str = ""
    versions: str = ""
    """What the repository itself says about versions of its language."""
    runner: str = ""
    test_command: str = ""
    test_paths: tuple[str, ...] = ()
    environment: str = ""
    packages: tuple[str, ...] = ()
    """What the environment gets besides."""
    other_lock: OtherLock | None = None
    """A lock file that "auto" does not read."""
    app: DetectedApp | None = None
    because: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What could not be told, in words for the operator."""

    @property
    def has_commands(self) -> bool:
        return bool(self.test_command or self.environment or self.app)

    def as_dict(self) -> dict[str, Any]:
        app = self.app
        return {
            "language": self.language,
            "versions": self.versions,
            "runner": self.runner,
            "test_command": self.test_command,
            "test_paths": list(self.test_paths),
            "environment": self.environment,
            "other_lock": self.other_lock.path if self.other_lock else "",
            "app": {"command": app.command, "health_path": app.health_path} if app else None,
            "because": list(self.because),
            "missing": list(self.missing),
        }


NOTHING = Detected()
