"""A receipt: one record with the proof that it is in the ledger, for somebody without Astra.

It is a DSSE envelope (payload and signature, as used for signed software metadata) whose payload
holds the record's line, a Merkle audit path in the sense of RFC 9162 over the hashes of all
records, and the records that say which keys count. The ledger's key signs it; the operator's own
signature over the decision is in the record. `examples/verify_receipt.py` checks all of it.

>>> tree = [bytes([number]) * 32 for number in range(5)]
>>> walk_path(hash_leaf(tree[4]), 4, 5, find_path(tree, 4)) == compute_root(tree)
True
"""

import base64
import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import Conflict, NotFound
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record
from astra.trusted.policy import authority, operators, passkeys

PAYLOAD_TYPE = "application/vnd.astra.receipt+json"
_KEYS = (authority.KEY_ROTATED, passkeys.ENROLLED, *operators.CHANGES)
_LONGEST_SEQUENCE = 18


@dataclass(frozen=True)
class Receipts:
    ledger: Ledger
    clock: Clock
    key: Callable[[], KeyPair]
    """Gives the ledger's own key, which signs checkpoints too."""
    read_hashes: Callable[[int], list[bytes]]
    """Gives the hashes of the first so many records, from the chain itself."""
    _running: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def make(self, identifier: str) -> dict[str, Any]:
        """Make the receipt of a record by its number, or of the decision about an id."""
        record = self._find_record(identifier)
        if not self._running.acquire(blocking=False):
            raise Conflict("a receipt is being made", next_step="ask again", code="busy")
        try:
            return sign_payload(self._build_payload(record), self.key())
        finally:
            self._running.release()

    def _find_record(self, identifier: str) -> Record:
        if identifier.isascii() and identifier.isdigit() and len(identifier) <= _LONGEST_SEQUENCE:
            record = self.ledger.record(int(identifier))
        else:
            records = self.ledger.records_of(identifier)
            decisions = [record for record in records if "authority" in record.raw_data]
            record = (decisions or records or [None])[-1]
        if record is None or record.sequence > views.settled_head(self.ledger).sequence:
            raise NotFound(
                f"no record is about {identifier[:80]!r}",
                next_step="name a record's number, or an id as in astra ledger tail",
            )
        return record

    def _build_payload(self, record: Record) -> dict[str, Any]:
        head = views.settled_head(self.ledger)
        tree = self.read_hashes(head.sequence)
        keys = self.ledger.records(*_KEYS, before=record.sequence, limit=1000)
        origin = self.ledger.record(1)
        assert origin is not None  # noqa: S101 - a data root begins with its creation

        def prove(proven: Record) -> dict[str, Any]:
            path = find_path(tree, proven.sequence - 1)
            return {"line": proven.line, "path": [node.hex() for node in path]}

        return {
            "receipt": 1,
            "made_at": format_time(self.clock.now()),
            "root_id": origin.data["root_id"],
            "tree": {"size": head.sequence, "root": compute_root(tree).hex()},
            "head": {"sequence": head.sequence, "hash": head.hash},
            "record": prove(record),
            "origin": prove(origin),
            "keys": [prove(key) for key in keys],
        }


def sign_payload(payload: dict[str, Any], key: KeyPair) -> dict[str, Any]:
    """Put a payload into its envelope."""
    body = canonical.encode(payload)
    signature = bytes.fromhex(key.sign(encode_message(body)))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(body).decode(),
        "signatures": [{"keyid": key.public, "sig": base64.b64encode(signature).decode()}],
    }


def encode_message(body: bytes) -> bytes:
    """Write what is signed: the pre-authentication encoding of DSSE.

    >>> encode_message(b"{}")
    b'DSSEv1 34 application/vnd.astra.receipt+json 2 {}'
    """
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)


def hash_leaf(digest: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + digest).digest()


def _hash_nodes(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def compute_root(tree: Sequence[bytes]) -> bytes:
    """Give the root over leaves in order; a row that is odd keeps its last node."""
    row = [hash_leaf(digest) for digest in tree]
    while len(row) > 1:
        row = _hash_row(row)
    return row[0]


def find_path(tree: Sequence[bytes], index: int) -> list[bytes]:
    """Give the nodes that lead from a leaf to the root, lowest first."""
    row, path = [hash_leaf(digest) for digest in tree], list[bytes]()
    while len(row) > 1:
        neighbour = index ^ 1
        if neighbour < len(row):
            path.append(row[neighbour])
        row, index = _hash_row(row), index // 2
    return path


def walk_path(node: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Give the root that a path leads to from a leaf's hash, as who verifies computes it."""
    last, steps = size - 1, iter(path)
    while last:
        if index % 2:
            node = _hash_nodes(next(steps), node)
        elif index < last:
            node = _hash_nodes(node, next(steps))
        index, last = index // 2, last // 2
    return node


def _hash_row(row: list[bytes]) -> list[bytes]:
    pairs = [_hash_nodes(row[i], row[i + 1]) for i in range(0, len(row) - 1, 2)]
    return [*pairs, row[-1]] if len(row) % 2 else pairs
