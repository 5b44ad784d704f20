"""The operator's configuration as it counts: the last `astra.toml` that was properly signed."""

import hashlib
from datetime import datetime
from typing import Any

from astra.ledger import views
from astra.ledger.ports import Ledger
from astra.ledger.record import Event
from astra.policy import authority
from astra.policy.authority import Signed
from astra.settings import configuration
from astra.settings.configuration import Configuration

CONFIG_SIGNED = "config_signed"


def signed_text(ledger: Ledger) -> str:
    """Give the text of the newest signed configuration, or nothing."""
    for record in reversed(views.last(ledger, count=100, type_=CONFIG_SIGNED)):
        if authority.holds(ledger, record):
            return str(record.data["text"])
    return ""


def in_force(ledger: Ledger) -> Configuration:
    return configuration.parse(signed_text(ledger))


def sign(ledger: Ledger, text: str, signed: Signed, *, now: datetime) -> Event:
    configuration.parse(text)
    event = Event(type=CONFIG_SIGNED, actor="operator", data=content(text))
    return authority.signed_event(ledger, event, signed, now=now)


def content(text: str) -> dict[str, Any]:
    """Give what an operator signs to put a configuration into force."""
    return {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
