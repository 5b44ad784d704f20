"""What a step of a plan wanted and what came of it, in one line each.

Both are text of a model's or a tool's making: escaped, cut, and on one line.
"""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any, cast

from astra.trusted.kernel.text import one_line

_TELLING = ("path", "url", "pattern")
_OUTCOMES = {
    "malformed": "not an answer in the form",
    "model_failed": "the model did not answer",
    "interrupted": "cut off by a crash",
    "set_aside": "came too late",
}


def describe_action(action: Mapping[str, Any] | None, most: int = 160) -> str:
    """Say what a model wanted to do."""
    if not action:
        return "asked the model"
    kind = str(action.get("kind", ""))
    phrases: dict[str, Callable[[], str]] = {
        "tool": lambda: f"{action.get('tool', '')} {_render_arguments(action)}",
        "code": lambda: f"handed to the coder: {action.get('text', '')}",
        "message": lambda: f"said: {action.get('text', '')}",
        "done": lambda: f"called the checkpoint done: {action.get('output', '')}",
    }
    return one_line(phrases[kind]() if kind in phrases else kind, most)


def describe_result(outcome: str | None, result: str | None, most: int = 160) -> str:
    """Say how a step went, with the part of its result that tells most."""
    document = _parse_result(result or "")
    summary = (
        _describe_run(document)
        if "verdict" in document
        else _describe_document(document)
        if document
        else (result or "")
    )
    state = _OUTCOMES.get(outcome or "", outcome or "")
    return one_line(f"{state}: {summary}" if state and summary else state or summary, most)


def _render_arguments(action: Mapping[str, Any]) -> str:
    values = action.get("arguments")
    if not isinstance(values, dict):
        return ""
    arguments = cast("dict[str, Any]", values)
    command = arguments.get("command")
    if isinstance(command, list):
        return shlex.join(str(word) for word in cast("list[Any]", command))
    names = sorted(arguments, key=lambda name: name not in _TELLING)
    return " ".join(f"{name}={_shorten_value(arguments[name])}" for name in names)


def _shorten_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, 80)


def _parse_result(result: str) -> dict[str, Any]:
    try:
        document = json.loads(result)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", document) if isinstance(document, dict) else {}


def _describe_run(found: Mapping[str, Any]) -> str:
    """Tell a command's end by its verdict and the first thing it printed."""
    printed = str(found.get("stdout") or found.get("stderr") or "").strip()
    printed_text = f"; it printed: {printed}" if printed else "; it printed nothing"
    return f"{found.get('verdict')}, {found.get('reason', '')}{printed_text}"


def _describe_document(found: Mapping[str, Any]) -> str:
    return str(found.get("text") or "") or json.dumps(found, ensure_ascii=False)
