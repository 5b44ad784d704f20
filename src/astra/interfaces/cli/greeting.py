"""`astra` alone: where this is, how it stands, and what to do next. It starts nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from astra import __version__
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import printable

_FIRST_RECORD = "var/ledger"


@dataclass(frozen=True, kw_only=True)
class Situation:
    """How a data root stands, and the commands that lead on, each with what it does."""

    state: str
    summary: str
    next_commands: tuple[tuple[str, str], ...]


def greet(context: Context) -> None:
    situation = read_situation(context)
    document = {
        "version": __version__,
        "data_root": str(context.data_root),
        "state": situation.state,
        "summary": situation.summary,
        "next": [
            {"command": command, "about": about} for command, about in situation.next_commands
        ],
    }
    context.console.print_result(document, *_render(context, situation))


def read_situation(context: Context) -> Situation:
    if not (context.data_root / _FIRST_RECORD).is_dir():
        return _NO_ROOT
    if not context.client(without_settings=True).is_running():
        return _NO_DAEMON
    try:
        client = context.client(without_settings=True)
        inbox_count = len(client.get("/api/inbox")["items"])
        return describe_status(client.get("/api/status"), waiting=inbox_count)
    except AstraError as error:
        return Situation(
            state="trouble",
            summary=error.detail,
            next_commands=(("astra doctor", "what is wrong"),),
        )


def describe_status(status: dict[str, Any], *, waiting: int) -> Situation:
    """Pick what matters first: what holds everything up, then what waits, then what to look at."""
    if status["held"]:
        summary = f"nothing begins: {'; '.join(status['held'])}"
        return Situation(state="held", summary=summary, next_commands=(_VERIFY, _RESTORE))
    if status["stopped"]:
        summary = "all work is stopped"
        return Situation(state="stopped", summary=summary, next_commands=(_START, _STATUS))
    if waiting:
        summary = f"{waiting} things wait for you" if waiting > 1 else "1 thing waits for you"
        steps = (_INBOX, _REVIEW, _page_step(status))
        return Situation(state="waiting", summary=summary, next_commands=steps)
    return Situation(
        state="ready",
        summary="the daemon runs; nothing waits for you",
        next_commands=(_STATUS, _page_step(status), _CONNECT),
    )


def _page_step(status: dict[str, Any]) -> tuple[str, str]:
    url = status["daemon"]["url"]
    return "astra login", f"a link into the dashboard at {url}" if url else _LOGIN_ABOUT


def _render(context: Context, situation: Situation) -> Iterator[str]:
    paint = context.console.paint
    colour = {"ready": "green", "waiting": "yellow"}.get(situation.state, "bold")
    colour = "red" if situation.state in {"held", "stopped", "trouble"} else colour
    about = "an agent's code, under a contract a human signed"
    yield f"{paint('Astra', 'bold')} {__version__}: {about}"
    yield f"  data root  {printable(str(context.data_root))}"
    yield f"  now        {paint(situation.summary, colour)}"
    yield ""
    width = max(len(command) for command, _ in situation.next_commands)
    for command, about in situation.next_commands:
        yield f"  {paint(command.ljust(width), 'bold')}  {paint(about, 'dim')}"
    yield f"  {paint('astra help'.ljust(width), 'bold')}  {paint('all commands', 'dim')}"


_LOGIN_ABOUT = "a link into the dashboard"
_STATUS = ("astra status", "what is on, what runs, what is wrong")
_START = ("astra start", "let work start again; asks for the passphrase")
_REVIEW = ("astra review", "look at what waits and decide, one after the other")
_INBOX = ("astra inbox", "what waits, why, and the command for it")
_VERIFY = ("astra ledger verify", "say what is wrong with the record")
_RESTORE = ("astra restore", "go on from here; asks for the passphrase")
_CONNECT = ("astra mcp", "what an agent's client runs to connect")
_UP = ("astra up", "run the daemon here, with the dashboard")
_NO_ROOT = Situation(
    state="no_data_root",
    summary="there is no data root here yet",
    next_commands=(
        ("astra demo", "a guided story on a throwaway data root, in about a minute"),
        ("astra init REPOSITORY", "make a data root for an agent's git repository"),
    ),
)
_NO_DAEMON = Situation(
    state="no_daemon",
    summary="no daemon runs; every command starts one",
    next_commands=(_UP, _STATUS),
)
