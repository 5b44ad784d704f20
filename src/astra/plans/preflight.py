"""What a plan would meet if it began now: which of its paths and skills exist, and whether a model.

It is shown beside each grant and signs nothing: what is there can change until the plan runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from astra.plans.grants import absolute
from astra.plans.ports import ModelSource
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.globs import has_wildcard

_READ, _WRITE, _HOSTS, _SKILLS = "read_paths", "write_paths", "network_domains", "skills"


def _assume_nothing(_path: str) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Preflight:
    models: ModelSource
    code_repo: str
    exists: Callable[[str], bool]
    is_in_target: Callable[[str], bool] | None = None
    """Tells whether the trusted branch has a path; the agent's clone may lie behind it."""
    can_be_made: Callable[[str], bool] = _assume_nothing

    def describe_grant(self, kind: str, value: str) -> str:
        """Say what is known about one grant now; nothing where there is nothing to look at."""
        if kind == _HOSTS:
            return "not looked up yet: whoever runs the domain would see that"
        if kind == _SKILLS:
            return "exists"
        return self._describe_path(kind, value) if kind in {_READ, _WRITE} else ""

    def describe_model(self) -> dict[str, Any]:
        """Say whether there is a model to work with."""
        try:
            return {"ok": True, "detail": self.models.current().name}
        except AstraError as error:
            return {"ok": False, "detail": f"{error.detail}; {error.next_step}"}

    def _describe_path(self, kind: str, value: str) -> str:
        path = absolute(value, self.code_repo)
        if has_wildcard(path):
            return "a pattern: what matches when it runs"
        if self._is_there(value, path):
            return "exists"
        if kind == _WRITE and self.can_be_made(path):
            return "does not exist yet; it is made when the plan first runs a command"
        return "does not exist: the plan will not have it"

    def _is_there(self, value: str, path: str) -> bool:
        if self.is_in_target is None or value.startswith("/"):
            return self.exists(path)
        return self.is_in_target(value.removeprefix("./").rstrip("/"))
