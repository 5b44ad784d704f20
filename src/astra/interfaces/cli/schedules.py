"""`astra schedules create|modify|pause|resume|delete|list|show|history|run`."""

import argparse
import json
from typing import Any

from astra.interfaces.cli.approvals import fetch_approvals
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import explain_empty, render_fields, render_table
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import BadInput, NeedsApproval, Refused
from astra.trusted.kernel.text import one_line

_OPTIONS = (
    ("--name", "name", str, "what people call it"),
    ("--cron", "cron_expression", str, "five fields, or @hourly @daily @weekly @monthly @yearly"),
    ("--timezone", "timezone", str, "an IANA name such as Europe/Berlin"),
    ("--tool", "target_tool", str, "the tool it runs"),
    ("--payload", "payload", str, "the tool's arguments, as a JSON object"),
    ("--tier", "safety_tier", int, "at least the tool's own tier, which is the default"),
    ("--budget", "per_day_budget", int, "firings a UTC day (4)"),
    ("--overlap", "overlap", str, "while the one before runs: skip, queue or cancel-previous"),
    ("--catch-up", "catch_up_seconds", int, "seconds a missed firing may be late (3600)"),
    ("--attempts", "attempts", int, "how often a failing firing is tried in all (1)"),
    ("--backoff", "backoff_seconds", int, "seconds before the second attempt, then doubled (60)"),
    ("--jitter", "jitter_seconds", int, "up to so many seconds more (0)"),
    ("--slow-after", "slow_after", int, "slow down after so many failures in a row (0: never)"),
    ("--slow-below", "slow_below", int, "slow down while fewer than so many %% succeed (0: never)"),
    ("--slowest", "slowest", int, "run at least every Nth firing, however often it fails"),
)
_NEXT_STEPS = {
    "budget_spent": "budgets start again at midnight UTC; to raise the schedule's own:"
    " astra schedules modify {schedule_id} --budget N",
    "pool_spent": "wait for midnight UTC; astra status shows what spent it",
    "flag_off": "astra flags",
    "stopped": "astra start",
}
_REQUIRED = frozenset({"--name", "--cron", "--tool"})


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    creating = actions.add_parser("create", help="run a tool on a clock")
    modifying = actions.add_parser("modify", help="change a schedule; its id stays")
    for action in (creating, modifying):
        for option, name, kind, about in _OPTIONS:
            required = action is creating and option in _REQUIRED
            metavar = option.removeprefix("--").upper()
            action.add_argument(
                option, dest=name, type=kind, help=about, required=required, metavar=metavar
            )
        action.add_argument(
            "--after", action="append", metavar="ID", help="a schedule that must succeed first"
        )
    creating.set_defaults(run=create)
    for action, about, command in (
        ("pause", "stop it until it is resumed", pause),
        ("resume", "let it run again, from now on", resume),
        ("delete", "take it out of service for good; its history stays", delete),
        ("show", "one schedule and its next five firings", show),
        ("history", "what ran, when, how long, or why it did not", history),
        ("run", "fire it now, or once more for a stretch of the past", run_now),
    ):
        actions.add_parser(action, help=about).set_defaults(run=command)
    for name in ("modify", "pause", "resume", "delete", "show", "history", "run"):
        actions.choices[name].add_argument("id", metavar="ID")
    modifying.set_defaults(run=modify)
    _more_options(actions.choices, actions.add_parser("list", help="the schedules"))


def _more_options(
    actions: dict[str, argparse.ArgumentParser], listing: argparse.ArgumentParser
) -> None:
    actions["show"].add_argument("--from", dest="start", metavar="TIME", help="firings after this")
    running = actions["run"]
    running.add_argument("--from", dest="start", metavar="TIME", help="backfill from here")
    running.add_argument("--to", dest="end", metavar="TIME", help="… up to here")
    actions["history"].add_argument("--limit", type=int, default=100)
    actions["history"].add_argument("--cursor", help="`next` of the page before")
    listing.add_argument("--state", choices=["active", "paused", "deleted"])
    listing.add_argument("--tier", type=int, choices=[0, 1, 2])
    listing.add_argument("--tool")
    listing.add_argument("--text", help="in its name or payload")
    listing.add_argument("--cursor", help="`next` of the page before")
    listing.add_argument("--limit", type=int, default=100)
    listing.set_defaults(run=list_schedules)


def create(context: Context) -> None:
    answer = context.client().post("/api/schedules", _collect_fields(context))
    word = "created" if answer["created"] else "there already:"
    context.console.print_result(answer, f"{word} {answer['id']}", *_next_runs(answer))


def modify(context: Context) -> None:
    fields = _collect_fields(context)
    if not fields:
        raise BadInput("there is nothing to change", next_step="name a field, such as --cron")
    answer = context.client().post(_schedule_path(context), fields)
    context.console.print_result(answer, f"modified {answer['id']}", *_next_runs(answer))


def pause(context: Context) -> None:
    answer = context.client().post(f"{_schedule_path(context)}/pause")
    context.console.print_result(answer, f"paused {answer['id']}")


def resume(context: Context) -> None:
    answer = context.client().post(f"{_schedule_path(context)}/resume")
    context.console.print_result(answer, f"resumed {answer['id']}", *_next_runs(answer))


def delete(context: Context) -> None:
    answer = context.client().post(f"{_schedule_path(context)}/delete")
    context.console.print_result(
        answer, f"deleted {answer['id']}; what it did: astra schedules history {answer['id']}"
    )


def list_schedules(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get(
        "/api/schedules",
        state=arguments.state,
        tier=arguments.tier,
        tool=arguments.tool,
        text=arguments.text,
        cursor=arguments.cursor,
        limit=arguments.limit,
    )
    rows = [
        (
            item["id"],
            f"tier {item['safety_tier']}",
            item["state"],
            _next_run(item),
            item["cron_expression"],
            item["target_tool"],
            one_line(item["name"], 60),
        )
        for item in page["items"]
    ]
    titles = ("schedule", "tier", "state", "next", "cron", "tool", "name")
    lines = render_table(context.console, titles, rows)
    filters = (
        *(arguments.state, arguments.tier, arguments.tool, arguments.text),
        arguments.cursor,
    )
    empty = explain_empty("there are no schedules", "no schedule fits", filters)
    context.console.print_result(page, *(lines or [empty]))


def show(context: Context) -> None:
    document = context.client().get(_schedule_path(context), start=context.arguments.start)
    fields = {name: value for name, value in document.items() if name != "next_runs"}
    context.console.print_result(document, *render_fields(fields), *_next_runs(document))


def history(context: Context) -> None:
    arguments = context.arguments
    path = f"{_schedule_path(context)}/history"
    page = context.client().get(path, limit=arguments.limit, cursor=arguments.cursor)
    context.console.print_result(
        page, *([_render_firing(item) for item in page["items"]] or ["nothing yet"])
    )


def run_now(context: Context) -> int:
    arguments = context.arguments
    body = {"start": arguments.start, "end": arguments.end}
    answer = context.client().post(f"{_schedule_path(context)}/run", body)
    if "items" in answer:
        lines = [_render_firing(item) for item in answer["items"]]
        context.console.print_result(
            answer, *(lines or ["nothing to run: all of them succeeded before"])
        )
        return 0
    if answer["reason"] == "needs_approval":
        approval = _find_pending_approval(context, answer["trace"])
        raise NeedsApproval(
            answer["detail"],
            next_step=f"astra approve {approval or arguments.id}",
            approval_id=approval,
        )
    if answer["outcome"] != "succeeded":
        raise Refused(
            answer["detail"] or answer["outcome"],
            code=answer["reason"],
            next_step=_NEXT_STEPS.get(answer["reason"], "astra ledger story {trace}").format(
                **answer
            ),
            outcome=answer["outcome"],
            firing=answer["id"],
        )
    context.console.print_result(answer, _render_firing(answer))
    return 0


def _find_pending_approval(context: Context, trace: str) -> str | None:
    """Name what waits for the operator: the schedule itself, or what its firing is about."""
    story = context.client().get(f"/api/ledger/story/{trace}")["items"]
    endings = (record["data"] for record in story if record["type"] == "schedule_firing_closed")
    subjects = {subject for data in endings for subject in data.get("about", [])}
    approvals = [
        item["id"]
        for item in fetch_approvals(context)
        if item["subject_id"] == context.arguments.id or item["id"] in subjects
    ]
    return approvals[-1] if approvals else None


def _schedule_path(context: Context) -> str:
    return f"/api/schedules/{context.arguments.id}"


def _collect_fields(context: Context) -> dict[str, Any]:
    names = [name for _, name, _, _ in _OPTIONS] + ["after"]
    values = {name: getattr(context.arguments, name) for name in names}
    fields = {name: value for name, value in values.items() if value is not None}
    if "payload" in fields:
        fields["payload"] = _parse_payload(fields["payload"])
    return fields


def _parse_payload(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadInput(f"--payload is not JSON: {error}", next_step="quote it") from None
    if not isinstance(value, dict):
        raise BadInput("--payload is not a JSON object", next_step="write {…}")
    return value  # pyright: ignore[reportUnknownVariableType]


def _next_runs(found: dict[str, Any]) -> list[str]:
    return [f"  next  {_show_firing(moment)}" for moment in found["next_runs"]]


def _show_firing(moment: str) -> str:
    """Write a firing on the schedule's own wall clock, with its distance from UTC."""
    offset = moment[19:]
    return f"{moment[:10]} {moment[11:16]}{'Z' if offset == '+00:00' else f' {offset}'}"


def _next_run(item: dict[str, Any]) -> str:
    """Show the next firing on the schedule's own wall clock."""
    if not item["next_run"] or not item["next_runs"]:
        return ""
    return _show_firing(item["next_runs"][0])


def _render_firing(item: dict[str, Any]) -> str:
    """Say of a firing when it was meant to be, where it came from, how it went and why."""
    notes = [one_line(item["detail"], 100)] if item["detail"] else []
    if item["attempt"] > 1:
        notes.append(f"(attempt {item['attempt']})")
    if item["next_attempt"]:
        notes.append(f"(again at {show_time(item['next_attempt'])})")
    return (
        f"{show_time(item['fire_time'])}  {item['kind'].replace('_', '-'):8}  {item['outcome']:11} "
        f"{item['reason']:15} {item['milliseconds']:9.1f} ms  {' '.join(notes)}"
    ).rstrip()
