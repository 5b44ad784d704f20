"""Conversations, as the ledger keeps them: what a person said, and what came of it.

A question is on disk before any model hears it. An answer is one record when it is over, whether it
was finished, cut off or failed; a question without one was interrupted by a crash.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import END, LARGEST_PAGE, check_page
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

ASKED, ANSWERED, SILENCED = "chat_asked", "chat_answered", "chat_suggestions_silenced"
PERSON, PERSONA = "person", "persona"
_LONGEST_TITLE = 80
_COLUMNS = "id, title, started_at, spoken_at, messages, silenced, correlation, spoken, chain"


@dataclass(frozen=True, kw_only=True)
class Conversation:
    id: str
    title: str
    started_at: str
    spoken_at: str
    messages: int
    silenced: bool
    correlation: str
    spoken: int
    """The sequence of its newest record."""
    chain: str
    """The digest of all that was said in it."""

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "chain"}


@dataclass(frozen=True, kw_only=True)
class Message:
    sequence: int
    time: str
    who: str
    text: str
    facts: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {
            "sequence": self.sequence,
            "time": self.time,
            "who": self.who,
            "text": self.text,
            **{name: self.facts.get(name, default) for name, default in _FACTS.items()},
        }


_FACTS: dict[str, Any] = {
    "calls": [],
    "ended": None,
    "trouble": None,
    "suggestion": None,
    "model": None,
    "usage": None,
}


@dataclass(frozen=True)
class Conversations:
    ledger: Ledger

    def page(
        self, *, limit: int = 50, cursor: int | None = None
    ) -> tuple[list[Conversation], int | None]:
        """Give conversations, the one last spoken in first, and where the next page starts."""
        before = check_page(limit, cursor)
        rows = self._where("spoken < ? ORDER BY spoken DESC LIMIT ?", before, limit + 1)
        return rows[:limit], rows[limit - 1].spoken if len(rows) > limit else None

    def get(self, identifier: str) -> Conversation:
        conversations = self._where("id = ?", identifier)
        if not conversations:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no conversation {label}", next_step="astra chat --list")
        return conversations[0]

    def continuing(self, chain: str) -> Conversation | None:
        """Find the conversation that went exactly so far, by the digest of what was said in it."""
        conversations = self._where("chain = ? ORDER BY spoken DESC LIMIT 1", chain)
        return conversations[0] if conversations else None

    def messages(
        self, identifier: str, *, last: int = LARGEST_PAGE, before: int = END
    ) -> list[Message]:
        """Give what was said, in order; of a long conversation, the end of it."""
        rows = self.ledger.query(
            "SELECT sequence, time, who, text, facts FROM chat_message"
            " WHERE conversation = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            [identifier, before, last],
        )
        return [
            Message(sequence=sequence, time=time, who=who, text=text, facts=json.loads(facts))
            for sequence, time, who, text, facts in reversed(rows)
        ]

    def _where(self, condition: str, *parameters: Any) -> list[Conversation]:
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM conversation WHERE {condition}",  # noqa: S608 - fixed texts
            parameters,
        )
        names = _COLUMNS.split(", ")
        return [_conversation(dict(zip(names, row, strict=True))) for row in rows]


def _conversation(row: dict[str, Any]) -> Conversation:
    row["silenced"] = bool(row["silenced"])
    return Conversation(**row)


def link(chain: str, who: str, text: str) -> str:
    """Name how a conversation went so far; spaces around what was said do not matter."""
    return hashlib.sha256(json.dumps([chain, who, text.strip()]).encode()).hexdigest()


def _apply(record: Record) -> Iterator[Statement]:
    if record.type == SILENCED:
        yield "UPDATE conversation SET silenced = 1 WHERE id = ?", (record.subject,)
        return
    data = record.data
    who = PERSON if record.type == ASKED else PERSONA
    title = one_line(data["text"], _LONGEST_TITLE)
    new = (record.subject, title, record.time, record.time, record.correlation)
    yield (
        "INSERT OR IGNORE INTO conversation VALUES (?, ?, ?, ?, 0, 0, ?, 0, '')",
        new,
    )
    facts = {name: data[name] for name in _FACTS if name in data}
    row = (record.sequence, record.subject, record.time, who, data["text"], json.dumps(facts))
    yield "INSERT INTO chat_message VALUES (?, ?, ?, ?, ?, ?)", row
    yield _SPOKEN, (record.time, record.sequence, data["chain"], record.subject)


_SPOKEN = """
    UPDATE conversation SET spoken_at = ?, spoken = ?, messages = messages + 1, chain = ?
    WHERE id = ?
"""


PROJECTION = Projection(
    "conversations",
    (
        """CREATE TABLE conversation (
            id TEXT PRIMARY KEY, title TEXT, started_at TEXT, spoken_at TEXT, messages INTEGER,
            silenced INTEGER, correlation TEXT, spoken INTEGER, chain TEXT
        )""",
        "CREATE INDEX conversation_spoken ON conversation (spoken)",
        "CREATE INDEX conversation_chain ON conversation (chain)",
        """CREATE TABLE chat_message (
            sequence INTEGER PRIMARY KEY, conversation TEXT, time TEXT, who TEXT, text TEXT,
            facts TEXT
        )""",
        "CREATE INDEX chat_message_conversation ON chat_message (conversation, sequence)",
    ),
    _apply,
    types=frozenset({ASKED, ANSWERED, SILENCED}),
)
