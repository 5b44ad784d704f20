"""The chat's way to the rest: the counter as its door, a copy of each conversation on disk."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.persona.conversations import Conversations
from astra.persona.speech import Offered
from astra.tools.compact_schemas import compact_input
from astra.tools.toolsets import ALWAYS, find_toolset
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.private_files import write_private
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

    def list_offered(self) -> list[Offered]:
        return [
            Offered(
                name=tool.underscored,
                description=tool.description,
                schema=compact_input(tool.input),
                toolset="" if (toolset := find_toolset(tool.name)) == ALWAYS else toolset,
            )
            for tool in self.counter.registry.list_visible(self.flags, operator=False)
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
            "items": [message.as_dict() for message in self.conversations.messages(identifier)],
        }
        try:
            write_private(
                self._find_place(identifier),
                json.dumps(document, indent=2, ensure_ascii=False).encode(),
            )
        except OSError as error:
            _log.warning("no copy of %s was written: %s", identifier, error.strerror)

    def remove(self, identifier: str) -> None:
        self._find_place(identifier).unlink(missing_ok=True)

    def remove_deleted(self) -> int:
        """Remove copies of conversations that were deleted just before a crash."""
        names = [path.stem for path in self._folder.glob("*.json") if is_id(path.stem)]
        deleted = [name for name in names if self.conversations.is_deleted(name)]
        for identifier in deleted:
            self.remove(identifier)
        return len(deleted)

    @property
    def _folder(self) -> Path:
        return self.root.path / "conversations"

    def _find_place(self, identifier: str) -> Path:
        return self._folder / f"{identifier}.json"
