"""`astra chat`: talk with the persona in a terminal, or say one thing and get one answer."""

import argparse
import contextlib
import importlib
import sys
from typing import Any

from astra.interfaces.cli.client import Client, ReportedError
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.kernel.text import one_line, printable

_DELETE = "delete"
_WORDS = {
    "cut": "(cut off)",
    "limit": "(it ended at a limit, of steps or of length; say `go on`)",
}


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    del command
    parser.add_argument(
        "text", metavar="TEXT", nargs="?", help="say this; without it, talk; or: delete ID"
    )
    parser.add_argument("identifier", metavar="ID", nargs="?", help="the conversation to delete")
    parser.add_argument("--conversation", metavar="ID", help="go on with this one")
    parser.add_argument("--list", action="store_true", help="the conversations, newest first")
    parser.add_argument("--show", metavar="ID", help="what was said in a conversation")
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    parser.set_defaults(run=chat)


def chat(context: Context) -> None:
    arguments = context.arguments
    if arguments.list:
        _list_conversations(context)
    elif arguments.show:
        _show_conversation(context)
    elif arguments.text == _DELETE or arguments.identifier:
        _delete_conversation(context)
    elif arguments.text is not None:
        _say_once(context, arguments.text)
    elif sys.stdin.isatty() and not context.console.as_json:
        _run_conversation(context)
    else:
        raise BadInput("there is nothing to say", next_step='astra chat "TEXT"')


def _list_conversations(context: Context) -> None:
    page = context.client().get("/api/chat")
    lines = [
        f"{item['id']}  {show_time(item['spoken_at'])}  {one_line(item['title'], 70)}"
        for item in page["items"]
    ]
    context.console.print_result(page, *(lines or ['nothing was said yet; astra chat "TEXT"']))


def _show_conversation(context: Context) -> None:
    client, path = context.client(), f"/api/chat/{context.arguments.show}"
    conversation = client.get(path)
    while conversation["next"] is not None:
        before = client.get(path, cursor=conversation["next"])
        conversation = {
            **conversation,
            "items": before["items"] + conversation["items"],
            "next": before["next"],
        }
    lines = [
        line for message in conversation["items"] for line in _render_message(context, message)
    ]
    context.console.print_result(conversation, *lines)


def _delete_conversation(context: Context) -> None:
    identifier = context.arguments.identifier
    if context.arguments.text != _DELETE or not identifier:
        raise BadInput(
            "`astra chat` takes one text, or `delete` and the id of one conversation",
            next_step='astra chat delete ID; to say more than one word: astra chat "TEXT"',
        )
    client = context.client()
    conversation = client.get(f"/api/chat/{identifier}", limit=1)
    title = one_line(conversation["title"], 60)
    question = f"Delete “{title}” ({conversation['messages']} messages) for good?"
    context.console.confirm(question, yes=context.arguments.yes)
    deletion = client.delete(f"/api/chat/{identifier}")
    context.console.print_result(deletion, *_render_deletion(deletion))


def _render_deletion(deletion: dict[str, Any]) -> list[str]:
    """Say what is gone, and honestly what is not."""
    lines = [
        f"deleted {deletion['id']}: {deletion['messages']} messages are out of view",
        "the ledger keeps digests, lengths and the names of called tools; older backups keep all",
    ]
    if deletion["in_ledger"]:
        lines.append(
            f"{deletion['in_ledger']} of them were written into the ledger by an earlier version:"
            " their text stays in the chain, which nothing rewrites"
        )
    return lines


def _render_message(context: Context, message: dict[str, Any]) -> list[str]:
    mine = message["who"] == "person"
    name = context.console.paint("you" if mine else "persona", "bold" if mine else "green")
    calls = [_render_call(context, call) for call in message["calls"]]
    return [f"{name}  {show_time(message['time'])}", *calls, printable(message["text"]), ""]


def _say_once(context: Context, text: str) -> None:
    body = {"text": text, "conversation": context.arguments.conversation}
    if context.console.as_json:
        answer = context.client().post("/api/chat", body)
        if answer["trouble"]:
            raise ReportedError({"status": 502, **answer["trouble"]})
        context.console.print_result(answer)
        return
    conversation = _stream_answer(context, context.client(), body)
    context.console.note(f"go on with: astra chat --conversation {conversation} TEXT")


def _run_conversation(context: Context) -> None:
    console, client = context.console, context.client()
    conversation = context.arguments.conversation
    unavailable = client.get("/api/chat", limit=1)["unavailable"]
    if unavailable:
        raise ReportedError({"status": 403, **unavailable})
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # which lets a line be edited
    console.note("Ctrl-C cuts an answer off, Ctrl-D ends. The persona acts as an agent.")
    while True:
        try:
            text = input("\nyou> ")
        except EOFError:
            console.say("")
            return
        if not text.strip():
            continue
        try:
            conversation = _stream_answer(
                context, client, {"text": text, "conversation": conversation}
            )
        except KeyboardInterrupt:
            console.note("\n(cut off)")
            conversation = conversation or client.get("/api/chat", limit=1)["items"][0]["id"]
        except AstraError as error:
            console.print_error(error)


def _stream_answer(context: Context, client: Client, body: dict[str, Any]) -> str:
    """Show an answer as it comes; gives the conversation it belongs to."""
    conversation = ""
    for kind, data in client.stream("/api/chat", body):
        if kind == "started":
            conversation = data["conversation"]
        elif kind == "text":
            sys.stdout.write(printable(data["text"]))
            sys.stdout.flush()
        elif kind == "result":
            context.console.note(_render_call(context, data))
        elif kind == "suggestion":
            context.console.note(_render_suggestion(data["description"]))
        elif kind == "problem":
            raise ReportedError({"status": 500, **data})
        elif kind == "end":
            _finish_answer(context, data)
    return conversation


def _finish_answer(context: Context, answer: dict[str, Any]) -> None:
    context.console.say("")
    if text := _WORDS.get(answer["ended"]):
        context.console.note(text)
    if answer["trouble"]:
        raise ReportedError({"status": 502, **answer["trouble"]})


def _render_call(context: Context, call: dict[str, Any]) -> str:
    colour = {"ok": "dim", "waiting": "yellow"}.get(call["outcome"], "red")
    phrases = {"ok": "ok", "waiting": f"waits for {call.get('approval_id')}"}
    how = phrases.get(call["outcome"], f"{call['outcome']} ({call['code']})")
    return context.console.paint(f"  {one_line(call['tool'], 80)}: {how}", colour)


def _render_suggestion(description: str) -> str:
    text = one_line(description, 300)
    return f"  It suggests a project: {text}\n  astra plans draft TEXT starts one; a no ends this."
