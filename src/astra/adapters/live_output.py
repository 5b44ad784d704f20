"""What the tests of changes print while they run: the newest part, for whoever looks on.

It lives in memory only. What counts is in the ledger, once the run is over.
"""

import threading
from collections import OrderedDict

MOST_KEPT = 256 * 1024
MOST_CHANGES = 16


class LiveOutput:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[int, bytes]] = OrderedDict()

    def feed(self, change: str, chunk: bytes) -> None:
        """Add what came; of one change the newest part is kept, and of all the newest changes."""
        with self._lock:
            start, text = self._kept.pop(change, (0, b""))
            text += chunk
            excess = max(0, len(text) - MOST_KEPT)
            self._kept[change] = (start + excess, text[excess:])
            while len(self._kept) > MOST_CHANGES:
                self._kept.popitem(last=False)

    def read(self, change: str, after: int) -> tuple[bytes, int]:
        """Give what came behind a position, and the position to ask from next."""
        with self._lock:
            start, text = self._kept.get(change, (0, b""))
        return text[max(0, after - start) :], start + len(text)
