"""The one place from which models are called: counted before, sent, settled after.

`language_models` and `talking_models` build what is sent and read what comes back; nothing else in
Astra imports the library's request functions (a test holds it to that). `lent_model` passes on what
a program in a box sends, and counts it here too. How a call ended decides
what counts: what the server reported, nothing where it was never reached or refused the request,
and all that was reserved where nobody can know.
"""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from astra.spend.book import Estimate, Reservation
from astra.spend.model import NOBODY, Account
from astra.spend.usage import Report

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

_PER_CALL, _PER_PART = 1_000, 64
"""Tokens that a server adds by itself: templates, marks between messages, rules for tools."""
_NEVER_ARRIVED = frozenset({"ConnectError", "ConnectTimeout"})


class Meter(Protocol):
    def has_caps(self, account: Account) -> bool: ...

    def reserve(self, account: Account, estimate: Estimate) -> Reservation | None: ...

    def settle(self, reservation: Reservation, report: Report, *, received_bytes: int) -> None: ...

    def settle_uncertain(self, reservation: Reservation, why: str) -> None: ...

    def release(self, reservation: Reservation) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Charge:
    """On whose account a model is called; without a meter nothing is counted."""

    meter: Meter | None = None
    account: Account = NOBODY


FREE = Charge()


@dataclass(frozen=True, kw_only=True)
class Sending:
    """What is sent to a model, and what it may answer at most."""

    model: str
    messages: "Sequence[ModelMessage]"
    parameters: "ModelRequestParameters"
    settings: "ModelSettings"
    output_tokens: int
    context_tokens: int = 0

    def estimate(self) -> Estimate:
        """Bound what the call can take: no tokenizer makes more tokens than there are bytes."""
        parts = [part for message in self.messages for part in message.parts]
        sent_bytes = sum(map(_measure_part, parts))
        tools = [*self.parameters.function_tools, *self.parameters.output_tools]
        forms = [tool.parameters_json_schema for tool in tools]
        if form := self.parameters.output_object:
            forms.append(form.json_schema)
        described = sum(len((tool.description or "").encode()) + len(tool.name) for tool in tools)
        most = sent_bytes + described + sum(map(_measure_json, forms))
        most += _PER_CALL + _PER_PART * (len(parts) + len(forms))
        return Estimate(
            model=self.model,
            input_tokens=min(most, self.context_tokens) if self.context_tokens else most,
            output_tokens=self.output_tokens,
            sent_bytes=min(sent_bytes, self.context_tokens) if self.context_tokens else sent_bytes,
        )


async def request_reply(model: "Model[Any]", sending: Sending, charge: Charge) -> "ModelResponse":
    """Have a model answer in one piece."""
    from pydantic_ai.direct import model_request

    async with count_call(charge, sending.estimate) as call:
        response = await model_request(
            model,
            list(sending.messages),
            model_settings=sending.settings,
            model_request_parameters=sending.parameters,
        )
        _note_response(call, response)
    return response


@asynccontextmanager
async def stream_reply(
    model: "Model[Any]", sending: Sending, charge: Charge
) -> "AsyncGenerator[StreamedResponse]":
    """Have a model answer piece by piece."""
    from pydantic_ai.direct import model_request_stream

    async with count_call(charge, sending.estimate) as call:
        stream_context = model_request_stream(
            model,
            list(sending.messages),
            model_settings=sending.settings,
            model_request_parameters=sending.parameters,
        )
        async with stream_context as stream:
            yield stream
            _note_response(call, stream.get())


@dataclass
class CountedCall:
    """What came of a call that is counted, as its server reported it."""

    report: Report = field(default_factory=Report)
    received_bytes: int = 0


@asynccontextmanager
async def count_call(
    charge: Charge, estimate: Callable[[], Estimate]
) -> AsyncGenerator[CountedCall]:
    """Reserve the most that a call can take, and settle it by what came of it."""
    meter, call = charge.meter, CountedCall()
    if meter is None or not meter.has_caps(charge.account):
        yield call
        return
    reservation = meter.reserve(charge.account, estimate())
    if reservation is None:  # the last cap was signed away in this moment
        yield call
        return
    try:
        yield call
    except BaseException as error:  # however it ended, it is settled, and goes on as it was
        if _never_arrived(error):
            meter.release(reservation)
        else:
            meter.settle_uncertain(reservation, f"the call ended by {type(error).__name__}")
        raise
    meter.settle(reservation, call.report, received_bytes=call.received_bytes)


def _note_response(call: CountedCall, response: "ModelResponse") -> None:
    call.report = read_report(response)
    call.received_bytes = sum(map(_measure_part, response.parts))


def read_report(response: "ModelResponse") -> Report:
    usage = response.usage
    return Report(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
    )


def read_status(error: BaseException) -> int:
    """Read the HTTP status a model's server answered with; 0 where it did not answer."""
    for cause in _list_causes(error):
        status: Any = getattr(cause, "status_code", None)
        if type(status) is int:
            return status
    return 0


def _never_arrived(error: BaseException) -> bool:
    """Tell whether no model can have worked: nobody listened, or the request was refused."""
    if 400 <= read_status(error) < 500:  # noqa: PLR2004 - HTTP's own numbers
        return True
    return any(type(cause).__name__ in _NEVER_ARRIVED for cause in _list_causes(error))


def _list_causes(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__
    return causes


def _measure_part(part: Any) -> int:
    """Measure the text of a part in bytes; what is no text by its JSON."""
    for name in ("content", "args"):
        value = getattr(part, name, None)
        if value:
            return (
                len(value.encode(errors="replace"))
                if isinstance(value, str)
                else (_measure_json(value))
            )
    return 0


def _measure_json(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str).encode(errors="replace"))
