"""An address that takes a POST as a witness; where it answers a GET, `verify` compares with that.

Checkpoints go as lines of JSON (`application/x-ndjson`) under the data root's id. Only the signed
configuration names the address. It is spoken to over TLS with a certificate of that name, or on
loopback; no redirect is followed, no proxy of the environment used, what comes back is bounded, and
so is the time it takes.
"""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from astra.adapters.bounded_http import CONVERSATION_ERRORS, open_connection
from astra.adapters.witnesses.lines import MOST_BYTES, read_lines, write_lines
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.witnessing import WitnessUnreachable

MEDIA_TYPE = "application/x-ndjson"
_OK, _TAKEN = 200, range(200, 300)
_GIVES_NOTHING = frozenset({204, 405, 501})
_NOTHING_YET = 404


@dataclass(frozen=True, kw_only=True)
class PostedWitness:
    address: str
    root_id: str
    seconds: float = 10.0
    trust: Callable[[], ssl.SSLContext] = ssl.create_default_context

    def read(self) -> Sequence[Checkpoint | None] | None:
        status, body = self._send_request("GET", None)
        if status in _GIVES_NOTHING:
            return None
        if status == _NOTHING_YET:
            return []
        if status != _OK:
            raise self._unreachable_error(f"it answered with status {status}")
        return read_lines(body)

    def publish(self, points: Sequence[Checkpoint]) -> None:
        status, _ = self._send_request("POST", write_lines(points))
        if status not in _TAKEN:
            raise self._unreachable_error(f"it answered with status {status}")

    def _send_request(self, method: str, body: bytes | None) -> tuple[int, bytes]:
        parts = urlsplit(self.address)
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        headers = {"Astra-Root": self.root_id, "Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = MEDIA_TYPE
        try:
            with open_connection(
                self.address, seconds=self.seconds, trust=self.trust
            ) as connection:
                connection.request(method, target, body, headers)
                answer = connection.getresponse()
                return answer.status, answer.read(MOST_BYTES)
        except CONVERSATION_ERRORS as error:
            raise self._unreachable_error(str(error) or type(error).__name__) from None

    def _unreachable_error(self, why: str) -> WitnessUnreachable:
        return WitnessUnreachable(
            f"the witness {self.address} cannot be used: {ascii(why)[1:-1][:300]}",
            next_step="look whether this machine reaches that address, and what it says",
        )
