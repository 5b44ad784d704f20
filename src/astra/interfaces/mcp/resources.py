"""What a client can attach and watch: files of the target, changes, plans, the inbox.

A resource is another way to make a call: reading one runs the tool that shows the same, so the gate
decides, the session's budget counts and the ledger records it. Whoever subscribes hears that a
resource has moved, never what it says.

>>> find_call("astra://source/src/a%20b.py")
('read_source_code', {'path': 'src/a b.py', 'characters': 200000})
>>> find_call("astra://changes/chg_1")
('astra.changes.get', {'id': 'chg_1', 'diff': True})
>>> find_call("file:///etc/passwd") is None
True
"""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote

from astra.trusted.ledger.ports import Ledger

SOURCE = "astra://source/"
LONGEST_URI = 4_000
LONGEST_TEXT = 200_000
"""Of a file, in characters: a person attached it, so it is whole where that can be."""
_IDENTIFIER = re.compile(r"[A-Za-z0-9_.-]{1,100}")
LISTS: dict[str, tuple[str, str]] = {
    "astra://inbox": ("astra.approvals.pending", "Inbox: what waits for a person"),
    "astra://changes": ("astra.changes.list", "Changes to the code, newest first"),
    "astra://plans": ("astra.plans.list", "Plans and their states"),
    "astra://health": ("astra.health", "What works, what is switched off"),
}
_ONE_OF: dict[str, tuple[str, dict[str, Any], str]] = {
    "astra://changes/": ("astra.changes.get", {"diff": True}, "The story of a change"),
    "astra://plans/": ("astra.plans.get", {}, "A plan, its steps and messages"),
}
_MOVED_BY: dict[str, tuple[str, ...]] = {
    "astra://inbox": (
        "approval_requested",
        "approval_granted",
        "approval_rejected",
        "approval_expired",
        "approval_went_stale",
        "approval_used",
    ),
    "astra://changes": ("code_modification_scheduled", "code_modification_executed"),
    "astra://plans": ("agent_plan_drafted", "agent_plan_approved", "agent_plan_rejected"),
    "astra://health": ("flag_set",),
    SOURCE: ("code_modification_executed", "code_modification_rolled_back", "upstream_merged"),
}


def list_fixed() -> list[tuple[str, str]]:
    """Name the resources that are always there, and what each is."""
    return [(uri, about) for uri, (_, about) in LISTS.items()]


def list_templates() -> list[tuple[str, str]]:
    of_one = [(f"{prefix}{{id}}", about) for prefix, (_, _, about) in _ONE_OF.items()]
    return [(f"{SOURCE}{{+path}}", "A file of the target"), *of_one]


def name_source(path: str) -> str:
    return SOURCE + quote(path)


def find_call(uri: str) -> tuple[str, dict[str, Any]] | None:
    """Find the tool that shows a resource, and its arguments; none for what is no resource."""
    if len(uri) > LONGEST_URI:
        return None
    if uri in LISTS:
        return LISTS[uri][0], {}
    if uri.startswith(SOURCE) and len(uri) > len(SOURCE):
        path = unquote(uri.removeprefix(SOURCE))
        return "read_source_code", {"path": path, "characters": LONGEST_TEXT}
    for prefix, (tool, arguments, _) in _ONE_OF.items():
        identifier = uri.removeprefix(prefix)
        if identifier != uri and _IDENTIFIER.fullmatch(identifier):
            return tool, {"id": identifier, **arguments}
    return None


def read_version(ledger: Ledger, uri: str) -> int:
    """Give the place in the ledger where a resource last moved."""
    for prefix in _ONE_OF:
        if uri.startswith(prefix):
            identifier = uri.removeprefix(prefix)
            rows = ledger.query(
                "SELECT coalesce(max(sequence), 0) FROM mention WHERE id = ?", [identifier]
            )
            return int(rows[0][0])
    return _read_newest(ledger, _MOVED_BY.get(SOURCE if uri.startswith(SOURCE) else uri, ()))


def _read_newest(ledger: Ledger, types: Sequence[str]) -> int:
    sequences = [
        ledger.query("SELECT coalesce(max(sequence), 0) FROM record WHERE type = ?", [kind])[0][0]
        for kind in types
    ]
    return max(map(int, sequences), default=0)
