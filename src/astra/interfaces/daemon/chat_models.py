"""What the chat's routes take and give."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from astra.persona.chat import LONGEST_QUESTION


class ChatAsked(BaseModel):
    text: str = Field(description="what to say to the persona", max_length=LONGEST_QUESTION * 2)
    conversation: str | None = Field(default=None, description="go on with this one")


class ChatTrouble(BaseModel):
    code: str
    detail: str
    next_step: str


class ChatCall(BaseModel):
    """A tool that the persona called, as an agent, and how that went."""

    number: int
    tool: str
    arguments: dict[str, Any]
    outcome: Literal["ok", "refused", "waiting", "failed"]
    code: str
    detail: str | None = None
    approval_id: str | None = Field(default=None, description="what a person has to approve first")


class ChatUsage(BaseModel):
    input_tokens: int
    output_tokens: int
    tokens: int


class ChatMessage(BaseModel):
    sequence: int
    time: str
    who: Literal["person", "persona"]
    text: str
    calls: list[ChatCall]
    ended: Literal["done", "cut", "failed", "limit"] | None = Field(
        description="how an answer ended; nothing, for what a person said"
    )
    trouble: ChatTrouble | None
    suggestion: str | None = Field(description="a project that the persona suggests")
    model: str | None
    usage: ChatUsage | None


class ConversationShown(BaseModel):
    id: str
    title: str
    started_at: str
    spoken_at: str
    messages: int
    silenced: bool = Field(description="no project is suggested here any more")
    correlation: str
    spoken: int = Field(description="the sequence of its newest record")


class ConversationDetails(ConversationShown):
    items: list[ChatMessage]
    next: int | None = Field(description="the cursor of what was said before these")
    answering: bool = Field(description="the persona is speaking at this moment")
    in_ledger: int = Field(
        description="messages that an earlier version wrote into the ledger; deleting leaves those"
    )


class ConversationDeleted(BaseModel):
    id: str
    messages: int = Field(description="how many messages are out of view")
    in_ledger: int = Field(
        description="how many of them an earlier version wrote into the ledger, where they stay"
    )


class Conversations(BaseModel):
    items: list[ConversationShown]
    next: int | None
    unavailable: ChatTrouble | None = Field(description="why nobody can be talked with now")


class ChatAnswered(BaseModel):
    conversation: str
    sequence: int
    text: str
    calls: list[ChatCall]
    ended: Literal["done", "cut", "failed", "limit"]
    trouble: ChatTrouble | None
    suggestion: str | None
    model: str
    usage: ChatUsage
