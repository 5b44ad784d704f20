"""`astra research ask|list|show`."""

import argparse
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import render_table
from astra.trusted.kernel.text import one_line, printable

_MOST_QUOTE_LINES = 6


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    asking = actions.add_parser("ask", help="search for an answer and wait for it")
    asking.add_argument("question", metavar="QUESTION")
    asking.add_argument("--max-tasks", type=int, metavar="N", help="searches at most (8)")
    asking.add_argument("--max-depth", type=int, metavar="N", help="levels of follow-ups (1)")
    asking.add_argument(
        "--source",
        action="append",
        metavar="NAME",
        help="source, documents, ledger, notes or web; all unless given",
    )
    asking.add_argument(
        "--url", action="append", metavar="URL", help="a page to read, where its host is granted"
    )
    asking.set_defaults(run=ask)
    listing = actions.add_parser("list", help="sessions, the newest first")
    listing.add_argument("--limit", type=int, metavar="N", help="how many (50)")
    listing.add_argument("--cursor", metavar="CURSOR", help="`next` of the page before")
    listing.set_defaults(run=list_sessions)
    showing = actions.add_parser("show", help="one session; its citations are checked again")
    showing.add_argument("id", metavar="ID", help="a session (res_…)")
    showing.set_defaults(run=show)


def ask(context: Context) -> None:
    arguments = context.arguments
    options = {
        "max_tasks": arguments.max_tasks,
        "max_depth": arguments.max_depth,
        "sources": arguments.source,
        "urls": arguments.url,
    }
    body = {name: value for name, value in options.items() if value is not None}
    session = context.client().post("/api/research", {"question": arguments.question, **body})
    context.console.print_result(session, *render_session(session))


def list_sessions(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get("/api/research", limit=arguments.limit, cursor=arguments.cursor)
    rows = [
        (item["id"], item["state"], item["findings"], one_line(item["question"]))
        for item in page["items"]
    ]
    lines = render_table(context.console, ("session", "state", "findings", "question"), rows)
    context.console.print_result(page, *(lines or ["nothing was researched yet"]))


def show(context: Context) -> None:
    session = context.client().get(f"/api/research/{context.arguments.id}")
    context.console.print_result(session, *render_session(session))


def render_session(session: dict[str, Any]) -> Iterator[str]:
    yield f"{session['id']}  {session['state']}  {one_line(session['question'])}"
    if session["narrative"]:
        yield ""
        yield printable(session["narrative"])
    if session["note"]:
        yield f"note: {one_line(session['note'], 300)}"
    for number, finding in enumerate(session["findings"], 1):
        yield ""
        yield from _render_finding(number, finding)
    if session["findings"]:
        yield ""
        yield f"({session['remark']})"
    yield from _render_rest(session)


def _render_finding(number: int, finding: dict[str, Any]) -> Iterator[str]:
    author = "" if finding["by"] == "search" else f"  ({one_line(finding['by'], 60)} says)"
    yield f"[{number}] {printable(finding['claim'])}{author}"
    for citation in finding["citations"]:
        yield f"    {citation['kind']}: {printable(citation['place'])}"
        for line in printable(citation["quote"]).split("\n")[:_MOST_QUOTE_LINES]:
            yield f"    | {line}"
        if not citation["found"]:
            yield f"    NOT FOUND NOW: {one_line(citation['problem'], 200)}"


def _render_rest(session: dict[str, Any]) -> Iterator[str]:
    for pair in session["contested"]:
        yield f"contested: {' / '.join(printable(claim) for claim in pair['claims'])}"
    for question in session["open_questions"]:
        yield f"open: {printable(question)}"
    coverage: dict[str, list[dict[str, str]]] = session["coverage"] or {
        "sources": [],
        "left_out": [],
    }
    for item in coverage["sources"]:
        trouble = f"; {one_line(item['trouble'], 200)}" if item["trouble"] else ""
        yield f"searched {item['source']}: {printable(item['searched'])}{trouble}"
    for item in coverage["left_out"]:
        yield f"left out {printable(item['url'])}: {one_line(item['why'], 200)}"
    if session["unsupported"]:
        yield f"{session['unsupported']} claims had no quote that was found and are not shown"
