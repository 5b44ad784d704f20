"""Calls that a model wrote as text instead of making them: read, and run like any other call.

Only a call of a tool that was offered counts, written as JSON with a name and arguments. What
merely repeats data that the model was shown (a file, a tool's answer, a person's words) is a
quotation and is not run. Whatever is run passes the gate: this opens nothing.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, cast

from astra.persona.speech import FromPerson, FromPersona, FromTools, Utterance, Wanted
from astra.plans.answers import find_documents, read_call

MOST_CALLS = 8


@dataclass(frozen=True, kw_only=True)
class WrittenCalls:
    calls: tuple[Wanted, ...] = ()
    text: str = ""
    """What the model wrote besides."""


def find_calls(
    text: str, offered: Collection[str], heard: Iterable[Utterance], *, first: int = 1
) -> WrittenCalls:
    """Find the calls in a text; `first` numbers them, so that each has an id of its own."""
    data_text = _squeeze(" ".join(_text_of(utterance) for utterance in heard))
    calls: list[Wanted] = []
    remaining_text = text
    for raw, document in find_documents(text):
        if _squeeze(raw) in data_text:
            continue
        documents = cast("list[Any]", document) if isinstance(document, list) else [document]
        named_calls = [
            (name, call[1])
            for item in documents
            if (call := read_call(item)) and (name := _find_offered(call[0], offered))
        ]
        if not named_calls or len(named_calls) != len(documents):
            continue
        for name, arguments in named_calls[: MOST_CALLS - len(calls)]:
            identifier = f"written_{first + len(calls)}"
            calls.append(Wanted(id=identifier, tool=name, arguments=arguments))
        remaining_text = remaining_text.replace(raw, "", 1)
    return WrittenCalls(calls=tuple(calls), text=_strip_marks(remaining_text) if calls else text)


def _find_offered(name: str, offered: Collection[str]) -> str:
    """Give a tool by its name, also as documents and commands spell it: with dots."""
    return next((spelled for spelled in (name, name.replace(".", "_")) if spelled in offered), "")


def _text_of(utterance: Utterance) -> str:
    match utterance:
        case FromPerson(text):
            return text
        case FromPersona():
            return ""
        case FromTools(results):
            return " ".join(_unescape(result.text) for result in results)


def _unescape(text: str) -> str:
    """Give a text beside itself without the escapes of JSON: a file's text comes inside it."""
    plain = text.replace("\\n", " ").replace("\\t", " ").replace('\\"', '"')
    return f"{text} {plain}"


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _strip_marks(text: str) -> str:
    """Take away what was only there to hold the calls: fences and tags with nothing inside."""
    for mark in ("<tool_call>", "</tool_call>", "```json", "```xml", "```"):
        text = text.replace(mark, "")
    return text.strip()
