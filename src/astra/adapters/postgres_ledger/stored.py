"""The chain in a database, read without a ledger: to verify, export or back up."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from astra.adapters.postgres_ledger import connecting
from astra.adapters.postgres_ledger.chain_table import ChainTable, HeadLost
from astra.trusted.ledger import stored
from astra.trusted.ledger.record import Head


@dataclass(frozen=True)
class ChainRows:
    url: str

    def read_lines(self, *, after: int = 0) -> Iterator[str]:
        with closing(ChainTable(self.url)) as table:
            try:
                yield from table.read_lines(after)
            except HeadLost as error:
                raise connecting.unreachable_error(self.url, error) from error

    def read_segments(self) -> Iterator[tuple[str, Iterable[bytes]]]:
        yield from stored.group_by_segment(self.read_lines())

    def read_end(self) -> Head:
        with closing(ChainTable(self.url)) as table:
            try:
                return table.read_head().head
            except HeadLost as error:
                raise connecting.unreachable_error(self.url, error) from error
