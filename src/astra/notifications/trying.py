"""`astra notify test`: one message to every channel, at once, and whether each took it.

It is an operator's way to see that an address works before it matters. The words are fixed; so many
tests an hour, because every one of them reaches people.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from astra.notifications.links import make_link
from astra.notifications.outbox import Channels, Message
from astra.trusted.kernel.clock import Clock, parse_time
from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

TESTED = "notification_tested"
MOST_AN_HOUR = 20
WORDING = "Astra: a test, nothing waits for you"
_NO_ADDRESS = "there is no such line in .env"
_NOT_TAKEN = "it was not taken: a wrong address, or a service that cannot be reached or refused it"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    channel: str
    ok: bool
    problem: str = ""
    """Why nobody is told through it; an address holds secrets, so no more than this."""


@dataclass(frozen=True, kw_only=True)
class ChannelTest:
    ledger: Ledger
    clock: Clock
    channels: Callable[[], Channels]
    signed_names: Callable[[], Sequence[str]]
    """Names the channels that the operator signed, with an address or without."""
    page: Callable[[], str]

    def run(self, *, actor: str, only: str = "") -> list[Attempt]:
        """Send one message to each channel, or to one of them, and record what came of it.

        One that was signed and has no address fails too: people count on it.
        """
        channels = self.channels()
        every_name = dict.fromkeys((*channels.names, *self.signed_names()))
        names = [name for name in every_name if only in {"", name}]
        if not names:
            raise NotFound(
                f"there is no channel {only[:64]!r}" if only else "no channel is set up",
                next_step="name some in [notify] channels of astra.toml, with lines in .env",
                code="no_channel",
            )
        self._refuse_flood(len(names))
        return [self._try_channel(channels, name, actor) for name in names]

    def _try_channel(self, channels: Channels, name: str, actor: str) -> Attempt:
        if name not in channels.names:
            return Attempt(channel=name, ok=False, problem=_NO_ADDRESS)
        test_id = random_id("test")
        message = Message(wording=WORDING, about=test_id, link=make_link(self.page(), test_id))
        ok = channels.send(name, message)
        attempt = Attempt(channel=name, ok=ok, problem="" if ok else _NOT_TAKEN)
        data = {"channel": name, "ok": attempt.ok}
        self.ledger.append([Event(type=TESTED, actor=actor, data=data, subject=test_id)])
        return attempt

    def _refuse_flood(self, count: int) -> None:
        since = self.clock.now() - timedelta(hours=1)
        recent = self.ledger.records(TESTED, limit=MOST_AN_HOUR, newest_first=True)
        lately = sum(parse_time(record.time) > since for record in recent)
        if lately + count > MOST_AN_HOUR:
            raise Refused(
                f"{lately} tests were sent in the last hour; {MOST_AN_HOUR} is the most",
                code="too_many_calls",
                next_step="wait an hour, or name one channel",
            )
