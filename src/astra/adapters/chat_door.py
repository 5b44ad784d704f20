"""The chat's way to the rest: the counter as its door, a copy of each conversation on disk."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra.persona.conversations import Conversations
from astra.persona.speech import Offered
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.files.data_root import DataRoot, write_private
from astra.trusted.policy.call import Actor, Role

_log = logging.getLogger("astra.chat")
_ACTOR = Actor(role=Role.AGENT, name="chat", door="chat")


@dataclass(frozen=True, kw_only=True)
class CounterForChat:
    """The door `chat`: the persona calls as an agent, whoever talks with it."""

    counter: Counter
    flags: Mapping[str, bool]
    correlation: str
    off: frozenset[str]

    def offered(self) -> list[Offered]:
        return [
            Offered(
                name=tool.underscored,
                description=tool.description,
                schema=tool.input.model_json_schema(),
            )
            for tool in self.counter.registry.visible(self.flags, operator=False)
        ]

    def run(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.counter.call(
            Request(
                name=tool,
                arguments=arguments,
                actor=_ACTOR,
                correlation=self.correlation,
                off=self.off,
            )
        )


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Conversations as files that an agent may read; the ledger counts."""

    root: DataRoot
    conversations: Conversations

    def write(self, identifier: str) -> None:
        document = {
            **self.conversations.get(identifier).as_dict(),
            "items": [each.as_dict() for each in self.conversations.messages(identifier)],
        }
        place = self.root.path / "conversations" / f"{identifier}.json"
        try:
            write_private(place, json.dumps(document, indent=2, ensure_ascii=False).encode())
        except OSError as error:
            _log.warning("no copy of %s was written: %s", identifier, error.strerror)
