"""Whether the work that runs here was asked to end.

Python cannot interrupt a thread. Work that takes long looks here between two pieces of it:

>>> asked()
False
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_wish: ContextVar[threading.Event | None] = ContextVar("cancellation", default=None)


def asked() -> bool:
    wish = _wish.get()
    return wish is not None and wish.is_set()


@contextmanager
def watching(wish: threading.Event) -> Generator[None, None, None]:
    """Let what runs inside see this wish."""
    token = _wish.set(wish)
    try:
        yield
    finally:
        _wish.reset(token)
