"""The awareness feed: `astra.awareness.read`."""

from typing import Literal

from pydantic import Field

from astra.persona.awareness import LARGEST_PAGE
from astra.tools import pages
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.policy.call import Tier


class ReadArguments(Arguments):
    kind: Literal["idle", "outcome", "alert", "belief"] | None = Field(
        default=None, description="only this"
    )
    limit: int = Field(default=20, ge=1, le=LARGEST_PAGE, description="how many")
    cursor: str | None = pages.Cursor


class Note(Answer):
    sequence: int
    time: str
    kind: str
    about: str | None
    text: str


class Feed(Answer):
    items: list[Note]
    next: str | None


def _read_awareness(arguments: ReadArguments, services: Services) -> Feed:
    notes, cursor = services.awareness.read(
        kind=arguments.kind, limit=arguments.limit, cursor=arguments.cursor
    )
    return Feed(items=[Note.model_validate(note) for note in notes], next=cursor)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.awareness.read",
        title="Read the awareness feed",
        description="Tells what happened (news, alerts, outcomes), newest first.",
        input=ReadArguments,
        output=Feed,
        tier=Tier.READ,
        handler=_read_awareness,
    ),
)
