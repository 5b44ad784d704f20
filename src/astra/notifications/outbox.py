"""The outbox: which notifications are due, sending them, and a record of how that went.

What to tell is derived from records that are there anyway: requests for approval, notices about
schedules, alerts, and a deployment that failed or was taken back. There is no queue. A notification
is due while its record is less than an hour old and no `notification_sent`, or the last of three
`notification_failed`, is in the ledger for a channel. A crash between sending and recording sends
it once more: hearing twice is better than never.

Who asks for approvals can ask often, so an hour has a limit: one for the channels that the operator
signed, however many there are, and one for each device, because anybody who may look can bring one.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from astra.deployments import events as deployments
from astra.notifications.links import make_link
from astra.operations import alert_book
from astra.schedules import events as schedules
from astra.schedules import tokens
from astra.trusted.approvals import desk
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, bring_back

SENT, FAILED = "notification_sent", "notification_failed"
APPROVAL, ALERT = "approval", "alert"
MOST_ATTEMPTS = 3
MOST_AN_HOUR = 30
_HOUR = timedelta(hours=1)
_PAUSE = timedelta(minutes=1)
_LONGEST_TITLE = 200
_WORDINGS = {
    APPROVAL: "a request waits for your decision",
    ALERT: "an alert was raised",
    "gave_up": "a schedule gave up",
    "missed": "a schedule missed firings",
    "cannot_be_planned": "a schedule cannot be planned",
    "token_refused": "a token file was refused",
    deployments.FAILED: "a deployment failed",
    deployments.NOT_SERVING: "the app does not serve",
    deployments.ROLLED_BACK: "a release was taken back",
    deployments.ROLLBACK_FAILED: "a release failed, and every way back failed",
}


class Channels(Protocol):
    """Where notifications go. Names can be shown and recorded; addresses stay inside."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def include_content(self) -> bool: ...

    def send(self, name: str, message: "Message") -> bool:
        """Send a message, within seconds; tell whether it was taken."""
        ...


@dataclass(frozen=True, kw_only=True)
class Message:
    wording: str
    """Says that something waits, and nothing about what."""
    content: str = ""
    """What waits, where the operator opted in."""
    opens: str = ""
    """The approval to look at, if it is about one."""
    waiting: int = 0
    """How many requests wait by now."""
    about: str = ""
    """The id of what it is about; it says nothing about what that is."""
    link: str = ""
    """The page about it."""

    @property
    def title(self) -> str:
        """What waits, where that may be said; else only that something does."""
        return one_line(self.content, _LONGEST_TITLE) if self.content else self.wording

    @property
    def body(self) -> str:
        """The rest: what the title had no room for, where to look, and the id at the end."""
        is_cut = len(self.content) > _LONGEST_TITLE
        facts = [self.content if is_cut else "", self.wording if self.content else "", self.link]
        return "\n".join(fact for fact in (*facts, self.about) if fact)

    def __str__(self) -> str:
        return f"{self.title}\n{self.body}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Notice:
    sequence: int
    kind: str
    text: str
    about: str


@dataclass(frozen=True, kw_only=True)
class Notification:
    notice: Notice
    channel: str
    attempt: int

    @property
    def key(self) -> str:
        return f"notification:{self.notice.sequence}:{self.channel}:{self.attempt}"

    def message(self, *, include_content: bool, waiting: int, page: str) -> Message:
        is_approval = self.notice.kind == APPROVAL
        return Message(
            wording=f"Astra: {_describe_notice(self.notice.kind)}",
            content=self.notice.text if include_content else "",
            opens=self.notice.about if is_approval else "",
            waiting=waiting,
            about=self.notice.about,
            link=make_link(page, self.notice.about),
        )

    def outcome(self, *, sent: bool) -> Event:
        notice = self.notice.sequence
        data = {"notice": notice, "channel": self.channel, "attempt": self.attempt}
        if sent:
            return Event(type=SENT, actor="daemon", data=data, key=self.key)
        return Event(type=FAILED, actor="daemon", data=data, key=self.key)


@dataclass(frozen=True)
class Outbox:
    ledger: Ledger
    clock: Clock
    channels: Callable[[], Channels]
    page: Callable[[], str]
    """Gives the address of the dashboard."""

    def due(self) -> list[Notification]:
        """Give what is to be sent now."""
        recent = self._query_recent()
        return [*self._find_due(recent, self.channels().names)] if recent else []

    def send(self, notification: Notification) -> None:
        """Send one notification, and record how that went."""
        channels = self.channels()
        message = notification.message(
            include_content=channels.include_content,
            waiting=self._count_pending(),
            page=self.page(),
        )
        was_sent = channels.send(notification.channel, message)
        self.ledger.append([notification.outcome(sent=was_sent)])

    def send_due(self) -> int:
        """Send what is due now, one after the other; says how many that were."""
        due = self.due()
        for notification in due:
            self.send(notification)
        return len(due)

    def _query_recent(self) -> list[Notice]:
        rows = self.ledger.query(
            "SELECT sequence, kind, text, about FROM notice WHERE time > ? ORDER BY time, sequence",
            [self._format_ago(_HOUR)],
        )
        return [
            Notice(sequence=sequence, kind=kind, text=text, about=about or "")
            for sequence, kind, text, about in rows
        ]

    def _find_due(self, recent: list[Notice], names: tuple[str, ...]) -> Iterator[Notification]:
        attempts_by_notice, sent_lately = self._query_attempts(), self._tried_lately()
        for notice in recent:
            for channel in names:
                attempts, waits = attempts_by_notice.get((notice.sequence, channel), (0, False))
                if not waits and sent_lately[_name_limit(channel)] < MOST_AN_HOUR:
                    sent_lately[_name_limit(channel)] += 1
                    yield Notification(notice=notice, channel=channel, attempt=attempts + 1)

    def _count_pending(self) -> int:
        ((count,),) = self.ledger.query(
            "SELECT count(*) FROM approval WHERE state = 'pending' AND expires_at > ?",
            [format_time(self.clock.now())],
        )
        return count

    def _query_attempts(self) -> dict[tuple[int, str], tuple[int, bool]]:
        """Give for what was tried how often, and whether it is over or too early to try again."""
        rows = self.ledger.query(
            "SELECT notice, channel, attempts, over OR last > ? FROM notice_try"
            " WHERE notice IN (SELECT sequence FROM notice WHERE time > ?)",
            [self._format_ago(_PAUSE), self._format_ago(_HOUR)],
        )
        return {(notice, channel): (times, bool(waits)) for notice, channel, times, waits in rows}

    def _tried_lately(self) -> Counter[str]:
        rows = self.ledger.query(
            "SELECT channel, sum(attempts) FROM notice_try WHERE last > ? GROUP BY channel",
            [self._format_ago(_HOUR)],
        )
        attempts_by_purse = Counter[str]()
        for channel, attempts in rows:
            attempts_by_purse[_name_limit(channel)] += attempts
        return attempts_by_purse

    def _format_ago(self, time: timedelta) -> str:
        return format_time(self.clock.now() - time)


def _describe_notice(kind: str) -> str:
    """Say what kind of thing happened, and nothing about this one."""
    return _WORDINGS.get(kind, f"a schedule did not run ({kind.replace('_', ' ')})")


def _name_limit(channel: str) -> str:
    """Name whose hour a channel spends: a device its own, every other one the same."""
    return channel if channel.startswith("dev_") else ""


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == CLOCK_ACCEPTED:
        yield bring_back(record, "notice", "time")
        yield bring_back(record, "notice_try", "last")
        return
    yield from _update_notices(record)


def _update_notices(record: Record) -> Iterator[Statement]:
    data = record.data
    match record.type:
        case desk.REQUESTED:
            yield _insert_notice(record, APPROVAL, data["summary"])
        case schedules.NOTICED if data["kind"] != "needs_approval":  # its request was told already
            yield _insert_notice(record, data["kind"], data["text"], data["schedule"])
        case tokens.REFUSED:
            yield _insert_notice(record, "token_refused", data["problem"], data["schedule"])
        case alert_book.RAISED | alert_book.REPEATED | alert_book.RESOLVED:
            yield from _update_alert(record)
        case record.type if record.type in _DEPLOYMENT_TEXTS:
            text = _DEPLOYMENT_TEXTS[record.type].format_map(data)
            yield _insert_notice(record, record.type, text)
        case desk.GRANTED | desk.REJECTED | desk.EXPIRED | desk.STALE:
            yield "DELETE FROM notice WHERE about = ?", (record.subject,)
        case record.type if record.type in {SENT, FAILED}:
            yield _store_attempt(record)
        case _:
            return


def _store_attempt(record: Record) -> Statement:
    data = record.data
    over = record.type == SENT or data["attempt"] >= MOST_ATTEMPTS
    failed = over and record.type == FAILED
    row = (data["notice"], data["channel"], data["attempt"], record.time, over, failed)
    return "INSERT OR REPLACE INTO notice_try VALUES (?, ?, ?, ?, ?, ?)", row


def _update_alert(record: Record) -> Iterator[Statement]:
    yield "DELETE FROM notice WHERE about = ?", (record.subject,)
    if record.type != alert_book.RESOLVED and not record.data["silenced"]:
        text = f"{record.data['text']}; next: {record.data['next_step']}"
        yield _insert_notice(record, ALERT, text)


def _insert_notice(record: Record, kind: str, text: str, about: str | None = None) -> Statement:
    return (
        "INSERT INTO notice VALUES (?, ?, ?, ?, ?)",
        (record.sequence, record.time, kind, text, about or record.subject),
    )


_DEPLOYMENT_TEXTS = {
    deployments.FAILED: "{reason}",
    deployments.NOT_SERVING: "{reason}",
    deployments.ROLLED_BACK: "release {from} was taken back; {release} serves again",
    deployments.ROLLBACK_FAILED: "NOTHING GOOD SERVES, every way back failed: {reason}",
}

PROJECTION = Projection(
    "notifications",
    (
        """CREATE TABLE notice (
            sequence INTEGER PRIMARY KEY, time TEXT, kind TEXT, text TEXT, about TEXT
        )""",
        "CREATE INDEX notice_time ON notice (time)",
        "CREATE INDEX notice_about ON notice (about)",
        """CREATE TABLE notice_try (
            notice INTEGER, channel TEXT, attempts INTEGER, last TEXT, over INTEGER,
            failed INTEGER, PRIMARY KEY (notice, channel)
        ) WITHOUT ROWID""",
        "CREATE INDEX notice_try_last ON notice_try (last)",
    ),
    _apply_record,
    types=frozenset(
        {
            CLOCK_ACCEPTED,
            desk.REQUESTED,
            desk.GRANTED,
            desk.REJECTED,
            desk.EXPIRED,
            desk.STALE,
            schedules.NOTICED,
            tokens.REFUSED,
            *_DEPLOYMENT_TEXTS,
            *(alert_book.RAISED, alert_book.REPEATED, alert_book.RESOLVED),
            SENT,
            FAILED,
        }
    ),
)
