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
    ConversationDetails,
    Conversations,
    ConversationShown,
)
from astra.interfaces.daemon.turn_stream import TurnStream
from astra.persona.turn import Heard, Turn
from astra.trusted.door.requests import Cursor, Off, caller, names
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
        found, following = runtime.chat.conversations.page(limit=limit, cursor=cursor)
        return {
            "items": [each.as_dict() for each in found],
            "next": following,
            "unavailable": _unavailable(runtime),
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
            off=names(astra_off),
        )
        if EVENTS in accept:
            started = {"conversation": turn.conversation, "sequence": turn.asked}
            return TurnStream(turn, _frames, first=[_frame("started", started)])
        return JSONResponse(ChatAnswered(**answered(turn)).model_dump())

    @app.get("/api/chat/{identifier}", response_model=ConversationDetails)
    def show_conversation(
        identifier: str,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        """Give the end of what was said, in order; `next` is the cursor of what was before."""
        found = runtime.chat.conversations.get(identifier)
        more = {} if cursor is None else {"before": cursor}
        said = runtime.chat.conversations.messages(identifier, last=limit + 1, **more)
        shown = said[-limit:]
        return {
            **found.as_dict(),
            "items": [each.as_dict() for each in shown],
            "next": shown[0].sequence if len(said) > limit else None,
            "answering": runtime.chat.is_answering(identifier),
        }

    @app.post("/api/chat/{identifier}/silence", response_model=ConversationShown)
    def silence(request: Request, identifier: str) -> dict[str, Any]:
        """Say no to a suggested project, for the rest of the conversation."""
        return runtime.chat.silence(identifier, actor=caller(request)).as_dict()


def answered(turn: Turn) -> dict[str, Any]:
    """Run a turn to its end and give its answer whole."""
    record = turn.run(lambda _heard: None)
    return {**record.data, "conversation": turn.conversation, "sequence": record.sequence}


def _unavailable(runtime: Runtime) -> dict[str, Any] | None:
    try:
        runtime.chat.available()
    except AstraError as error:
        return error.as_dict()
    return None


def _frames(heard: Heard) -> Iterable[bytes]:
    yield _frame(heard.kind, heard.data)


def _frame(kind: str, data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data, default=str)}\n\n".encode()
