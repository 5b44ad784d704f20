"""Conversations: the ledger keeps that something was said, a private store keeps what.

A record names its text by the digest of a document that carries a salt, so that nothing about the
text can be guessed from it. The document is on disk before the record that names it: a record
without its document was deleted, or its document is on another machine. A question is kept before
any model hears it. An answer is one record when it is over, whether it was finished, cut off or
failed; a question without one was interrupted by a crash.

Deleting a conversation is a record, then its documents go; a crash in between is finished at the
next start. The chain verifies as before. Records of schema 1 hold their text themselves: deleting
takes it out of view and out of the index, and says that the chain still has it.
"""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import END, LARGEST_PAGE, check_page
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

ASKED, ANSWERED, SILENCED = "chat_asked", "chat_answered", "chat_suggestions_silenced"
DELETED = "chat_deleted"
PERSON, PERSONA = "person", "persona"
TEXT_MISSING = "(the text of this message is not on this machine, or was changed on its disk)"
_LONGEST_TITLE = 80
_MOST_COMPARED = 100
_SALT_BYTES = 16
_FIELDS = "id, started_at, spoken_at, messages, silenced, correlation, spoken"
_COLUMNS = f"{_FIELDS}, opening, inline, inlined, deleted_at"


class Texts(Protocol):
    """Where documents are kept, each under its conversation and the sha-256 of its bytes."""

    def keep(self, conversation: str, document: bytes) -> str:
        """Write a document so that it survives a crash; gives its digest."""
        ...

    def read(self, conversation: str, digest: str) -> bytes | None:
        """Give a document whose bytes still have this digest."""
        ...

    def remove(self, conversation: str, digest: str = "") -> None:
        """Remove one document, or all of a conversation."""
        ...

    def list_kept(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Give each conversation that has documents here, with their digests."""
        ...


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

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class Message:
    sequence: int
    time: str
    who: str
    text: str
    facts: dict[str, Any]
    chain: str = ""
    """The digest of all that was said so far, by which a client's copy is recognised."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "sequence": self.sequence,
            "time": self.time,
            "who": self.who,
            "text": self.text,
            **{name: self.facts.get(name, default) for name, default in _FACTS.items()},
        }


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """What deleting a conversation took away, and what of it stays in the chain."""

    id: str
    messages: int
    in_ledger: int
    """Messages of an earlier version, whose text is in the ledger's records themselves."""

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "messages": self.messages, "in_ledger": self.in_ledger}


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
    texts: Texts

    def page(
        self, *, limit: int = 50, cursor: int | None = None
    ) -> tuple[list[Conversation], int | None]:
        """Give conversations, the one last spoken in first, and where the next page starts."""
        before = check_page(limit, cursor)
        rows = self._query_rows(
            "spoken < ? AND deleted_at IS NULL ORDER BY spoken DESC LIMIT ?", before, limit + 1
        )
        conversations = [self._to_conversation(row) for row in rows[:limit]]
        return conversations, conversations[-1].spoken if len(rows) > limit else None

    def get(self, identifier: str) -> Conversation:
        return self._to_conversation(self._get_row(identifier))

    def describe_deletion(self, identifier: str) -> Deletion:
        """Say what deleting would take away, and what would stay."""
        row = self._get_row(identifier)
        return Deletion(id=identifier, messages=row["messages"], in_ledger=row["inlined"])

    def find_by_chain(self, chain: str, messages: int) -> Conversation | None:
        """Find the conversation that went exactly so far, by the digest of what was said in it.

        As many messages were said in it; of those, the ones spoken in last are compared.
        """
        rows = self._query_rows(
            "messages = ? AND deleted_at IS NULL ORDER BY spoken DESC LIMIT ?",
            messages,
            _MOST_COMPARED,
        )
        same = (row for row in rows if messages and self.read_chain(row["id"]) == chain)
        row = next(same, None)
        return self._to_conversation(row) if row else None

    def read_chain(self, identifier: str) -> str:
        newest = self.messages(identifier, last=1)
        return newest[0].chain if newest else ""

    def messages(
        self, identifier: str, *, last: int = LARGEST_PAGE, before: int = END
    ) -> list[Message]:
        """Give what was said, in order; of a long conversation, the end of it."""
        rows = self.ledger.query(
            "SELECT sequence, time, who, digest, inline, facts FROM chat_message"
            " WHERE conversation = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            [identifier, before, last],
        )
        messages: list[Message] = []
        for sequence, time, who, digest, inline, facts in reversed(rows):
            document = self._read_document(identifier, digest, inline)
            messages.append(
                Message(
                    sequence=sequence,
                    time=time,
                    who=who,
                    text=str(document["text"]),
                    chain=str(document.get("chain", "")),
                    facts=_merge_facts(json.loads(facts), document),
                )
            )
        return messages

    def remove_texts_without_record(self) -> int:
        """Remove documents that no record names, and those of deleted conversations.

        Only before anything is said: a document is written before its record.
        """
        removed = 0
        for conversation, digests in self.texts.list_kept():
            named_digests = self._list_digests(conversation)
            for digest in digests:
                if digest not in named_digests:
                    self.texts.remove(conversation, digest)
                    removed += 1
            if not named_digests:
                self.texts.remove(conversation)
        return removed

    def is_deleted(self, identifier: str) -> bool:
        rows = self._query_rows("id = ?", identifier)
        return bool(rows and rows[0]["deleted_at"])

    def _list_digests(self, conversation: str) -> set[str]:
        rows = self.ledger.query(
            "SELECT digest FROM chat_message JOIN conversation"
            " ON conversation.id = chat_message.conversation"
            " WHERE chat_message.conversation = ? AND deleted_at IS NULL",
            [conversation],
        )
        return {digest for (digest,) in rows}

    def _get_row(self, identifier: str) -> dict[str, Any]:
        rows = self._query_rows("id = ?", identifier)
        if not rows:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no conversation {label}", next_step="astra chat --list")
        if rows[0]["deleted_at"]:
            raise NotFound(
                f"the conversation {identifier} was deleted at {show_time(rows[0]['deleted_at'])}",
                code="conversation_deleted",
                next_step="start a new one; its records, without their texts, are in"
                f" `astra ledger story {identifier}`",
            )
        return rows[0]

    def _query_rows(self, condition: str, *parameters: Any) -> list[dict[str, Any]]:
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM conversation WHERE {condition}",  # noqa: S608 - fixed texts
            parameters,
        )
        names = _COLUMNS.split(", ")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _to_conversation(self, row: Mapping[str, Any]) -> Conversation:
        fields: dict[str, Any] = {name: row[name] for name in _FIELDS.split(", ")}
        opening = self._read_document(row["id"], row["opening"], row["inline"])
        title = one_line(str(opening["text"]), _LONGEST_TITLE)
        fields |= {"title": title, "silenced": bool(row["silenced"])}
        return Conversation(**fields)

    def _read_document(self, conversation: str, digest: str, inline: str | None) -> dict[str, Any]:
        if inline:
            return json.loads(inline)
        content = self.texts.read(conversation, digest)
        return json.loads(content) if content else {"text": TEXT_MISSING}


def write_document(chain: str, who: str, text: str, **details: Any) -> bytes:
    """Make the document of a message: its text, how it links to what was said, and a salt."""
    document = {
        "salt": secrets.token_hex(_SALT_BYTES),
        "text": text,
        "chain": extend_chain(chain, who, text),
        **details,
    }
    return json.dumps(document, ensure_ascii=False).encode()


def extend_chain(chain: str, who: str, text: str) -> str:
    """Name how a conversation went so far; spaces around what was said do not matter."""
    return hashlib.sha256(json.dumps([chain, who, text.strip()]).encode()).hexdigest()


def _merge_facts(facts: dict[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a record says of an answer, in full where the document is there."""
    details = {name: document[name] for name in _FACTS if name in document}
    if "calls" in facts and "calls" not in details:
        details["calls"] = [{"arguments": {}, **call} for call in facts["calls"]]
    if facts.get("trouble") and "trouble" not in details:
        details["trouble"] = {"detail": "", "next_step": "", **facts["trouble"]}
    return {**facts, **details}


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == SILENCED:
        yield "UPDATE conversation SET silenced = 1 WHERE id = ?", (record.subject,)
    elif record.type == DELETED:
        yield _MARK_DELETED, (record.time, record.subject)
        yield "UPDATE chat_message SET inline = NULL WHERE conversation = ?", (record.subject,)
    else:
        yield from _apply_message(record)


def _apply_message(record: Record) -> Iterator[Statement]:
    data = record.data
    inline = json.dumps(data["inline"]) if data.get("inline") else None
    new = (record.subject, record.time, record.time, record.correlation, data["digest"], inline)
    yield _INSERT_CONVERSATION, new
    facts = {name: data[name] for name in _FACTS if name in data}
    row = (record.sequence, record.subject, record.time, data["who"], data["digest"], inline)
    yield "INSERT INTO chat_message VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, json.dumps(facts))
    yield _SPOKEN, (record.time, record.sequence, 1 if inline else 0, record.subject)


_INSERT_CONVERSATION = """
    INSERT OR IGNORE INTO conversation
    (id, started_at, spoken_at, correlation, opening, inline, messages, silenced, spoken, inlined)
    VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0)
"""
_SPOKEN = """
    UPDATE conversation SET spoken_at = ?, spoken = ?, messages = messages + 1,
    inlined = inlined + ? WHERE id = ?
"""
_MARK_DELETED = "UPDATE conversation SET deleted_at = ?, inline = NULL WHERE id = ?"


PROJECTION = Projection(
    "conversations",
    (
        """CREATE TABLE conversation (
            id TEXT PRIMARY KEY, started_at TEXT, spoken_at TEXT, messages INTEGER,
            silenced INTEGER, correlation TEXT, spoken INTEGER, opening TEXT, inline TEXT,
            inlined INTEGER, deleted_at TEXT
        )""",
        "CREATE INDEX conversation_spoken ON conversation (spoken) WHERE deleted_at IS NULL",
        "CREATE INDEX conversation_messages ON conversation (messages, spoken)",
        """CREATE TABLE chat_message (
            sequence INTEGER PRIMARY KEY, conversation TEXT, time TEXT, who TEXT, digest TEXT,
            inline TEXT, facts TEXT
        )""",
        "CREATE INDEX chat_message_conversation ON chat_message (conversation, sequence)",
    ),
    _apply_record,
    types=frozenset({ASKED, ANSWERED, SILENCED, DELETED}),
)
