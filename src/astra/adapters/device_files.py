"""Files for Web Push that nobody but the daemon reads: the addresses of devices, and its own key.

One file a device below `var/devices`; the key is made at first use. Losing the key ends every
subscription: a browser takes messages from the key that it was given.
"""

import json
import os
import threading
from pathlib import Path

from astra.notifications.devices import Address
from astra.notifications.encryption import ServerKey
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.private_files import write_private
from astra.trusted.policy.assertions import encode_base64url

_LARGEST = 16_384


class DeviceFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, device: str) -> Address | None:
        """Give an address; none where there is no file, or it does not say one."""
        try:
            document = json.loads(_read_content(self._path(device)))
            return Address.read(document["endpoint"], document["key"], document["auth"])
        except (OSError, ValueError, KeyError, TypeError, BadInput):
            return None

    def write(self, device: str, address: Address) -> None:
        self._folder.mkdir(exist_ok=True, mode=0o700)
        document = {
            "endpoint": address.endpoint,
            "key": encode_base64url(address.key),
            "auth": encode_base64url(address.auth),
        }
        write_private(self._path(device), json.dumps(document).encode())

    def remove(self, device: str) -> None:
        self._path(device).unlink(missing_ok=True)

    def devices(self) -> list[str]:
        return sorted(path.stem for path in self._folder.glob("dev_*.json"))

    def _path(self, device: str) -> Path:
        return self._folder / f"{device}.json"


class KeyFile:
    """The key by which push services know this Astra, made when somebody first needs it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def key(self) -> ServerKey:
        with self._lock:
            if not self._path.exists():
                write_private(self._path, ServerKey.generate().scalar.hex().encode())
            return ServerKey(scalar=bytes.fromhex(self._path.read_text()))


def _read_content(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _LARGEST)
    finally:
        os.close(descriptor)
