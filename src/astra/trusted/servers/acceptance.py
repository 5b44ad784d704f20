"""Which tools of a server may be called: those that say now what the operator signed for.

A server's tool list is looked at when it starts, when it says that the list changed, and every
while. Each look that differs from the one before is a record (`server_tools_listed`) with a digest
for each tool. The operator signs the tools as they are shown (`server_tools_accepted`). A tool may
be called while its digest in the newest look is the one in the newest signature; whatever else it
is (new, changed, gone) it rests, and where something differs from what was signed that is a finding
(`server_tools_changed`). A model only ever reads what was signed, never what a server says today.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from astra.trusted.kernel.errors import BadInput, Conflict
from astra.trusted.kernel.ids import id_from_content
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.servers.declaration import Declaration, read_content

ACCEPTED, LISTED = "server_tools_accepted", "server_tools_listed"
CHANGED = "server_tools_changed"
DAEMON = "daemon"
_MOST_LOOKED_AT = 20


class ToolState(StrEnum):
    USABLE = "usable"
    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One tool of a server: what was signed of it, and how it stands since."""

    name: str
    state: ToolState
    accepted: Declaration | None = None


@dataclass(frozen=True)
class ServerBook:
    ledger: Ledger

    def version(self, server: str) -> int:
        """Count what happened to a server's tools; while it stays, so does every standing."""
        return self.ledger.version(subject_of(server))

    def read_accepted(self, server: str) -> dict[str, Declaration]:
        """Read the tools of the newest list that the operator properly signed."""
        newest = self.ledger.find_mentions(
            subject_of(server), ACCEPTED, limit=_MOST_LOOKED_AT, newest_first=True
        )
        for record in newest:
            if authority.is_signed_by_operator(self.ledger, record):
                tools = [read_content(tool) for tool in record.raw_data["tools"]]
                return {tool.name: tool for tool in tools}
        return {}

    def read_listed(self, server: str) -> dict[str, str] | None:
        """Read the digests of the newest look; None where nobody looked yet."""
        record = self._find_look(server)
        return dict(record.data["tools"]) if record else None

    def read_entry(self, server: str) -> str:
        """Name the signed entry under which the newest look was made."""
        record = self._find_look(server)
        return str(record.data["entry"]) if record else ""

    def list_standings(self, server: str) -> list[Standing]:
        return compare(self.read_accepted(server), self.read_listed(server))

    def find_usable(self, server: str) -> dict[str, Declaration]:
        return {
            standing.name: standing.accepted
            for standing in self.list_standings(server)
            if standing.accepted and standing.state is ToolState.USABLE
        }

    def note_look(self, server: str, tools: Sequence[Declaration], *, entry: str) -> list[Standing]:
        """Record what a server lists now, where it differs from the last look."""
        digests = {tool.name: tool.sha256 for tool in tools}
        if digests != self.read_listed(server) or entry != self.read_entry(server):
            self.ledger.append(self._describe_look(server, digests, entry))
        return self.list_standings(server)

    def accept(
        self, content: Mapping[str, Any], signed: Signed, *, now: datetime
    ) -> tuple[Record, list[Standing]]:
        """Record that the operator signed for a server's tools as it lists them now."""
        server = str(content.get("server", ""))
        listed_digests, subject = self.read_listed(server), subject_of(server)
        if listed_digests is None or listed_digests != _read_digests(content):
            raise Conflict(
                f"the tools of {server!a} are not those that were signed for any more",
                code="tools_changed",
                next_step=f"look again: astra servers show {server}",
            )
        event = Event(type=ACCEPTED, actor="operator", data=dict(content), subject=subject)
        event = authority.signed_event(self.ledger, event, signed, now=now)
        (record,) = self.ledger.append([event], expect={subject: self.version(server)})
        return record, self.list_standings(server)

    def _find_look(self, server: str) -> Record | None:
        looks = self.ledger.find_mentions(subject_of(server), LISTED, limit=1, newest_first=True)
        return looks[0] if looks else None

    def _describe_look(self, server: str, digests: Mapping[str, str], entry: str) -> list[Event]:
        look = {"server": server, "tools": dict(digests), "entry": entry}
        events = [Event(type=LISTED, actor=DAEMON, data=look, subject=subject_of(server))]
        accepted = self.read_accepted(server)
        differing = [
            standing
            for standing in compare(accepted, digests)
            if standing.state is not ToolState.USABLE
        ]
        if accepted and differing:
            names = {tool.name: str(tool.state) for tool in differing}
            data = {"server": server, "tools": names}
            events.append(Event(type=CHANGED, actor=DAEMON, data=data, subject=subject_of(server)))
        return events


def subject_of(server: str) -> str:
    """Name a server as the ledger does.

    >>> subject_of("git")[:4]
    'srv_'
    """
    return id_from_content("srv", server, digits=16)


def build_content(server: str, tools: Sequence[Declaration]) -> dict[str, Any]:
    """Give what an operator signs: every tool, word for word as it will be shown."""
    return {"server": server, "tools": [tool.as_content() for tool in tools]}


def compare(
    accepted: Mapping[str, Declaration], listed: Mapping[str, str] | None
) -> list[Standing]:
    """Say of each tool whether it is what was signed; before any look, what was signed counts."""
    digests = {name: tool.sha256 for name, tool in accepted.items()} if listed is None else listed
    return [
        Standing(name=name, state=_judge(name, accepted, digests), accepted=accepted.get(name))
        for name in sorted({*accepted, *digests})
    ]


def _judge(name: str, accepted: Mapping[str, Declaration], digests: Mapping[str, str]) -> ToolState:
    if name not in accepted:
        return ToolState.NEW
    if name not in digests:
        return ToolState.GONE
    is_same = accepted[name].sha256 == digests[name]
    return ToolState.USABLE if is_same else ToolState.CHANGED


def _read_digests(content: Mapping[str, Any]) -> dict[str, str]:
    try:
        return {str(tool["name"]): str(tool["sha256"]) for tool in content["tools"]}
    except (KeyError, TypeError):
        raise BadInput(
            "this is no list of tools", next_step="sign what astra servers show gives"
        ) from None
