r"""Replaces a secret in a stream of bytes by as many asterisks, also where it comes in pieces.

The length stays the same, so that what a head says about a body stays true.

>>> masking = SecretMasking(["hunter2"])
>>> masking.feed(b"you sent hun") + masking.feed(b"ter2!") + masking.finish()
b'you sent *******!'
"""

import base64
import json
import urllib.parse
from collections.abc import Iterable

_SHORTEST = 4


class SecretMasking:
    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _spell_secret(secret)}
        self._forms = sorted((form for form in forms if len(form) >= _SHORTEST), key=len)[::-1]
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Give what can be passed on; the beginning of a secret waits for what follows."""
        self._held = self.mask(self._held + data)
        held_length = max((_overlap(self._held, form) for form in self._forms), default=0)
        ready_length = len(self._held) - held_length
        ready, self._held = self._held[:ready_length], self._held[ready_length:]
        return ready

    def finish(self) -> bytes:
        ready, self._held = self._held, b""
        return ready

    def mask(self, data: bytes) -> bytes:
        for form in self._forms:
            data = data.replace(form, b"*" * len(form))
        return data


def _spell_secret(secret: str) -> set[bytes]:
    """Give the ways in which servers commonly send back what they were sent."""
    raw = secret.encode()
    padded = base64.b64encode(raw)
    texts = {secret, urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret)}
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret)[1:-1].replace("/", "\\/")}
    spellings = {text.encode() for text in texts | escaped}
    return spellings | {raw, padded, padded.rstrip(b"="), raw.hex().encode()}


def _overlap(data: bytes, form: bytes) -> int:
    """Give how many of the last bytes may be the beginning of the form."""
    for count in range(min(len(form) - 1, len(data)), 0, -1):
        if data.endswith(form[:count]):
            return count
    return 0
