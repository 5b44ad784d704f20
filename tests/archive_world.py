"""A data root with three months of records, the first two of which can be archived."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astra.adapters.ledger_archive import LedgerArchive, Order
from astra.testing import SetClock
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.remainder import ARCHIVED
from astra.trusted.ledger.verification import Report
from astra.trusted.policy import authority

ROOT_ID = "root_0000000000000001"
MONTHS = ("2026-03", "2026-04")


@dataclass
class ArchiveWorld:
    folder: Path
    clock: SetClock = field(default_factory=SetClock)
    operator: KeyPair = field(default_factory=KeyPair.generate)

    @property
    def root(self) -> DataRoot:
        return DataRoot(self.folder / "root")

    @property
    def chain(self) -> Path:
        return self.root.var / "ledger"

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def archived_files(self) -> Path:
        return self.archive / ROOT_ID

    @contextmanager
    def opened(self) -> Iterator[FileLedger]:
        ledger = FileLedger(self.root.var, key=self.root.make_ledger_key(), clock=self.clock)
        try:
            yield ledger
        finally:
            ledger.close()

    def fill(self) -> None:
        """Write three months: the root's first record, reads, and things that happened."""
        self.root.make_folders()
        self.archive.mkdir()
        created = {
            "root_id": ROOT_ID,
            "throwaway": True,
            "operator_key": self.operator.public,
            "recovery_key": KeyPair.generate().public,
            "ledger_key": self.root.make_ledger_key().public,
        }
        with self.opened() as ledger:
            ledger.append([Event(type=authority.ROOT_CREATED, actor="operator", data=created)])
            for _ in range(3):
                for number in range(20):
                    data = {"tool": "read_file", "arguments": {"path": f"{number}.py"}}
                    ledger.append([Event(type="tool_called", actor="agent", data=data)])
                    ledger.append([Event(type="thing_happened", actor="agent", data={"n": number})])
                self.clock.advance(days=31)
            ledger.append([Event(type="thing_happened", actor="agent", data={"n": 99})])
            ledger.compress_finished()

    def order(self, **changes: Any) -> Order:
        return Order(**{"before": "2026-05", "to": str(self.archive), **changes})

    def sign(self, ledger: FileLedger, content: dict[str, Any], key: KeyPair | None = None) -> Any:
        statement = authority.draft(
            ARCHIVED, content, root_id=ROOT_ID, head=ledger.head(), now=self.clock.now()
        )
        return authority.sign(statement, key or self.operator)

    def move(self, ledger: FileLedger, **changes: Any) -> Record:
        archive, order = LedgerArchive(ledger, self.root, self.clock), self.order(**changes)
        signed = self.sign(ledger, archive.plan(order).content)
        return archive.move(order, signed)[0]

    def verify(self, archive: Path | None = None) -> Report:
        stored_chain = ChainFiles(self.chain, archive)
        key = self.root.read_ledger_key().public
        return check_files(self.root.var, public_key=key, stored_chain=stored_chain)

    def lines(self) -> list[str]:
        return list(ChainFiles(self.chain).read_lines())
