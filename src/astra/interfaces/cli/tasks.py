"""`astra tasks list|show|enable|run`: tasks of changes and of goals, and firings of schedules."""

import argparse
from typing import Any

from astra.interfaces.cli import approvals
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import explain_empty, render_fields, render_table
from astra.trusted.kernel.errors import Conflict, NeedsApproval
from astra.trusted.kernel.text import one_line


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the tasks, newest first")
    listing.add_argument("--state", choices=["waiting", "running", "finished"])
    listing.add_argument("--source", choices=["change", "goal", "schedule"], help="where from")
    listing.add_argument("--outcome", metavar="NAME", help="how it ended: failed, succeeded, …")
    listing.add_argument("--trace", metavar="ID", help="of one story: cor_…")
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--cursor", help="`next` of the page before")
    listing.set_defaults(run=list_tasks)
    for name, about, command in (
        ("show", "one task", show),
        ("enable", "approve what it is about, which runs it; asks for the passphrase", enable),
        ("run", "run it; one that waits for approval says so", run_task),
    ):
        action = actions.add_parser(name, help=about)
        action.add_argument("id", metavar="ID", help="a task (tsk_…, node_…, or a firing)")
        action.set_defaults(run=command)
    approvals.add_terms(actions.choices["enable"])


def list_tasks(context: Context) -> None:
    names = ("state", "source", "outcome", "trace", "limit", "cursor")
    filters = {name: getattr(context.arguments, name) for name in names}
    page = context.client().get("/api/tasks", **filters)
    rows = [_make_row(item) for item in page["items"]]
    titles = ("task", "kind", "state", "outcome", "about", "what")
    lines = render_table(context.console, titles, rows)
    filter_values = (value for name, value in filters.items() if name != "limit")
    empty = explain_empty("there are no tasks", "no task fits", filter_values)
    context.console.print_result(page, *(lines or [empty]))


def show(context: Context) -> None:
    task = _fetch_task(context)
    context.console.print_result(task, *render_fields(task))


def enable(context: Context) -> None:
    """Approve the task's change: the same signature, over the same digest."""
    context.arguments.id = _require_change(_fetch_task(context))
    approvals.approve(context)


def run_task(context: Context) -> None:
    from astra.interfaces.cli.changes import wait_for_merge

    task = _fetch_task(context)
    change = context.client().get(f"/api/changes/{_require_change(task)}")
    if change["state"] in {"gathering_evidence", "awaiting_approval"}:
        raise NeedsApproval(
            f"{task['id']} is not enabled: its change waits for an operator",
            next_step=f"astra tasks enable {task['id']}",
            approval_id=change["approval_id"],
        )
    wait_for_merge(context, task["subject_id"])


def _require_change(task: dict[str, Any]) -> str:
    """Give the change that a task is about; other tasks run by what they belong to."""
    about = str(task["subject_id"])
    if task["source"] == "change":
        return about
    ways = {
        "goal": f"astra goals adopt {about}, and astra goals retry {about} --node {task['id']}",
        "schedule": f"astra schedules run {about}",
    }
    raise Conflict(
        f"{task['id']} is a task of {about}, which enables and runs it",
        code="not_by_hand",
        next_step=ways[task["source"]],
    )


def _fetch_task(context: Context) -> dict[str, Any]:
    return context.client().get(f"/api/tasks/{context.arguments.id}")


def _make_row(item: dict[str, Any]) -> tuple[str, ...]:
    return (
        item["id"],
        item["kind"],
        item["state"],
        item["outcome"] or "-",
        item["subject_id"],
        one_line(item["title"]) + ("" if item["enabled"] else " (not enabled)"),
    )
