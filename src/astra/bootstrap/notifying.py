"""The thread that sends notifications, beside everything else: a slow service holds up nobody."""

import logging
import threading
from dataclasses import dataclass

from astra.adapters.device_files import DeviceFiles, KeyFile
from astra.notifications.devices import Devices
from astra.notifications.outbox import Channels, Message, Outbox
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract

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


@dataclass(frozen=True, kw_only=True)
class EveryChannel:
    """The channels that the operator signed, then the devices that people brought."""

    signed: Channels
    devices: Channels

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.signed.names, *self.devices.names)

    @property
    def include_content(self) -> bool:
        return self.signed.include_content

    def send(self, name: str, message: Message) -> bool:
        channels = self.signed if name in self.signed.names else self.devices
        return channels.send(name, message)


def make_devices(root: DataRoot, ledger: Ledger, clock: Clock) -> Devices:
    return Devices(
        ledger,
        clock,
        DeviceFiles(root.var / "devices"),
        lambda: contract.in_force(ledger).notify.push_services,
    )


def make_key_file(root: DataRoot) -> KeyFile:
    return KeyFile(root.var / "keys" / "web-push.key")
