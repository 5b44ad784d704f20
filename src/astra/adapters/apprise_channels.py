"""Notifications through Apprise, which speaks to about a hundred services by an address each.

Addresses hold secrets. They are read from the data root's `.env` under the names that the operator
signed, and never leave this module: Apprise is kept from logging, and what it raises is dropped.
"""

import importlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from astra.notifications.outbox import Message

_CHATTY = ("apprise", "urllib3", "requests")
_SILENT = logging.CRITICAL + 1


@dataclass(frozen=True, kw_only=True)
class AppriseChannels:
    addresses: Mapping[str, str] = field(repr=False)
    include_content: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.addresses)

    def send(self, name: str, message: Message) -> bool:
        apprise: Any = importlib.import_module("apprise")  # heavy, and rarely needed
        for chatty in _CHATTY:
            logging.getLogger(chatty).setLevel(_SILENT)
        try:
            service = apprise.Apprise.instantiate(self.addresses[name])
            return service is not None and bool(_notify(service, message))
        except Exception:  # noqa: BLE001 - it may hold the address, so it goes no further
            return False


def _notify(service: Any, message: Message) -> Any:
    """Give the title apart from the rest, as services show it; some of them join the two."""
    if not message.body:
        return service.notify(body=message.title)
    return service.notify(title=message.title, body=message.body)
