"""Whether the client of one HTTP request is still there.

The 2025 protocol keeps working for a client that closed its stream, in case it comes back for the
answer. Astra keeps no answers for later, so a closed stream is a call that nobody waits for.
"""

from collections.abc import Callable
from typing import Any

from starlette.types import Message, Receive, Scope

_KEY = "astra.departure"


class Departure:
    def __init__(self) -> None:
        self._actions: set[Callable[[], Any]] = set()

    def when_gone(self, action: Callable[[], Any]) -> Callable[[], None]:
        """Do something when the client goes away; gives what calls it off."""
        self._actions.add(action)
        return lambda: self._actions.discard(action)

    def note(self) -> None:
        for action in list(self._actions):
            action()


def watch_request(scope: Scope, receive: Receive) -> Receive:
    """Notice when the client of a request goes away, as whoever serves it reads on."""
    departure = scope[_KEY] = Departure()

    async def noticing() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect":
            departure.note()
        return message

    return noticing


def find_departure(request: Any) -> Departure | None:
    return request.scope.get(_KEY) if request is not None else None
