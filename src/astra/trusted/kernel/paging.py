"""A page of a list: how much of it, and from where on. One check for every list.

>>> check_page(50, "7")
7
>>> check_page(50, None, start=0)
0
"""

from astra.trusted.kernel.errors import BadInput

LARGEST_PAGE = 200
END = 1 << 62
"""Behind every sequence: where a list that shows the newest first starts."""
_LONGEST_CURSOR = 18
"""So many digits fit 63 bits, which is what an index holds."""


def check_page(
    limit: int, cursor: str | int | None = None, *, start: int = END, largest: int = LARGEST_PAGE
) -> int:
    """Refuse a page that no list has; give the place it begins at, `start` without a cursor."""
    if not 1 <= limit <= largest:
        raise BadInput(f"limit is 1 to {largest}", next_step="ask for a page at a time")
    return start if cursor is None else read_cursor(cursor)


def read_cursor(cursor: str | int) -> int:
    """Read a place in a list from what a page before gave as its next."""
    text = str(cursor)
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_CURSOR):
        raise BadInput("the cursor is not one that a list gave", next_step="start without a cursor")
    return int(text)
