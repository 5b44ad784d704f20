r"""What a person signs: whether all of it can be shown, and the one text that every door shows.

A signature covers every byte of a call, so every byte is kept with the request and shown, the same
on the terminal, on the page and in the API. What cannot be shown so is refused before anybody is
asked: what is too large to read, what is no text, and what holds a secret. A secret would have to
be masked on the screen and kept out of the record, and then nobody could tell what was signed;
whoever needs one names it by reference.

>>> print(render_text({"arguments": {"script": "one\ntwo", "to": ["a"]}, "tier": 2}))
arguments:
  script: (2 lines)
    | one
    | two
  to:
    - "a"
tier: 2
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.masking import redact
from astra.trusted.kernel.text import one_line, printable

LARGEST = 64 * 1024
CODE = "cannot_be_shown"
OF_CALL = ("tool", "tier", "arguments", "footprint", "schedule", "plan")
"""The members of a request's details that its digest is made of, where it is about a call."""
_MOST_UNREADABLE = 0.1
_FEW = 16
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_IN_BASE64 = "base64"


@dataclass(frozen=True, kw_only=True)
class Objection:
    """Why something cannot be shown, and what to do instead."""

    detail: str
    next_step: str

    def as_error(self) -> Refused:
        return Refused(self.detail, code=CODE, next_step=self.next_step)


def find_objection(content: Mapping[str, Any], *, largest: int = LARGEST) -> Objection | None:
    """Say why a person could not read all of this before signing it, or nothing."""
    size = len(canonical.encode(dict(content)))
    if size > largest:
        return Objection(
            detail=f"it has {size:,} bytes, and nobody can read more than {largest:,} before"
            " signing",
            next_step="make it smaller, or do it in several calls",
        )
    for place, text in _iterate_texts(content, ""):
        if problem := _describe_unreadable(text):
            return Objection(
                detail=f"{printable(place)} {problem}, so it cannot be shown to the operator",
                next_step="send readable text",
            )
    return _find_secret(content)


def refuse_unshowable(content: Mapping[str, Any], *, largest: int = LARGEST) -> None:
    """Refuse to ask for a signature under what cannot be shown whole."""
    if problem := find_objection(content, largest=largest):
        raise problem.as_error()


def render_payload(details: Mapping[str, Any]) -> dict[str, Any]:
    """Give the one text that every door shows, and its measure."""
    text = render_text(details)
    return {
        "text": text,
        "lines": text.count("\n") + 1,
        "characters": len(text),
        "sha256": hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(),
    }


def render_text(value: Any) -> str:
    """Write a value so that a person can read all of it; two values never look the same."""
    return "\n".join(_render_lines(value, ""))


def call_digest(details: Mapping[str, Any]) -> str:
    """Work out from what is shown which digest a signature under a call has to name."""
    content = {name: details[name] for name in OF_CALL if name in details}
    return hashlib.sha256(canonical.encode(content)).hexdigest()


def require_same(details: Mapping[str, Any], digest: str) -> None:
    """Refuse a signature under a call whose request does not hold all that its digest covers."""
    if call_digest(details) != digest:
        raise Refused(
            "what is kept with this request is not the whole of what its digest covers",
            code=CODE,
            next_step="reject it; the agent can ask again, and all of it is kept then",
        )


def _describe_unreadable(text: str) -> str:
    if "\0" in text:
        return "holds binary data"
    unreadable = sum(len(printable(char)) > 1 for char in text if char not in "\n\t\r")
    if unreadable > max(_FEW, len(text) * _MOST_UNREADABLE):
        return f"consists of characters that cannot be seen ({unreadable:,} of {len(text):,})"
    return ""


def _find_secret(content: Mapping[str, Any]) -> Objection | None:
    clean = redact(dict(content))
    decoded = [
        (place, text) for place, text in _iterate_texts(content, "") if place.endswith(" (decoded)")
    ]
    place = _find_difference(content, clean, "") or next(
        (place for place, text in decoded if redact(text) != text), None
    )
    if place is None:
        return None
    return Objection(
        detail=f"{printable(place)} looks like a secret, which is masked wherever it is shown, and"
        " what is masked cannot be signed",
        next_step="name the secret by reference (such as $API_KEY) instead of writing its value",
    )


def _iterate_texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Give every text in a value with its place; what is encoded also as what it decodes to."""
    match value:
        case str():
            yield place, value
            if place.rpartition(".")[2].endswith(_IN_BASE64):
                yield f"{place} (decoded)", _decode_base64(value)
        case dict():
            for name, item in cast("dict[Any, Any]", value).items():
                yield f"{place}.{name}".strip("."), str(name)
                yield from _iterate_texts(item, f"{place}.{name}".strip("."))
        case list() | tuple():
            for number, item in enumerate(cast("list[Any]", value)):
                yield from _iterate_texts(item, f"{place}.{number}")
        case _:
            return


def _decode_base64(text: str) -> str:
    """Decode base64; what is no text becomes a text that counts as binary."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return "\0"


def _find_difference(one: Any, other: Any, place: str) -> str | None:
    """Name the first place at which a value and its redacted copy differ."""
    if one == other:
        return None
    copies = dict(_list_items(other))
    for name, item in _list_items(one):
        if name not in copies:
            return f"{place}.{one_line(str(name), 40)}".strip(".")
        if inner := _find_difference(item, copies[name], f"{place}.{name}".strip(".")):
            return inner
    return place


def _list_items(value: Any) -> list[tuple[Any, Any]]:
    """Give the members of an object or the elements of a list; nothing of anything else."""
    if isinstance(value, dict):
        return list(cast("dict[Any, Any]", value).items())
    return list(enumerate(cast("list[Any]", value))) if isinstance(value, list | tuple) else []


def _render_lines(value: Any, pad: str) -> Iterator[str]:
    match value:
        case dict() if value:
            for name, item in cast("dict[Any, Any]", value).items():
                yield from _render_member(f"{pad}{_render_name(name)}:", item, pad)
                if str(name).endswith(_IN_BASE64) and isinstance(item, str):
                    yield from _render_member(
                        f"{pad}{_render_name(name)} decoded:", _decode_base64(item), pad
                    )
        case list() | tuple() if value:
            for item in cast("list[Any]", value):
                yield from _render_member(f"{pad}-", item, pad)
        case _:
            yield f"{pad}{_render_scalar(value)}"


def _render_member(lead: str, item: Any, pad: str) -> Iterator[str]:
    if isinstance(item, str) and "\n" in item:
        rows = item.split("\n")
        yield f"{lead} ({len(rows)} lines)"
        yield from (f"{pad}  | {row}" for row in rows)
    elif isinstance(item, dict | list | tuple) and item:
        yield lead
        yield from _render_lines(item, f"{pad}  ")
    else:
        yield f"{lead} {_render_scalar(item)}"


def _render_name(name: Any) -> str:
    return str(name) if _PLAIN_NAME.fullmatch(str(name)) else _render_scalar(str(name))


def _render_scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
