"""The thread that sends notifications, beside everything else: a slow service holds up nobody."""

import logging
import threading

from astra.ledger.ports import Ledger
from astra.notifications.outbox import Outbox

_LOOK_AGAIN = 10.0
_LONGEST_WAIT, _PAUSE = 1.0, 0.5
_LONGEST_GOODBYE = 10.0
_log = logging.getLogger("astra.notifier")


class Notifier:
    def __init__(self, outbox: Outbox, ledger: Ledger) -> None:
        self._outbox = outbox
        self._ledger = ledger
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="notifier", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End, without waiting longer for a service than it may take."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_LONGEST_GOODBYE)

    def _loop(self) -> None:
        while not self._stopping.is_set():
            head = self._ledger.head().sequence
            try:
                self._outbox.send_due()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next one is due too
                _log.error("notifications are not sent now: %s", type(error).__name__)
                self._stopping.wait(_LOOK_AGAIN)
            if not self._stopping.is_set() and self._ledger.wait(head, _LONGEST_WAIT):
                self._stopping.wait(_PAUSE)  # a burst of records is one look
