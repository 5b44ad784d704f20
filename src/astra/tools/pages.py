"""Answers a model can afford: about 5,000 tokens, unless it asks for more.

A page whose length nobody chose has as many items as fit, and `next` leads on. A document that is
one thing is shortened inside: long texts and lists say what was left out, and `full` brings it.
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar, cast

from pydantic import BaseModel, Field

CHARACTERS = 16_000
"""Of an answer; four make a token, more or less."""
_LONGEST_TEXT, _MOST_ITEMS = 800, 15
Full = Field(default=False, description="everything, however long")
Cursor = Field(default=None, max_length=200, description="`next` of the page before")
NumberCursor = Field(default=None, ge=0, lt=1 << 62, description="`next` of the page before")


def limit_field(most: int) -> Any:
    return Field(default=None, ge=1, le=most, description="default: what fits")


class Page(Protocol):
    @property
    def items(self) -> Any: ...


P = TypeVar("P", bound=Page)


def fit_page(query: Callable[[int], P], limit: int | None, *, usual: int = 50) -> P:
    """Give a page of the length that was asked for, or of the length that fits an answer."""
    if limit is not None:
        return query(limit)
    page = query(usual)
    count = count_fitting(page.items)
    return page if count >= len(page.items) else query(count)


def count_fitting(items: Iterable[BaseModel]) -> int:
    """Count the first items that fit an answer together; one always does."""
    remaining, count = CHARACTERS, 0
    for item in items:
        remaining -= len(item.model_dump_json())
        if remaining < 0 and count:
            break
        count += 1
    return count


def shorten_document(document: dict[str, Any], *, full: bool) -> dict[str, Any]:
    """Give a document that fits an answer, unless it was asked for in full.

    >>> len(shorten_document({"log": "x" * 20_000}, full=False)["log"]) < 1_000
    True
    """
    if full or len(str(document)) <= CHARACTERS:
        return document
    return {**_shorten_value(document), "shortened": True}


def _shorten_value(value: Any) -> Any:
    if isinstance(value, str):
        return _shorten_text(value)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _shorten_value(member) for name, member in members.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_shorten_value(item) for item in items[-_MOST_ITEMS:]]
    return value


def _shorten_text(text: str) -> str:
    left_out = len(text) - _LONGEST_TEXT
    if left_out <= 0:
        return text
    half = _LONGEST_TEXT // 2
    return f"{text[:half]} … ({left_out} characters left out; full) … {text[-half:]}"
