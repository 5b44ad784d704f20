"""What a request is about, in one line that a person can tell from every other.

The server writes it from the call: the tool, then what it was given beyond the tool's defaults,
whole where it fits. What does not fit is cut, and then the start of the digest stands behind it. So
two requests look the same only when they are for the same thing.

>>> title_arguments("fetch_url", {"url": "https://example.com/a"}, digest="")
'fetch_url https://example.com/a'
>>> title_arguments("run", {"command": ["ls", "-l", "a b"]}, digest="")
"run ls -l 'a b'"
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any, cast

from astra.trusted.kernel.text import json_text, one_line
from astra.trusted.policy.call import Call

WIDTH = 160
_DIGEST_CHARACTERS = 8
_HASH_CHARACTERS = 12
_LONG_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
"""Commits and digests are named by their beginning; the call's own digest stands behind them."""
_PLAIN = ("url", "command", "path")
"""Arguments that say what a call is about by themselves; their names would only be in the way."""
_NAMED_FIRST = ("reason", "commit_message", "text")


def title_call(call: Call) -> str:
    """Name what a call would do, with the files it is bound to where there are some."""
    arguments = {name: value for name, value in call.arguments.items() if name not in call.defaults}
    if call.words:
        phrases = (call.words, *_phrase_arguments(arguments))
        return f"{one_line(' '.join(phrases), WIDTH)} #{call.digest()[:_DIGEST_CHARACTERS]}"
    title = title_arguments(call.tool, arguments, digest=call.digest())
    files = "; ".join(one_line(file, WIDTH) for file in call.footprint.files)
    short_files = _LONG_HASH.sub(lambda found: found[0][:_HASH_CHARACTERS], files)
    if short_files == files:
        return "; ".join(part for part in (title, files) if part)
    return f"{title}; {short_files} #{call.digest()[:_DIGEST_CHARACTERS]}"


def title_arguments(tool: str, arguments: Mapping[str, Any], *, digest: str) -> str:
    full_title = " ".join((tool, *_phrase_arguments(arguments)))
    title = one_line(full_title, WIDTH)
    is_whole = title == full_title
    return title if is_whole else f"{title} #{digest[:_DIGEST_CHARACTERS]}"


def _phrase_arguments(arguments: Mapping[str, Any]) -> list[str]:
    return [_phrase(name, value) for name, value in _order(arguments) if value is not None]


def _order(arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Put what a call is about first, and the rest behind it in the order of the names."""
    first = [name for name in (*_PLAIN, *_NAMED_FIRST) if name in arguments]
    other_names = sorted(name for name in arguments if name not in first)
    return [(name, arguments[name]) for name in (*first, *other_names)]


def _phrase(name: str, value: Any) -> str:
    if name in _PLAIN and (plain := _plain_text(value)):
        return plain
    return f"{name}={json_text(value)}"


def _plain_text(value: Any) -> str:
    """Give a value as it would be typed, or nothing where that could be read as something else."""
    if isinstance(value, str):
        return value if not any(char.isspace() for char in value) else ""
    parts = cast("list[Any]", value) if isinstance(value, list) else []
    return shlex.join(parts) if all(isinstance(part, str) for part in parts) else ""
