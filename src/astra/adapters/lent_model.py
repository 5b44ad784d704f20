"""The configured model, lent to a program in a box, which never sees its key.

    http://model.astra.internal/v1/chat/completions   →   POST base_url/chat/completions

A connection carries one request of OpenAI's protocol. Which model answers, with which key and at
most how many tokens, is the signed configuration's, whatever the request says. Each call is counted
under the caps before it is made, and ends when its program hangs up.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from astra.adapters.model_calls import Charge, CountedCall, count_call
from astra.adapters.model_endpoints import Endpoint
from astra.adapters.model_streams import Patience
from astra.plans.ports import Usage
from astra.spend.book import Estimate
from astra.spend.model import SpendRefused
from astra.spend.usage import Report
from astra.trusted.egress import http_head
from astra.trusted.egress.secret_masking import SecretMasking

HOST = "model.astra.internal"
URL = f"http://{HOST}/v1"
KEEP_ALIVE_SECONDS = 60.0
"""The proxy of a box ends what is silent for five minutes; a slow model takes longer."""
_PASSED_ON = (
    *("messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "stop"),
    *("stream", "temperature", "top_p", "seed", "presence_penalty", "frequency_penalty"),
)
_OUTPUT_LIMITS = ("max_completion_tokens", "max_tokens")
_OK = 200
_LARGEST_REQUEST = 4_000_000
_NO_TEXT = frozenset({"role", "id", "type", "finish_reason"})


@dataclass(frozen=True, kw_only=True)
class LentModel:
    endpoint: Endpoint
    charge: Charge
    patience: Patience
    count: Callable[[Usage], None]
    """Takes what each answered call used."""
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS
    refusals: list[SpendRefused] = field(default_factory=list[SpendRefused])
    """Calls that were not made, because a cap on spending would be passed."""
    _counting: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def connect(self) -> socket.socket:
        """Give the far side of a connection on which one request is served."""
        ours, theirs = socket.socketpair()
        threading.Thread(
            target=lambda: asyncio.run(self._serve(ours)), name="lent model", daemon=True
        ).start()
        return theirs

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(
            sock=connection, limit=http_head.LARGEST_HEAD
        )
        answer = _Answer(writer, self.endpoint.key)
        try:
            request = await _read_request(reader)
            await self._answer_while_wanted(request, reader, answer)
        except _BadRequest as error:
            await answer.refuse(error.status, str(error))
        except (OSError, asyncio.IncompleteReadError):
            pass  # it hung up
        finally:
            writer.close()

    async def _answer_while_wanted(
        self, request: dict[str, Any] | None, reader: asyncio.StreamReader, answer: "_Answer"
    ) -> None:
        """Answer unless the program hangs up first; say that it is worked on while that lasts."""
        if request is None:
            models = {"object": "list", "data": [{"id": self.endpoint.model, "object": "model"}]}
            await answer.give_document(_OK, models)
            return
        answering = asyncio.create_task(self._pass_on(request, answer))
        hanging_up = asyncio.create_task(reader.read(1))
        try:
            while not answering.done() and not hanging_up.done():
                await asyncio.wait(
                    {answering, hanging_up},
                    timeout=self.keep_alive_seconds,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not answering.done() and not hanging_up.done():
                    await answer.keep_alive(streams=bool(request.get("stream")))
        finally:
            hanging_up.cancel()
            if not answering.done():
                answering.cancel()
            await asyncio.gather(answering, hanging_up, return_exceptions=True)
        if not answering.cancelled() and (error := answering.exception()):
            raise error

    async def _pass_on(self, request: dict[str, Any], answer: "_Answer") -> None:
        import httpx2

        document = self._make_call(request)
        body = json.dumps(document).encode()
        try:
            async with count_call(self.charge, lambda: self._estimate(document, body)) as call:
                await self._call_server(body, answer, call)
        except SpendRefused as error:
            self.refusals.append(error)
            await answer.refuse(403, f"{error.detail} ({error.reason})")
            return
        except _ServerRefused:
            return  # its own words were passed on
        except (httpx2.HTTPError, TimeoutError) as error:
            await answer.refuse(502, f"the model did not answer: {type(error).__name__}")
            return
        with self._counting:
            report = call.report
            self.count(Usage(input_tokens=report.input_tokens, output_tokens=report.output_tokens))

    def _make_call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make the call of what was asked for: its model and its bound are not the program's."""
        limits = [request[name] for name in _OUTPUT_LIMITS if type(request.get(name)) is int]
        document = {name: request[name] for name in _PASSED_ON if name in request}
        document["model"] = self.endpoint.model
        document["max_tokens"] = max(1, min(self.endpoint.output_tokens, *limits, 10**9))
        if document.get("stream"):
            document["stream_options"] = {"include_usage": True}
        if "temperature" not in document and self.endpoint.temperature is not None:
            document["temperature"] = self.endpoint.temperature
        return document

    def _estimate(self, document: dict[str, Any], body: bytes) -> Estimate:
        most = self.endpoint.context_tokens or len(body)
        return Estimate(
            model=self.endpoint.name,
            input_tokens=min(len(body), most),
            output_tokens=int(document["max_tokens"]),
            sent_bytes=min(_measure_texts(document["messages"]), most),
        )

    async def _call_server(self, body: bytes, answer: "_Answer", counted: CountedCall) -> None:
        from astra.adapters.model_transport import bounded_client

        headers = {"Content-Type": "application/json"}
        if self.endpoint.key:
            headers["Authorization"] = f"Bearer {self.endpoint.key}"
        url = f"{self.endpoint.url.rstrip('/')}/chat/completions"
        async with (
            asyncio.timeout(self.patience.longest),
            bounded_client(self.patience.longest) as client,
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            received = bytearray()
            kind = response.headers.get("content-type", "application/json")
            await answer.begin(response.status_code, kind)
            async for part in response.aiter_bytes():
                received += part
                await answer.write(part)
            await answer.finish()
        if response.status_code != _OK:
            raise _ServerRefused(response.status_code)
        counted.report, counted.received_bytes = _read_answer(bytes(received))


class _BadRequest(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class _ServerRefused(Exception):
    """The model's server answered with an error; `status_code` is how such errors are read."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status_code = status


class _Answer:
    """What a program in a box is told: a head once, then a body that ends with the connection."""

    def __init__(self, writer: asyncio.StreamWriter, key: str) -> None:
        self._writer, self._masking = writer, SecretMasking([key] if key else [])
        self._has_begun, self._has_body = False, False

    async def begin(self, status: int, kind: str) -> None:
        if not self._has_begun:
            self._has_begun = True
            kind = kind if kind.isascii() and kind.isprintable() else "application/json"
            text = "OK" if status == _OK else "Refused"
            head = f"HTTP/1.1 {status} {text}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n"
            self._writer.write(head.encode())
            await self._writer.drain()

    async def write(self, data: bytes) -> None:
        self._has_body = True
        self._writer.write(self._masking.feed(data))
        await self._writer.drain()

    async def finish(self) -> None:
        self._writer.write(self._masking.finish())
        await self._writer.drain()

    async def keep_alive(self, *, streams: bool) -> None:
        """Send what no reader sees: a comment of a stream, or a space before a document."""
        if not self._has_body:
            await self.begin(_OK, "text/event-stream" if streams else "application/json")
            self._writer.write(b": it is worked on\n\n" if streams else b" ")
            await self._writer.drain()

    async def refuse(self, status: int, why: str) -> None:
        await self.give_document(status, {"error": {"message": why, "type": "astra"}})

    async def give_document(self, status: int, document: Mapping[str, Any]) -> None:
        await self.begin(status, "application/json")
        await self.write(json.dumps(document).encode())
        await self.finish()


async def _read_request(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """Read a call of the model; None asks which models there are."""
    try:
        head = http_head.parse_head(await reader.readuntil(b"\r\n\r\n"))
        length = http_head.body_length(head)
    except (http_head.BadHead, asyncio.LimitOverrunError):
        raise _BadRequest(400, "no HTTP request") from None
    path = head.target.partition("?")[0]
    if (head.method, path) == ("GET", "/v1/models"):
        return None
    if (head.method, path) != ("POST", "/v1/chat/completions"):
        raise _BadRequest(404, "only POST /v1/chat/completions and GET /v1/models are here")
    if length is None or length > _LARGEST_REQUEST:
        raise _BadRequest(413, f"give the length of the body, {_LARGEST_REQUEST:,} bytes at most")
    try:
        document: Any = json.loads(await reader.readexactly(length))
    except (ValueError, RecursionError):
        document = None
    request = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    if not isinstance(request.get("messages"), list):
        raise _BadRequest(400, "the body is no JSON object with messages")
    return request


def _read_answer(body: bytes) -> tuple[Report, int]:
    """Read what a server reported that a call used, and how much text it gave."""
    lines = [line.removeprefix(b"data:").strip() for line in body.splitlines()]
    documents = [_read_object(text) for text in (body, *lines)]
    usages: list[dict[str, Any]] = [
        item["usage"] for item in documents if isinstance(item.get("usage"), dict)
    ]
    text_bytes = sum(_measure_texts(item.get("choices")) for item in documents)
    usage: dict[str, Any] = usages[-1] if usages else {}
    details: Any = usage.get("prompt_tokens_details")
    report = Report(
        input_tokens=_read_count(usage, "prompt_tokens"),
        output_tokens=_read_count(usage, "completion_tokens"),
        cached_tokens=_read_count(details, "cached_tokens"),
    )
    return report, text_bytes


def _read_object(text: bytes) -> dict[str, Any]:
    try:
        document: Any = json.loads(text) if text.lstrip().startswith(b"{") else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", document) if isinstance(document, dict) else {}


def _read_count(usage: Any, name: str) -> int:
    count: Any = cast("dict[str, Any]", usage).get(name) if isinstance(usage, dict) else 0
    return count if type(count) is int else 0


def _measure_texts(value: Any) -> int:
    """Measure what is said in a JSON value, in bytes."""
    if isinstance(value, str):
        return len(value.encode(errors="replace"))
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return sum(_measure_texts(item) for name, item in items if name not in _NO_TEXT)
    return sum(map(_measure_texts, cast("list[Any]", value))) if isinstance(value, list) else 0
