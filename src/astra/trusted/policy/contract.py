"""The operator's configuration as it counts: the last `astra.toml` that was properly signed."""

import difflib
import hashlib
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from astra.trusted.ledger import unseen
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.settings import configuration
from astra.trusted.settings.configuration import Configuration

CONFIG_SIGNED = "config_signed"
SUBJECT = "configuration"
_MOST_LINES = 60


def signed_text(ledger: Ledger) -> str:
    """Give the text of the newest signed configuration, or nothing."""
    for record in ledger.records(CONFIG_SIGNED, limit=100, newest_first=True):
        if authority.is_signed_by_operator(ledger, record):
            return str(record.data["text"])
    return ""


def version(ledger: Ledger) -> int:
    """Count what was signed, so that a signature can expect that none came since."""
    return ledger.version(SUBJECT)


def refuse_if_changed(ledger: Ledger, seen: str) -> None:
    """Keep somebody from signing over a configuration that they did not see; `seen` is its hash."""
    now = signed_text(ledger)
    if not now or content(now)["sha256"] == seen:
        return
    signed_records = ledger.records(CONFIG_SIGNED, limit=100, newest_first=True)
    before = next((str(r.data["text"]) for r in signed_records if r.data["sha256"] == seen), "")
    raise unseen.unseen_change_error(
        "the configuration",
        next(record for record in signed_records if record.data["text"] == now),
        sha256=content(now)["sha256"],
        lines=diff_lines(before, now),
    )


def diff_lines(before: str, after: str) -> list[str]:
    r"""Give the lines that differ, those that went with `-` and those that came with `+`.

    >>> diff_lines("a\n-- b", "a\n++ c")
    ['--- b', '+++ c']
    """
    diff_output = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    lines = [line for line in list(diff_output)[2:] if not line.startswith("@@")]
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], f"… and {more} more lines"] if more > 0 else lines


_KNOWN: WeakKeyDictionary[Ledger, tuple[str, Configuration]] = WeakKeyDictionary()
"""The configuration in force of each open ledger, beside the hash of the newest one recorded."""


def read_configuration(ledger: Ledger) -> Configuration:
    """Give the configuration in force. Ask at every use, as it may be signed anew.

    Whether a record is properly signed depends on the chain before it alone, so the answer is the
    same until another one is recorded.
    """
    newest = ledger.newest(CONFIG_SIGNED)
    mark = newest.hash if newest else ""
    cached_configuration = _KNOWN.get(ledger)
    if cached_configuration is None or cached_configuration[0] != mark:
        cached_configuration = mark, configuration.parse(signed_text(ledger))
        _KNOWN[ledger] = cached_configuration
    return cached_configuration[1]


def sign(ledger: Ledger, text: str, signed: Signed, *, now: datetime) -> Event:
    configuration.refuse_unclear_end(configuration.parse(text).target)
    event = Event(type=CONFIG_SIGNED, actor="operator", data=content(text), subject=SUBJECT)
    return authority.signed_event(ledger, event, signed, now=now)


def content(text: str) -> dict[str, Any]:
    """Give what an operator signs to put a configuration into force."""
    return {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
