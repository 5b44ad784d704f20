"""The facts of a change before the operator signs, and a question for each that no term names.

Where there is no terminal to ask on, what was typed into the command is the answer: a script that
approves has read `astra approvals show`.
"""

import sys
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.console import Console
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.review import Paint
from astra.trusted.kernel.text import one_line, printable

_COLOURS = {"good": "green", "warn": "yellow", "bad": "red"}
_LONGEST = 400


def show_facts(context: Context, change: str) -> list[dict[str, Any]]:
    """Print what matters about a change, as the server says it; give those that are red."""
    decision = context.client().get(f"/api/changes/{change}/decision")
    for line in render_facts(decision, context.console.paint):
        context.console.note(line)
    return [fact for fact in decision["facts"] if fact["red"]]


def render_facts(decision: dict[str, Any], paint: Paint) -> Iterator[str]:
    """Give a line for each fact; what should stop a reader comes in red."""
    for fact in decision["facts"]:
        text = one_line(fact["text"], _LONGEST)
        colour = _COLOURS.get(fact["tone"])
        yield f"  {fact['name']:10} {paint(text, colour) if colour else text}"
    carried_over = decision["carried_over"]
    if carried_over:
        voided = "; what was signed before is void" if carried_over["signed_before"] else ""
        yield f"  round      the base moved, so it was carried over and tested again{voided}"


def confirm_red_facts(console: Console, red_facts: list[dict[str, Any]], *, deploy: bool) -> None:
    """Ask about each red fact that the signature does not name by a term of its own."""
    if not sys.stdin.isatty() or console.as_json:
        return
    for fact in red_facts:
        if fact["term"] is None and (deploy or not fact["with_deploy"]):
            text = one_line(fact["text"], _LONGEST)
            console.confirm(f"{fact['name']}: {text}. Approve it all the same?", yes=False)


def list_term_questions(details: dict[str, Any], *, deploy: bool) -> list[str]:
    """Give a question for each red fact that the signature names by a term of its own."""
    failed_commits: list[str] = details["contains_quarantined"] if deploy else []
    return [
        *(f"PROTECTED: may {printable(path)} be changed?" for path in details["protected"]),
        *(
            f"QUARANTINE: {commit[:12]} failed in service and is inside; deploy it all the same?"
            for commit in failed_commits
        ),
    ]
