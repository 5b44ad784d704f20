r"""One byte representation for every JSON value.

Keys are sorted, nothing is optional, and what two readers could understand differently is refused:
NaN and infinities, lone surrogates, integers beyond 2^53, keys that are not text, deep nesting.

>>> encode({"b": 1, "a": "é"})
b'{"a":"\xc3\xa9","b":1}'
"""

import json
from collections.abc import Iterable
from typing import Any, NoReturn, cast

from astra.trusted.kernel.errors import BadInput

LARGEST_INTEGER = 2**53
DEEPEST_NESTING = 64
_LISTS = (list, tuple)
_ANY_WILL_DO = frozenset({str, bool, float, type(None)})
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


class NotCanonical(BadInput):
    code = "not_canonical"


def encode(value: Any) -> bytes:
    try:
        return encode_text(value).encode()
    except UnicodeEncodeError:
        _refuse_value(
            "the text contains a lone surrogate, which is not valid Unicode", "send valid Unicode"
        )


def encode_text(value: Any) -> str:
    _check_value(value, DEEPEST_NESTING)
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        _refuse_value(f"not a JSON value: {error}", "send numbers, text, lists and objects only")


def _check_value(value: Any, depth: int) -> None:
    """Refuse what `json.dumps` would let through: huge integers, odd keys, endless nesting."""
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        for key in members:
            if not isinstance(key, str):
                _refuse_value(f"the key {key!r} is not text", "use text keys")
        _check_items(members.values(), depth)
    elif isinstance(value, _LISTS):
        _check_items(cast("list[Any]", value), depth)
    elif isinstance(value, int) and not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        _refuse_value(
            "an integer beyond 2^53 does not survive every JSON reader", "send it as text"
        )


def _check_items(items: Iterable[Any], depth: int) -> None:
    if depth == 0:
        _refuse_value(f"nesting is deeper than {DEEPEST_NESTING}", "flatten the value")
    for item in items:
        kind = cast("type[object]", type(item))
        if kind in _ANY_WILL_DO or (kind is int and -LARGEST_INTEGER <= item <= LARGEST_INTEGER):
            continue  # as most are
        _check_value(item, depth - 1)


def _refuse_value(detail: str, next_step: str) -> NoReturn:
    raise NotCanonical(detail, next_step=next_step) from None
