"""Sends stories to an OpenTelemetry collector, where the signed configuration names one.

A lane of the background does it, never the path of a call. It remembers how far it came in
`var/traces.json`, written after the collector took a batch: a crash in between sends a batch again,
whose spans have the same ids. Where nothing is remembered it begins with the signed configuration
that is in force.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from astra import __version__
from astra.adapters.bounded_http import CONVERSATION_ERRORS, open_connection
from astra.operations.traces import BEGINNINGS, Span, build_request, is_beginning
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.private_files import write_private
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record
from astra.trusted.policy.contract import CONFIG_SIGNED

BATCH = 500
_SECONDS = 10.0
_MOST_ANSWER_BYTES = 64 * 1024
_TAKEN = range(200, 300)
_MOST_BEGINNINGS = 64


class CollectorUnreachable(AstraError):
    """The collector did not take a batch; it is sent again."""

    code = "collector_unreachable"
    http_status = 503


@dataclass(frozen=True, kw_only=True)
class TraceExport:
    ledger: Ledger
    place: Path
    """The file that remembers how far it came."""
    root_id: Callable[[], str]
    endpoint: Callable[[], str]
    """Gives the address that the operator signed, or nothing."""

    def is_due(self) -> bool:
        address = self.endpoint()
        return bool(address) and self._read_position(address) < self.ledger.head().sequence

    def advance(self) -> None:
        """Send what happened since the last batch."""
        address = self.endpoint()
        if not address:
            return
        position = self._read_position(address)
        while records := self.ledger.records(after=position, limit=BATCH):
            self._send_spans(address, self._collect_spans(records))
            position = records[-1].sequence
            self._write_position(address, position)

    def _collect_spans(self, records: Sequence[Record]) -> list[Span]:
        find_first = lru_cache(maxsize=BATCH)(self._find_first)
        return [
            Span(record, self._find_beginning(record), find_first(record.correlation))
            for record in records
            if not is_beginning(record)
        ]

    def _find_beginning(self, record: Record) -> Record:
        begun_by = BEGINNINGS.get(record.type)
        if begun_by is None or record.subject is None:
            return record
        candidates = self.ledger.find_mentions(
            record.subject,
            begun_by,
            before=record.sequence,
            limit=_MOST_BEGINNINGS,
            newest_first=True,
        )
        node = record.data.get("node")
        return next(
            (
                candidate
                for candidate in candidates
                if candidate.subject == record.subject and candidate.data.get("node") == node
            ),
            record,
        )

    def _find_first(self, correlation: str) -> int:
        mentions = self.ledger.find_mentions(correlation, limit=1)
        return mentions[0].sequence if mentions else 0

    def _send_spans(self, address: str, spans: Sequence[Span]) -> None:
        if not spans:
            return
        body = json.dumps(build_request(self.root_id(), __version__, spans)).encode()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        try:
            with open_connection(address, seconds=_SECONDS) as connection:
                connection.request("POST", _build_target(address), body, headers)
                answer = connection.getresponse()
                answer.read(_MOST_ANSWER_BYTES)
        except CONVERSATION_ERRORS as error:
            raise _unreachable_error(address, str(error) or type(error).__name__) from None
        if answer.status not in _TAKEN:
            raise _unreachable_error(address, f"it answered with status {answer.status}")

    def _read_position(self, address: str) -> int:
        with suppress(OSError, ValueError, KeyError, TypeError):
            document = json.loads(self.place.read_bytes())
            if document["endpoint"] == address:
                return int(document["sequence"])
        configuration = self.ledger.newest(CONFIG_SIGNED)
        return configuration.sequence - 1 if configuration else self.ledger.head().sequence

    def _write_position(self, address: str, sequence: int) -> None:
        document = {"endpoint": address, "sequence": sequence}
        write_private(self.place, json.dumps(document).encode())


def _build_target(address: str) -> str:
    """Give the path of traces below what OTLP calls the base address."""
    return f"{urlsplit(address).path.rstrip('/')}/v1/traces"


def _unreachable_error(address: str, why: str) -> CollectorUnreachable:
    return CollectorUnreachable(
        f"the trace collector {address} cannot be used: {ascii(why)[1:-1][:300]}",
        next_step="look whether this machine reaches that address and it takes OTLP over HTTP",
    )
