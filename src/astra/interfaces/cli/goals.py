"""`astra goals create|adopt|list|show|run|pause|retry|close|abandon|reopen`."""

import argparse
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli import approvals
from astra.interfaces.cli.goal_tree import render_tree
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import render_table
from astra.trusted.kernel.errors import BadInput, NotFound, Refused
from astra.trusted.kernel.text import one_line, printable

_ORIGINS = {
    "operator": "proposed by the operator",
    "agent": "proposed without a signature",
    "desire": "of a desire",
    "rollback": "proposed after a rollback",
}
_WHY = {"proposed": "not planned", "abandoned": "because"}
"""What the reason of a goal that nothing holds is about, by its state."""
_WAYS_ON = {
    "paused": "run {}",
    "task_failed": "retry {}",
    "criteria_failed": "retry {} --node NODE",
    "budget_spent": "adopt {}",
    "deadline_passed": "abandon {} --reason TEXT",
    "not_signed": "abandon {} --reason TEXT",
}
"""What to do about a goal that is held, by why it is; the others go on by themselves or say it."""


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _configure_create(actions)
    listing = actions.add_parser("list", help="in the order they were created")
    listing.add_argument("--limit", type=int, metavar="N", help="how many (50)")
    listing.add_argument("--after", type=int, metavar="N", help="`next` of the page before")
    listing.set_defaults(run=list_goals)
    for name, about, command in (
        ("show", "one goal, and its tasks as a tree", show_goal),
        ("run", "let a goal that is held go on", control_goal),
        ("pause", "begin no more of its tasks", control_goal),
        ("close", "call it satisfied, by your own judgement", control_goal),
        ("reopen", "propose one that is over again", control_goal),
        ("retry", "begin tasks that failed, and those behind them, anew", retry),
        ("abandon", "give it up", abandon),
    ):
        action = actions.add_parser(name, help=about)
        action.add_argument("id", metavar="ID", help="a goal (goal_…)")
        action.set_defaults(run=command, action=name)
    _configure_adopt(actions)
    actions.choices["retry"].add_argument("--node", metavar="NODE", help="from this task on")
    actions.choices["abandon"].add_argument("--reason", required=True, metavar="TEXT")


def _configure_adopt(actions: Any) -> None:
    adopting = actions.add_parser(
        "adopt", help="sign the goal with its graph and its budgets; asks for the passphrase"
    )
    target_group = adopting.add_mutually_exclusive_group(required=True)
    target_group.add_argument("id", metavar="ID", nargs="?", help="a goal (goal_…)")
    target_group.add_argument(
        "--desire", metavar="DESIRE", help="make a goal of it and adopt that, by one signature"
    )
    adopting.set_defaults(run=adopt)


def _configure_create(actions: Any) -> None:
    creating = actions.add_parser("create", help="propose a goal; it is planned at once")
    creating.add_argument("text", metavar="TEXT")
    creating.add_argument("--task", metavar="NAME", help="the task of a method: fix_bug, …")
    creating.add_argument("--category", metavar="NAME", help="user_requested, maintenance, …")
    creating.add_argument(
        "--check", action="append", metavar="COMMAND", help="passes when the goal is reached"
    )
    creating.add_argument("--file", action="append", metavar="PATH", help="is in the target then")
    creating.add_argument(
        "--kept", action="store_true", help="nothing that came of it was taken back"
    )
    creating.add_argument(
        "--metric",
        action="append",
        metavar="TEXT",
        help="like “tests_failed below 1”, or “tests_failed falls by 2” since it began",
    )
    creating.add_argument("--deadline", metavar="TIME", help="like 2026-12-31T18:00:00Z")
    creating.add_argument("--priority", type=int, metavar="N", help="0 to 100")
    creating.add_argument("--parent", metavar="ID", help="the goal it serves")
    creating.add_argument(
        "--budget", action="append", metavar="NAME=N", help="model_calls, tokens, minutes or money"
    )
    creating.add_argument(
        "--unsigned",
        action="store_true",
        help="ask for no passphrase: it counts as proposed by an agent",
    )
    creating.add_argument(
        "--adopt", action="store_true", help="sign it at once, with its graph and its budgets"
    )
    creating.set_defaults(run=create)


def create(context: Context) -> int:
    """Propose a goal; with `--adopt` the operator signs it in the same command."""
    goal = _propose_goal(context)
    if not context.arguments.adopt:
        context.console.print_result(goal, *_render_goal(goal), *_suggest(goal))
        return 0
    return approvals.approve_own_request(context, goal["id"])


def _propose_goal(context: Context) -> dict[str, Any]:
    arguments = context.arguments
    criteria = [
        *({"command": command} for command in arguments.check or ()),
        *({"file": path} for path in arguments.file or ()),
        *([{"outcome": "kept"}] if arguments.kept else []),
        *({"metric": text} for text in arguments.metric or ()),
    ]
    options = {
        "task": arguments.task,
        "category": arguments.category,
        "deadline": arguments.deadline,
        "priority": arguments.priority,
        "parent": arguments.parent,
        "budget": _read_budget(arguments.budget or []),
        "criteria": criteria or None,
    }
    body = {name: value for name, value in options.items() if value is not None}
    return context.client().post("/api/goals", _sign(context, {"text": arguments.text, **body}))


def _sign(context: Context, body: dict[str, Any]) -> dict[str, Any]:
    """Have the operator sign that a goal is their own; unsigned, it counts as an agent's.

    Where it is adopted at once, that signature covers the goal, and one is enough.
    """
    from astra.interfaces.cli.signing import sign_action

    if context.arguments.unsigned or context.arguments.adopt:
        return body
    content = context.client().post("/api/goals/content", body)
    try:
        return {**content, "authority": sign_action(context, "goal_created", content)}
    except Refused as error:
        if error.reason != "no_terminal":
            raise
        context.console.note("there is no terminal to sign on: it counts as proposed by an agent")
        return body


def list_goals(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get("/api/goals", limit=arguments.limit, after=arguments.after)
    rows = [(goal["id"], goal["state"], one_line(goal["text"])) for goal in page["items"]]
    lines = render_table(context.console, ("goal", "state", "text"), rows)
    context.console.print_result(page, *(lines or ["there is no goal"]))


def show_goal(context: Context) -> None:
    goal = fetch_goal(context, context.arguments.id)
    context.console.print_result(goal, *render_page(goal))


def fetch_goal(context: Context, identifier: str) -> dict[str, Any]:
    """Give a goal with the graph of its tasks."""
    goal = context.client().get(f"/api/goals/{identifier}")
    graph: dict[str, Any] = {"nodes": [], "edges": []}
    if goal["tasks"]:
        graph = context.client().get(f"/api/goals/{identifier}/graph")
    return {**goal, "graph": graph}


def render_page(goal: dict[str, Any]) -> list[str]:
    """Show a goal: how it stands, what it may use up, when it is reached, its tasks as a tree."""
    return [*_render_goal(goal), *_render_graph(goal["graph"])]


def adopt(context: Context) -> None:
    """Show goal, graph, manifest and budgets whole, then have the operator sign exactly that."""
    identifier = context.arguments.id or context.arguments.desire
    if not identifier.startswith(("goal_", "des_", "apr_")):
        raise NotFound(f"there is no goal {identifier!r}", next_step="astra goals list")
    approvals.approve_own_request(context, identifier)


def control_goal(context: Context) -> None:
    name, identifier = context.arguments.action, context.arguments.id
    goal = context.client().post(f"/api/goals/{identifier}/{name}")
    context.console.print_result(goal, f"{goal['id']} is {goal['state']}")


def retry(context: Context) -> None:
    body = {"node": context.arguments.node}
    goal = context.client().post(f"/api/goals/{context.arguments.id}/retry", body)
    context.console.print_result(goal, f"{goal['id']} is {goal['state']}")


def abandon(context: Context) -> None:
    body = {"reason": context.arguments.reason}
    goal = context.client().post(f"/api/goals/{context.arguments.id}/abandon", body)
    context.console.print_result(goal, f"{goal['id']} is {goal['state']}")


def _render_goal(goal: dict[str, Any]) -> Iterator[str]:
    yield f"{goal['id']}  {goal['state']}  {one_line(goal['text'])}"
    if goal["why"]:
        label = goal["held"] or _WHY.get(goal["state"], goal["state"])
        yield f"  {label}: {one_line(goal['why'], 300)}"
        yield from _suggest_way_on(goal)
    used, budget = goal["usage"], goal["budget"]
    origin = _ORIGINS.get(goal["source"], goal["source"])
    yield (
        f"  {goal['category']}, task {goal['task']}, {origin};"
        f" used {used['model_calls']:.0f} of {budget['model_calls']} model calls,"
        f" {used['tokens']:.0f} of {budget['tokens']} tokens,"
        f" {used['milliseconds'] / 60_000:.1f} of {budget['minutes']} minutes{_render_money(goal)}"
    )
    results = {check["criterion"]: check for check in goal["checks"]}
    for criterion in goal["criteria"]:
        for name, value in criterion.items():
            yield f"  succeeds when {name} {printable(value)}{_render_check(results, name, value)}"


def _suggest_way_on(goal: dict[str, Any]) -> Iterator[str]:
    """Say what to do about a goal that stands still; one that ended needs nothing."""
    if goal["held"] in _WAYS_ON:
        yield f"  next: astra goals {_WAYS_ON[goal['held']].format(goal['id'])}"
    elif goal["state"] == "proposed" and not goal["asks_model"] and not goal["held"]:
        yield (
            "  next: propose it with another --task, or add a method to astra.toml and"
            f" astra config sign; then astra goals adopt {goal['id']}"
        )


def _render_money(goal: dict[str, Any]) -> str:
    if goal["money_limit"] is None:
        return ""
    _, _, currency = goal["budget"]["money"].partition(" ")
    return f", {goal['usage']['money']:.9g} of {goal['money_limit']:.9g} {currency}"


def _render_check(results: dict[str, dict[str, Any]], name: str, value: str) -> str:
    check = results.get(f"{name} {value}")
    if check is None:
        return ""
    return "  ✔ held" if check["holds"] else f"  ✘ {one_line(check['detail'], 100)}"


def _render_graph(graph: dict[str, Any]) -> Iterator[str]:
    if not graph["nodes"]:
        return
    origin = "proposed by a model" if graph["proposed_by"] == "model" else "planned by methods"
    yield f"  {origin}, by {printable(graph['method'])}:"
    yield from render_tree(graph["nodes"], graph["edges"])


def _suggest(goal: dict[str, Any]) -> list[str]:
    if not goal["tasks"]:
        return []
    count = len(goal["tasks"])
    tasks = "1 task" if count == 1 else f"{count} tasks"
    return [f"{tasks}; to adopt it: astra goals adopt {goal['id']}"]


def _read_budget(texts: list[str]) -> dict[str, int | str] | None:
    """Read the options; the server reads amounts of money."""
    budget: dict[str, int | str] = {}
    for text in texts:
        name, sign, number = text.partition("=")
        if not sign or not (number.isdigit() or name == "money"):
            raise BadInput(f"{text!r} is no budget", next_step="--budget minutes=60")
        budget[name] = number if name == "money" else int(number)
    return budget or None
