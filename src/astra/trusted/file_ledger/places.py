"""Where a ledger keeps its parts."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LedgerPlaces:
    """Where a ledger keeps its parts below a data root's `var`."""

    var: Path

    @property
    def chain(self) -> Path:
        return self.var / "ledger"

    @property
    def index(self) -> Path:
        return self.var / "index"

    @property
    def checkpoints(self) -> Path:
        return self.var / "checkpoints" / "checkpoints.ndjson"

    @property
    def set_aside(self) -> Path:
        return self.var / "set-aside"

    @property
    def lock(self) -> Path:
        return self.var / "run" / "owner.lock"

    def make(self) -> None:
        for folder in (
            self.chain,
            self.index,
            self.checkpoints.parent,
            self.set_aside,
            self.lock.parent,
        ):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
