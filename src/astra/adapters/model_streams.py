"""Hears a model's answer while it is written: silence ends a call, length does not.

    response = await hear_stream(call, hear=lambda event: False)   # piece by piece
    response = await take_whole(call)                             # from a server that cannot stream

Two limits hold. Nothing said for `silence_seconds` ends a stream; keeping a connection open with
comments or empty pieces is silence, too. And no call takes longer than `call_seconds`, which is
also the one limit of an answer in one piece: nobody can tell there whether a server still works.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astra.adapters.asking_modes import UNSUPPORTED
from astra.adapters.model_calls import Charge, Sending, read_status, request_reply, stream_reply
from astra.adapters.model_endpoints import Endpoint, make_model, open_client

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

SILENCE_SECONDS, CALL_SECONDS = 120.0, 900.0

Hear = Callable[[Any], bool]
"""Takes an event of a stream; gives True where that is enough."""


class StreamBroken(Exception):
    """A stream ended before the answer in it did."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a server may say nothing, and how long a call may take altogether."""

    silence_seconds: float = SILENCE_SECONDS
    call_seconds: float = CALL_SECONDS

    @property
    def longest(self) -> float:
        """A call is never given up before a silence would be."""
        return max(self.silence_seconds, self.call_seconds)


@dataclass(frozen=True, kw_only=True)
class Call:
    endpoint: Endpoint
    sending: Sending
    charge: Charge
    patience: Patience


async def hear_stream(call: Call, hear: Hear) -> "ModelResponse":
    """Have an answer piece by piece."""
    silence = asyncio.timeout(call.patience.silence_seconds)
    try:
        async with asyncio.timeout(call.patience.longest), silence:
            return await _listen(call, hear, silence)
    except TimeoutError:
        if silence.expired():
            raise _say_silent(call.patience.silence_seconds) from None
        raise _say_unfinished(call.patience.longest) from None


async def take_whole(call: Call) -> "ModelResponse":
    """Have an answer in one piece."""
    try:
        async with (
            asyncio.timeout(call.patience.longest),
            _open_client(call) as client,
        ):
            return await request_reply(make_model(call.endpoint, client), call.sending, call.charge)
    except TimeoutError:
        raise _say_unfinished(call.patience.longest) from None


def may_lack_streams(error: BaseException) -> bool:
    """Tell an answer that is no stream, or a refusal of the parameter, from trouble elsewhere."""
    if status := read_status(error):
        return status in UNSUPPORTED
    return isinstance(error, StreamBroken) or type(error).__name__ == "UnexpectedModelBehavior"


async def _listen(call: Call, hear: Hear, silence: asyncio.Timeout) -> "ModelResponse":
    loop, is_enough = asyncio.get_running_loop(), False
    async with AsyncExitStack() as resources:
        client = await resources.enter_async_context(_open_client(call))
        model = make_model(call.endpoint, client)
        stream = await resources.enter_async_context(stream_reply(model, call.sending, call.charge))
        async for event in stream:
            silence.reschedule(loop.time() + call.patience.silence_seconds)
            if is_enough := hear(event):
                break
        response = stream.get()
        if not is_enough and not _has_end(response):
            raise StreamBroken("its stream ended before its answer did")
        return response


def _has_end(response: "ModelResponse") -> bool:
    """Tell whether the server itself said that its answer ends: the library assumes it."""
    is_refusal = response.finish_reason == "content_filter"
    return is_refusal or bool((response.provider_details or {}).get("finish_reason"))


def _open_client(call: Call) -> Any:
    # Ours ends first, so that whoever waited hears how long, and not what a library calls it.
    return open_client(call.endpoint, 2 * call.patience.longest)


def _say_silent(seconds: float) -> TimeoutError:
    return TimeoutError(f"it said nothing for {seconds:g} seconds (model.silence_seconds)")


def _say_unfinished(seconds: float) -> TimeoutError:
    return TimeoutError(
        f"its answer was not complete within {seconds:g} seconds (model.call_seconds)"
    )
