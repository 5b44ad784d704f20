"""`astra plans pause|resume|abort|grant|skip|extend-budget|retry|message|silence`."""

import argparse
from typing import Any

from astra.interfaces.cli import plan_pages
from astra.interfaces.cli.approvals import render_payload
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import Conflict
from astra.trusted.kernel.text import json_text
from astra.trusted.policy import payload


def add_options(actions: dict[str, argparse.ArgumentParser]) -> None:
    for name in ("pause", "abort", "skip"):
        actions[name].add_argument("--reason", default="", help="kept in the record")
    actions["grant"].add_argument(
        "--once", action="store_true", help="for this one step, not for the rest of the plan"
    )
    actions["extend-budget"].add_argument("steps", metavar="STEPS", type=int)
    actions["message"].add_argument("text", metavar="TEXT")
    actions["silence"].add_argument("--off", action="store_true", help="announce it again")


def pause(context: Context) -> None:
    _show_outcome(context, _post_action(context, "pause", {"reason": context.arguments.reason}))


def abort(context: Context) -> None:
    _show_outcome(context, _post_action(context, "abort", {"reason": context.arguments.reason}))


def skip(context: Context) -> None:
    _show_outcome(context, _post_action(context, "skip", {"reason": context.arguments.reason}))


def message(context: Context) -> None:
    _show_outcome(context, _post_action(context, "messages", {"text": context.arguments.text}))


def silence(context: Context) -> None:
    _show_outcome(context, _post_action(context, "silence", {"on": not context.arguments.off}))


def resume(context: Context) -> None:
    _show_outcome(
        context, _post_action(context, "resume", {"authority": _sign_decision(context, "resume")})
    )


def grant(context: Context) -> None:
    once = bool(context.arguments.once)
    body = {"once": once, "authority": _sign_decision(context, "grant", once=str(once).lower())}
    _show_outcome(context, _post_action(context, "grant", body))


def extend(context: Context) -> None:
    steps = context.arguments.steps
    body = {"steps": steps, "authority": _sign_decision(context, "extend_budget", steps=steps)}
    _show_outcome(context, _post_action(context, "extend_budget", body))


def retry(context: Context) -> None:
    _show_outcome(
        context, _post_action(context, "retry", {"authority": _sign_decision(context, "retry")})
    )


def _sign_decision(context: Context, action: str, **how: Any) -> dict[str, Any]:
    """Show exactly what is signed, then have the operator sign it."""
    from astra.interfaces.cli.signing import sign_action

    decision = context.client().get(f"{_plan_path(context)}/decision", action=action, **how)
    if action == "retry":
        _show_step(context, decision["content"]["step"])
    elif "digest" in decision["content"]:
        _show_action(context, decision["content"])
    for line in json_text(decision["content"], indent=2).split("\n"):
        context.console.note(f"  {line}")
    return sign_action(context, decision["type"], decision["content"])


def _show_step(context: Context, number: int) -> None:
    """Show the action that would run once more, and what came of it; a step has only one."""
    for step in context.client().get(_plan_path(context))["steps_taken"]:
        if step["step"] == number:
            for line in plan_pages.render_retry(step):
                context.console.note(line)
            for line in render_payload(payload.render_payload(step.get("action") or {})):
                context.console.note(line)


def _show_action(context: Context, content: dict[str, Any]) -> None:
    """Show the action behind the digest that is signed; another one is not signed unseen."""
    block: dict[str, Any] = context.client().get(_plan_path(context))["block"] or {}
    if block.get("digest") != content["digest"]:
        raise Conflict(
            f"{context.arguments.id} waits for another decision by now",
            code="stale_step",
            next_step=f"look at it again: astra plans show {context.arguments.id}",
        )
    for line in plan_pages.render_blocked_action(block):
        context.console.note(line)
    for line in render_payload(payload.render_payload(block.get("action") or {})):
        context.console.note(line)


def _post_action(context: Context, action: str, body: dict[str, Any]) -> dict[str, Any]:
    return context.client().post(f"{_plan_path(context)}/{action}", body)


def _show_outcome(context: Context, done: dict[str, Any]) -> None:
    context.console.print_result(done, *plan_pages.render_outcome(done))


def _plan_path(context: Context) -> str:
    return f"/api/agents/{context.arguments.id}"
