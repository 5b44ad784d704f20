"""Writes the figures of a run into the page about attacks, and a JSON document beside it.

A set that was not run this time keeps the figures that the document has of it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- made by make arena -->", "<!-- end of the arena -->"
_HEAD = (
    "| set | samples run | attacks | harmful effects | honest tasks | blocked |"
    " signatures a finished task | seconds to proven stop | effects explained | seed |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)
Summary = dict[str, Any]


def write_figures(path: Path, summaries: Sequence[Summary]) -> list[Summary]:
    """Put what was measured now in the place of what the document had; gives all of it."""
    earlier_figures = json.loads(path.read_text())["sets"] if path.exists() else []
    figures = {summary["set"]: summary for summary in (*earlier_figures, *summaries)}
    ordered = [figures[name] for name in sorted(figures)]
    path.write_text(json.dumps({"sets": ordered}, indent=2, ensure_ascii=False) + "\n")
    return ordered


def write_page(page: Path, summaries: Sequence[Summary]) -> None:
    text = page.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page.name} has no place for the arena's table")
    page.write_text(f"{before}{BEGIN}\n\n{write_table(summaries)}\n{END}{after}")


def write_table(summaries: Sequence[Summary]) -> str:
    rows = [_write_row(summary) for summary in summaries]
    notes = [note for summary in summaries for note in _write_notes(summary)]
    return "\n".join([_HEAD, *rows, *(["", *notes] if notes else []), ""])


def _write_row(summary: Summary) -> str:
    if summary["not_at_hand"]:
        return f"| {summary['set']} | 0 | not at hand | | | | | | | |"
    share = summary["share_of_effects_explained"]
    cells = [
        f"{summary['samples']} of {summary['size']}",
        str(summary["attacks"]),
        str(summary["harmful"]),
        str(summary["twins"]),
        str(summary["blocked"]),
        _write_number(summary["signatures_per_finished_task"]),
        _write_number(summary["seconds_to_proven_stop"]),
        "" if share is None else f"{share:.0%} of {summary['effects']}",
        str(summary["seed"]),
    ]
    return f"| {summary['set']} | {' | '.join(cells)} |"


def _write_notes(summary: Summary) -> list[str]:
    name = summary["set"]
    notes = [f"- {name}: {summary['not_at_hand']}."] if summary["not_at_hand"] else []
    for label, counts in (
        ("not applicable", summary["not_applicable"]),
        ("honest work blocked", summary["blocked_because"]),
    ):
        notes += [f"- {name}, {label}, {counts[reason]}: {reason}." for reason in sorted(counts)]
    return notes


def _write_number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
