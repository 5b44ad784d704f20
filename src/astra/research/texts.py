r"""Texts in which quotes are looked up: a record as lines, a body as what a reader sees of it.

Both depend on nothing but the object, so that a quote found once is found again.

>>> render_value({"reason": "it failed", "count": 3})
'reason: it failed\ncount: 3'
>>> render_body(b"<html><style>x</style><p>Retry after <b>30</b> s.</p></html>").split()
['Retry', 'after', '30', 's.']
"""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, cast

from astra.trusted.kernel.masking import mask
from astra.trusted.ledger.record import Record

_LOOKED_AT = 1_000
_UNREAD_TAGS = frozenset({"script", "style", "template", "noscript"})
_BREAKS = frozenset({"p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "pre", "section"})
_MOST_LINES = 2_000


def render_record(record: Record) -> str:
    return f"{record.type}\n{render_value(record.data)}"


def render_value(value: Any) -> str:
    """Write a JSON value as lines, a name and a plain value on each."""
    lines: list[str] = []
    for line in _list_lines("", value):
        lines.append(line)
        if len(lines) == _MOST_LINES:
            break
    return "\n".join(lines)


def _list_lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            yield from _list_lines(str(key), member)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _list_lines(name, item)
    elif value not in (None, ""):
        yield f"{name}: {value}" if name else str(value)


def render_body(body: bytes) -> str:
    """Give the text of a body, masked; of a web page without its markup and scripts."""
    text = body.decode("utf-8", errors="replace")
    head = text[:_LOOKED_AT].lower()
    if "<html" in head or "<!doctype html" in head:
        reader = _PageText()
        reader.feed(text)
        reader.close()
        text = "".join(reader.parts)
    return mask(text)


class _PageText(HTMLParser):
    """Collects what a reader sees of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._unread += tag in _UNREAD_TAGS
        if tag in _BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._unread = max(self._unread - (tag in _UNREAD_TAGS), 0)
        if tag in _BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.parts.append(data)
