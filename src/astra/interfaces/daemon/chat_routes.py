"""Talking with the persona over HTTP: whole answers, or events as they come."""

import json
from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request, Response
from fastapi.responses import JSONResponse

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.chat_models import (
    ChatAnswered,
    ChatAsked,
    ConversationDeleted,
    ConversationDetails,
    Conversations,
    ConversationShown,
)
from astra.interfaces.daemon.parameters import Cursor, Off, parse_names
from astra.interfaces.daemon.turn_stream import TurnStream
from astra.persona.turn import Heard, Turn
from astra.trusted.door.requests import caller
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.paging import LARGEST_PAGE

EVENTS = "text/event-stream"
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "the whole answer; or, where `Accept` asks for it, server-sent events:"
        " `started`, then `text`, `call`, `result` and `suggestion` as they come, then `end` with"
        " the whole answer, or `problem`",
        "model": ChatAnswered,
        "content": {EVENTS: {"schema": {"type": "string"}}},
    }
}


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/chat", response_model=Conversations)
    def list_conversations(
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50, cursor: Cursor = None
    ) -> dict[str, Any]:
        conversations, following = runtime.chat.conversations.page(limit=limit, cursor=cursor)
        return {
            "items": [conversation.as_dict() for conversation in conversations],
            "next": following,
            "unavailable": _find_chat_problem(runtime),
        }

    @app.post("/api/chat", response_class=Response, responses=_ANSWERS)
    def chat(
        request: Request,
        asked: ChatAsked,
        accept: Annotated[str, Header()] = "",
        astra_off: Off = "",
    ) -> Response:
        """Say something to the persona, which acts as an agent whoever talks with it."""
        turn = runtime.chat.ask(
            asked.text,
            actor=caller(request),
            conversation=asked.conversation,
            off=parse_names(astra_off),
        )
        if EVENTS in accept:
            start_data = {"conversation": turn.conversation, "sequence": turn.asked}
            return TurnStream(turn, _encode_heard, first=[_encode_event("started", start_data)])
        return JSONResponse(ChatAnswered(**complete_turn(turn)).model_dump())

    @app.get("/api/chat/{identifier}", response_model=ConversationDetails)
    def show_conversation(
        identifier: str,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        """Give the end of what was said, in order; `next` is the cursor of what was before."""
        conversation = runtime.chat.conversations.get(identifier)
        more = {} if cursor is None else {"before": cursor}
        messages = runtime.chat.conversations.messages(identifier, last=limit + 1, **more)
        page_messages = messages[-limit:]
        return {
            **conversation.as_dict(),
            "items": [message.as_dict() for message in page_messages],
            "next": page_messages[0].sequence if len(messages) > limit else None,
            "answering": runtime.chat.is_answering(identifier),
            "in_ledger": runtime.chat.conversations.describe_deletion(identifier).in_ledger,
        }

    @app.post("/api/chat/{identifier}/silence", response_model=ConversationShown)
    def silence(request: Request, identifier: str) -> dict[str, Any]:
        """Say no to a suggested project, for the rest of the conversation."""
        return runtime.chat.silence(identifier, actor=caller(request)).as_dict()

    @app.delete("/api/chat/{identifier}", response_model=ConversationDeleted)
    def delete(request: Request, identifier: str) -> dict[str, Any]:
        """Take a conversation out of view, and its texts off the disk; its records stay."""
        return runtime.chat.delete(identifier, actor=caller(request)).as_dict()


def complete_turn(turn: Turn) -> dict[str, Any]:
    """Run a turn to its end and give its answer whole."""
    answer = turn.run(lambda _heard: None)
    return {**answer.data, "conversation": turn.conversation, "sequence": answer.sequence}


def _find_chat_problem(runtime: Runtime) -> dict[str, Any] | None:
    try:
        runtime.chat.require_available()
    except AstraError as error:
        return error.as_dict()
    return None


def _encode_heard(heard: Heard) -> Iterable[bytes]:
    yield _encode_event(heard.kind, heard.data)


def _encode_event(kind: str, data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data, default=str)}\n\n".encode()
