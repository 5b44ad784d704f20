"""A data root on disk: its folders, its ledger's key, and its first record.

Folders directly below belong to the agent (`persona_space`, `code-repo`, `sandbox`) or are readable
by it; `var` is Astra's own and closed to everybody else.
"""

import secrets
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.file_ledger import segments
from astra.trusted.file_ledger.moved import read_place
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.kernel.errors import LedgerDamaged, NotFound
from astra.trusted.kernel.private_files import write_private
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.chain import parse
from astra.trusted.ledger.record import Record
from astra.trusted.settings.environment import read_dotenv

AGENT_FOLDERS = ("persona_space", "sandbox")
SERVER_FOLDERS = (
    "models",
    "logs",
    "generated_images",
    "conversations",
    "deployments",
    "agents",
)


@dataclass(frozen=True)
class DataRoot:
    path: Path

    @property
    def var(self) -> Path:
        return self.path / "var"

    @property
    def run(self) -> Path:
        return self.var / "run"

    @property
    def git(self) -> Path:
        return self.var / "git"

    @property
    def code_repo(self) -> Path:
        return self.path / "code-repo"

    @property
    def configuration(self) -> Path:
        return self.path / "astra.toml"

    @property
    def ledger_key_file(self) -> Path:
        return self.var / "keys" / "ledger.key"

    @property
    def log(self) -> Path:
        return self.path / "logs" / "daemon.log"

    def make_folders(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in (*AGENT_FOLDERS, *SERVER_FOLDERS):
            (self.path / name).mkdir(exist_ok=True, mode=0o755)
        for folder in (self.var, self.ledger_key_file.parent):
            folder.mkdir(exist_ok=True, mode=0o700)
        LedgerPlaces(self.var).make()

    def dotenv(self) -> str:
        return read_dotenv(self.path / ".env")

    def first_record(self) -> Record | None:
        """Read the record that created this root, without the ledger's lock."""
        if (place := read_place(self.var)) is not None:
            return place.first
        chain = LedgerPlaces(self.var).chain
        if not chain.is_dir():
            return None
        try:
            line = segments.first_line(chain)
            first = parse(line) if line else None
        except LedgerDamaged:
            return None
        if first and first.sequence != 1:
            raise LedgerDamaged(
                f"the chain of {self.path} begins with record {first.sequence}: an older month is"
                " missing, or in a form of a newer Astra",
                next_step="astra ledger verify; use the newest Astra that wrote here",
            )
        return first

    def require_first_record(self) -> Record:
        first = self.first_record()
        if first is None and self.ledger_key_file.exists():
            raise LedgerDamaged(
                f"{self.path} is a data root, and the first record of its chain cannot be read",
                next_step="keep it as it is and restore a backup; if `astra init` was cut off here,"
                " run it again",
            )
        if first is None:
            raise NotFound(
                f"there is no Astra data root at {self.path}",
                code="no_data_root",
                next_step="astra init, or name another one with --data-root",
            )
        return first

    def make_ledger_key(self) -> KeyPair:
        """Read the ledger's own key, making it the first time."""
        if not self.ledger_key_file.exists():
            write_private(self.ledger_key_file, secrets.token_bytes(32).hex().encode())
        return self.read_ledger_key()

    def read_ledger_key(self) -> KeyPair:
        try:
            return KeyPair.from_seed(bytes.fromhex(self.ledger_key_file.read_text()))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not a key"
            raise LedgerDamaged(
                f"the ledger's key {self.ledger_key_file} cannot be read: {why}",
                code="ledger_key_unreadable",
                next_step="make it readable for the daemon's user, or restore it from a backup",
            ) from None
