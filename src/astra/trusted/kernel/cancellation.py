"""Whether the work that runs here was asked to end.

Python cannot interrupt a thread. Work that takes long looks here between two pieces of it:

>>> is_cancelled()
False
>>> with watch_cancellation(lambda: True):
...     is_cancelled()
True
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

_wishes: ContextVar[tuple[Callable[[], bool], ...]] = ContextVar("cancellation", default=())


def is_cancelled() -> bool:
    return any(is_wished() for is_wished in _wishes.get())


@contextmanager
def watch_cancellation(is_wished: Callable[[], bool]) -> Generator[None, None, None]:
    """Let what runs inside see this wish, beside those that it sees already."""
    token = _wishes.set((*_wishes.get(), is_wished))
    try:
        yield
    finally:
        _wishes.reset(token)
