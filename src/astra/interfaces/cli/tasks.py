"""`astra tasks list|show|enable|run`: what is to be done once, and waits for the operator."""

import argparse
from typing import Any

from astra.interfaces.cli import approvals
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import NeedsApproval


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the tasks, newest first")
    listing.add_argument("--state", choices=["waiting", "running", "finished"])
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--cursor", help="`next` of the page before")
    listing.set_defaults(run=list_tasks)
    for name, about, command in (
        ("show", "one task", show),
        ("enable", "approve what it is about, which runs it; asks for the passphrase", enable),
        ("run", "run it; one that waits for approval says so", run_task),
    ):
        action = actions.add_parser(name, help=about)
        action.add_argument("id", metavar="ID", help="a task (tsk_…)")
        action.set_defaults(run=command)
    approvals.add_terms(actions.choices["enable"])


def list_tasks(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get(
        "/api/tasks", state=arguments.state, limit=arguments.limit, cursor=arguments.cursor
    )
    context.console.result(page, *([_line(item) for item in page["items"]] or ["no tasks"]))


def show(context: Context) -> None:
    task = _task(context)
    lines = [f"{name:12} {value}" for name, value in task.items()]
    context.console.result(task, *lines)


def enable(context: Context) -> None:
    """Approve the task's change: the same signature, over the same digest."""
    context.arguments.id = _task(context)["subject_id"]
    approvals.approve(context)


def run_task(context: Context) -> None:
    from astra.interfaces.cli.changes import wait_for_merge

    task = _task(context)
    change = context.client().get(f"/api/changes/{task['subject_id']}")
    if change["state"] in {"gathering_evidence", "awaiting_approval"}:
        raise NeedsApproval(
            f"{task['id']} is not enabled: its change waits for an operator",
            next_step=f"astra tasks enable {task['id']}",
            approval_id=change["approval_id"],
        )
    wait_for_merge(context, task["subject_id"])


def _task(context: Context) -> dict[str, Any]:
    return context.client().get(f"/api/tasks/{context.arguments.id}")


def _line(item: dict[str, Any]) -> str:
    enabled = "enabled" if item["enabled"] else "not enabled"
    return (
        f"{item['id']}  {item['kind']}  {item['schedule']}  {enabled:11}  {item['state']:8} "
        f"{item['outcome'] or '-':10} {item['subject_id']}"
    )
