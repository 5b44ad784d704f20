"""Putting devices together: where each takes messages, and the key they are signed with."""

from astra.adapters.device_files import DeviceFiles, KeyFile
from astra.notifications.devices import Devices
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract


def make_devices(root: DataRoot, ledger: Ledger, clock: Clock) -> Devices:
    return Devices(
        ledger,
        clock,
        DeviceFiles(root.var / "devices"),
        lambda: contract.read_configuration(ledger).notify.push_services,
    )


def make_key_file(root: DataRoot) -> KeyFile:
    return KeyFile(root.var / "keys" / "web-push.key")
