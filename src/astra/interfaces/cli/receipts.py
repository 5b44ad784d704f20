"""`astra ledger receipt` and the other forms in which records leave: families, the index."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import json_text

FAMILIES = {
    "desires": ("desire", "desires"),
    "schedules": ("schedule", "approval_token", "job_database"),
    "code": ("code_modification", "tests", "change", "dry_run", "upstream", "clone"),
    "plans": ("agent", "code_edit"),
    "goals": ("goal",),
    "research": ("research",),
    "beliefs": ("belief",),
    "tasks": ("task",),
    "approvals": ("approval",),
    "releases": (
        *("release", "deployment", "app", "rollback", "before_start", "commit", "fleet"),
        *("environment", "live_changes"),
    ),
    "workers": ("worker", "job"),
    "tools": ("tool", "budget", "spend", "egress", "box", "server"),
    "alerts": ("alert", "smoke", "notification"),
    "chat": ("chat",),
    "authority": (
        *("session", "token", "passkey", "device", "operator", "signature", "config", "flag"),
        *("work", "stop"),
        *("standing_permission", "merge_permission", "sandbox_off", "readiness", "clock"),
    ),
    "ledger": ("data_root", "ledger"),
}
"""Families of records by the first words of their types; a test places every event in one."""
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


def show_receipt(context: Context) -> None:
    """Print a receipt, or write it to a file."""
    receipt = context.client().get(f"/api/ledger/receipts/{context.arguments.id}")
    output = context.arguments.output
    if output:
        Path(output).write_text(json_text(receipt, indent=2) + "\n")
        answer = {"file": output, "keyid": receipt["signatures"][0]["keyid"]}
        how = f"python examples/verify_receipt.py {output}"
        context.console.print_result(answer, f"wrote {output}; to verify it: {how}")
        return
    context.console.print_result(receipt, json_text(receipt, indent=2))


def choose_lines(lines: Iterator[str], *, family: str, month: str) -> Iterator[str]:
    """Give the lines of one family and one month, byte for byte."""
    if family and family not in FAMILIES:
        raise BadInput(
            f"there is no family {family[:40]!r}", next_step=f"one of {', '.join(FAMILIES)}"
        )
    if month and not _MONTH.fullmatch(month):
        raise BadInput("--month is a month such as 2026-03", next_step="astra ledger export --help")
    for line in lines:
        record_type, time = _read_start(line)
        if time.startswith(month) and (not family or find_family(record_type) == family):
            yield line


def write_index(lines: Iterator[str]) -> Iterator[str]:
    """Give the compact index: a line for each record, with its place but not its data."""
    for line in lines:
        record: dict[str, Any] = json.loads(line)
        members = ("sequence", "time", "type", "actor", "correlation", "subject", "hash")
        document = {name: record[name] for name in members}
        yield json_text({**document, "family": find_family(record["type"])})


def find_family(record_type: str) -> str:
    """Name the family of a record's type; `other` where it has none.

    >>> find_family("desire_recorded")
    'desires'
    """
    for family, starts in FAMILIES.items():
        if any(record_type == start or record_type.startswith(f"{start}_") for start in starts):
            return family
    return "other"


_START = re.compile(r'\{"sequence":\d+,"time":"([^"]+)","type":"([^"]+)"')


def _read_start(line: str) -> tuple[str, str]:
    start = _START.match(line)
    return (start[2], start[1]) if start else ("", "")
