"""`astra review [ID]`: what waits, on a full screen, decided by keys.

Looking happens on the screen; deciding happens on the plain terminal below it, through the very
functions of `astra approve`, `astra reject` and `astra changes request-changes`: the same words are
shown, the same passphrase is asked for, the same thing is signed.
"""

import argparse
import contextlib
import curses
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from astra.interfaces.cli import approvals, changes, goals, live_difference, plan_pages
from astra.interfaces.cli.decision import list_term_questions
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.review import render_screen
from astra.interfaces.cli.review_screen import (
    Action,
    Page,
    Screen,
    describe_keys,
    mark_colour,
    read_diff,
    read_lines,
)
from astra.trusted.kernel.errors import AstraError, NotFound, Refused
from astra.trusted.kernel.text import one_line, printable

_KEY_NAMES = {
    curses.KEY_DOWN: "down",
    curses.KEY_UP: "up",
    curses.KEY_LEFT: "left",
    curses.KEY_RIGHT: "right",
    curses.KEY_NPAGE: "page_down",
    curses.KEY_PPAGE: "page_up",
    curses.KEY_HOME: "home",
    curses.KEY_END: "end",
    curses.KEY_RESIZE: "resize",
    ord("\t"): "tab",
    ord(" "): "space",
    27: "escape",
}
_ESCAPE_MILLISECONDS = "25"
_NOT_RUN: dict[str, Any] = {"verdict": "not run yet", "reason": "", "failures": []}
_ASCII_END = 0x80


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="a change (chg_…) or an approval (apr_…) to begin with"
    )
    parser.set_defaults(run=review)


def review(context: Context) -> None:
    if context.console.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused(
            "a full-screen review needs a terminal",
            code="no_terminal",
            next_step="astra approvals, then astra approvals show ID and astra approve ID",
        )
    os.environ.setdefault("ESCDELAY", _ESCAPE_MILLISECONDS)
    requests = approvals.fetch_approvals(context)
    position = _find_position(requests, context.arguments.id)
    while requests:
        action = _look_at(context, requests[position], count=len(requests), position=position)
        if action is Action.QUIT:
            break
        if action in {Action.NEXT, Action.PREVIOUS}:
            position = (position + (1 if action is Action.NEXT else -1)) % len(requests)
            continue
        _decide(context, requests[position], action)
        requests = approvals.fetch_approvals(context)
        position = min(position, max(len(requests) - 1, 0))
    count = len(requests)
    still = "1 still waits" if count == 1 else f"{count} still wait"
    context.console.say(still if count else "nothing waits for you")


def _find_position(waiting: list[dict[str, Any]], identifier: str | None) -> int:
    if identifier is None:
        return 0
    for position, item in enumerate(waiting):
        if identifier in (item["id"], item["subject_id"]):
            return position
    raise NotFound(
        f"nothing of {one_line(identifier, 80)} waits for a decision", next_step="astra approvals"
    )


def _look_at(context: Context, item: dict[str, Any], *, count: int, position: int) -> Action:
    """Show a request until a key says what to do about it."""
    pages = _collect_pages(context, item)
    actions = {Action.APPROVE, Action.REJECT, Action.QUIT}
    if count > 1:
        actions |= {Action.NEXT, Action.PREVIOUS}
    if item["kind"] == "change":
        actions |= {Action.DEPLOY, Action.REQUEST_CHANGES}
    screen = Screen(
        title=f"{position + 1} of {count}  {one_line(item['summary'], 300)}",
        pages=pages,
        actions=frozenset(actions),
        rows=24,
        columns=80,
    )
    try:
        return curses.wrapper(_run_screen, screen)
    except curses.error as error:
        raise Refused(
            f"the terminal cannot show a full screen: {error}",
            code="no_terminal",
            next_step="set TERM to what your terminal is, or use astra approvals",
        ) from None


def _collect_pages(context: Context, item: dict[str, Any]) -> tuple[Page, ...]:
    request = context.client().get(f"/api/approvals/{item['id']}")
    signed_page = Page(
        name="what is signed",
        lines=read_lines([item["id"], *approvals.render_payload(request["payload"])]),
    )
    if request["details"].get("tool") == live_difference.TOOL:
        return (_render_live_difference(context), signed_page)
    if item["kind"] in _IN_WORDS:
        return (_IN_WORDS[item["kind"]](context, item["subject_id"]), signed_page)
    if item["kind"] != "change":
        return (signed_page,)
    path = f"/api/changes/{item['subject_id']}"
    change, diff = context.client().get(path), context.client().get(f"{path}/diff")
    return (
        Page(name="change", lines=read_lines(render_screen(change, mark_colour, 0))),
        Page(name="diff", lines=read_diff(diff["diff"])),
        Page(name=_findings_title(change), lines=read_lines(_render_findings(change))),
        Page(name="evidence", lines=read_lines(_render_evidence(change))),
        signed_page,
    )


def _render_plan(context: Context, identifier: str) -> Page:
    plan = context.client().get(f"/api/agents/{identifier}")
    return Page(name="plan", lines=read_lines(plan_pages.render_page(plan)))


def _render_goal(context: Context, identifier: str) -> Page:
    goal = goals.fetch_goal(context, identifier)
    return Page(name="goal", lines=read_lines(goals.render_page(goal)))


_IN_WORDS: dict[str, Callable[[Context, str], Page]] = {"plan": _render_plan, "goal": _render_goal}
"""Which requests have a page in words before the one with what is signed."""


def _render_live_difference(context: Context) -> Page:
    difference = live_difference.fetch_difference(context)
    summary = live_difference.render_difference(difference, mark_colour)
    lines = (*read_lines([*summary, ""]), *read_diff(difference["diff"]))
    return Page(name="live, against what would be", lines=lines)


def _findings_title(change: dict[str, Any]) -> str:
    findings = _list_findings(change)
    dangers = sum(finding["severity"] == "danger" for finding in findings)
    return f"{len(findings)} findings, {dangers} danger" if dangers else f"{len(findings)} findings"


def _list_findings(change: dict[str, Any]) -> list[dict[str, Any]]:
    return change["findings"] or list[dict[str, Any]]()


def _render_findings(change: dict[str, Any]) -> list[str]:
    """Give every finding, none folded."""
    colours = {"danger": "red", "warning": "yellow", "info": "dim"}
    lines: list[str] = []
    for finding in _list_findings(change):
        place = f"{finding['path']}:{finding['line']}" if finding["line"] else finding["path"]
        severity = mark_colour(f"{finding['severity']:8}", colours[finding["severity"]])
        lines.append(f"{severity} {printable(place)}  {one_line(finding['message'], 2000)}")
        lines.append(f"         [{finding['rule']}] {one_line(finding['excerpt'] or '', 2000)}")
    return lines or ["nothing was found"]


def _render_evidence(change: dict[str, Any]) -> list[str]:
    """Give every run of the tests with each failure, none folded."""
    evidence: dict[str, Any] = change["evidence"]
    colour = "green" if evidence["verdict"] == "passed" else "red"
    lines = [mark_colour(one_line(evidence["words"], 2000), colour)]
    lines += [mark_colour(one_line(text, 2000), "red") for text in evidence.get("warnings", ())]
    for test_run in evidence["runs"]:
        report: dict[str, Any] = test_run["report"] or _NOT_RUN
        lines += [
            "",
            f"{test_run['label']}: {report['verdict']}",
            f"  {one_line(report['reason'], 2000)}",
        ]
        for failure in report["failures"]:
            lines.append(f"  {one_line(failure['name'], 300)}")
            lines += [f"    {row}" for row in printable(failure["message"]).split("\n")]
    return lines


def _run_screen(window: "curses.window", screen: Screen) -> Action:
    with contextlib.suppress(curses.error):
        curses.curs_set(0)
    colours = _make_colours()
    window.clear()  # the first picture is drawn whole: nothing of an earlier one shines through
    while True:
        screen = screen.resize(*window.getmaxyx())
        _draw(window, screen, colours)
        outcome = screen.press(_read_key(window))
        if isinstance(outcome, Action):
            return outcome
        screen = outcome


def _read_key(window: "curses.window") -> str:
    try:
        key = window.getch()
    except KeyboardInterrupt:
        return "q"
    return _KEY_NAMES.get(key) or (chr(key) if 0 < key < _ASCII_END else "")


def _make_colours() -> dict[str, int]:
    plain = {"": curses.A_NORMAL, "dim": curses.A_DIM, "bold": curses.A_BOLD}
    if os.environ.get("NO_COLOR") or not curses.has_colors():
        return {**plain, **dict.fromkeys(("red", "green", "yellow"), curses.A_BOLD)}
    curses.use_default_colors()
    names = {
        "red": curses.COLOR_RED,
        "green": curses.COLOR_GREEN,
        "yellow": curses.COLOR_YELLOW,
    }
    for number, colour in enumerate(names.values(), start=1):
        curses.init_pair(number, colour, -1)
    pairs = {name: curses.color_pair(number) for number, name in enumerate(names, start=1)}
    return {**plain, **pairs}


def _draw(window: "curses.window", screen: Screen, colours: dict[str, int]) -> None:
    window.erase()
    _put(window, 0, 0, one_line(screen.title, max(screen.columns - 1, 1)), curses.A_BOLD)
    column = 0
    for number, page in enumerate(screen.pages):
        text = f" {number + 1} {page.name} "
        look = curses.A_REVERSE if number == screen.open_page else curses.A_DIM
        _put(window, 1, column, text[: max(screen.columns - column, 0)], look)
        column += len(text)
    for row, line in enumerate(screen.visible_lines(), start=3):
        column = 0
        for span in line:
            _put(window, row, column, span.text, colours.get(span.colour, curses.A_NORMAL))
            column = window.getyx()[1]
    key_rows = describe_keys(screen)
    for row, text in enumerate(key_rows, start=screen.rows - len(key_rows)):
        _put(window, row, 0, one_line(text, screen.columns), curses.A_DIM)
    window.refresh()


def _put(window: "curses.window", row: int, column: int, text: str, look: int) -> None:
    """Write where there is room; curses complains about the last cell and about tiny windows."""
    with contextlib.suppress(curses.error):
        window.addstr(row, column, text, look)


def _decide(context: Context, item: dict[str, Any], action: Action) -> None:
    """Decide on the plain terminal; a refusal is shown, and the request still waits."""
    console = context.console
    try:
        if action is Action.REJECT:
            reason = _ask_line("Reason, for the agent to read: ")
            approvals.reject(_with_arguments(context, id=item["id"], reason=reason))
        elif action is Action.REQUEST_CHANGES:
            text = _ask_line("What should change? ")
            changes.request_changes(
                _with_arguments(context, id=item["subject_id"], text=text, on=[])
            )
        else:
            _approve(context, item, deploy=action is Action.DEPLOY)
    except AstraError as error:
        console.print_error(error)
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        input("Enter goes on ")


def _approve(context: Context, item: dict[str, Any], *, deploy: bool) -> None:
    title = one_line(item["summary"], 200)
    context.console.confirm(f"Approve {item['id']} ({title})?", yes=False)
    terms = approvals.read_default_terms() | {"deploy": deploy}
    if item["kind"] == "change":
        terms |= _ask_red_terms(context, item, deploy=deploy)
    approvals.approve(_with_arguments(context, id=item["id"], **terms))


def _ask_red_terms(context: Context, item: dict[str, Any], *, deploy: bool) -> dict[str, Any]:
    """Ask for each protected path and each failed commit by itself: one yes is not a yes to all."""
    details = context.client().get(f"/api/approvals/{item['id']}")["details"]
    for question in list_term_questions(details, deploy=deploy):
        context.console.confirm(question, yes=False)
    failed_commits: list[str] = details["contains_quarantined"] if deploy else []
    return {"consent": details["protected"], "despite_quarantine": failed_commits}


def _ask_line(prompt: str) -> str:
    try:
        text = input(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        text = ""
    if not text:
        raise Refused("nothing was done", code="declined", next_step="press the key again to do it")
    return text


def _with_arguments(context: Context, **arguments: Any) -> Context:
    options = {**vars(context.arguments), **arguments}
    return Context(Namespace(**options), context.console)
