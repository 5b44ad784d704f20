"""Fakes for plans: files without a disk, and a source of models that a test fills."""

from collections.abc import Mapping

from astra.plans.ports import Model, NoModel
from astra.spend.model import NOBODY, Account


class MemoryPlanFiles:
    """Plan files without a disk."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def write(self, agent_id: str, files: Mapping[str, str]) -> None:
        self.files |= {f"{agent_id}/{name}": text for name, text in files.items()}

    def read(self, agent_id: str, name: str) -> str | None:
        return self.files.get(f"{agent_id}/{name}")

    def write_allowlist(self, text: str) -> None:
        self.files[""] = text

    def read_allowlist(self) -> str | None:
        return self.files.get("")


class OneModel:
    """A source of models with the one a test puts there, or none."""

    def __init__(self) -> None:
        self.model: Model | None = None
        self.account = NOBODY

    def configured(self) -> bool:
        return self.model is not None

    def current(self, account: Account = NOBODY) -> Model:
        self.account = account
        if self.model is None:
            raise NoModel("no model is configured", next_step="set [model] in astra.toml")
        return self.model
