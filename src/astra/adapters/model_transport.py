"""How much a model's server may say to the daemon, and how it may say it.

A body is read up to a bound and then cut off, so that a server which never ends costs no memory. It
is asked for uncompressed and refused otherwise: a bound on packed bytes would bound nothing. It is
never followed elsewhere: the signed configuration names the one address that gets the key.
"""

import ssl
from collections.abc import AsyncIterator
from functools import cache

import httpx2

LARGEST_BODY = 4_000_000


def bounded_client(seconds: float, *, most_bytes: int = LARGEST_BODY) -> httpx2.AsyncClient:
    """Make a client for one call."""
    return httpx2.AsyncClient(
        transport=_Bounded(httpx2.AsyncHTTPTransport(verify=_read_authorities()), most_bytes),
        timeout=seconds,
        follow_redirects=False,
    )


@cache
def _read_authorities() -> ssl.SSLContext:
    """Read once which authorities vouch for servers: it takes longer than most calls compute."""
    return httpx2.create_ssl_context()


class TooMuch(httpx2.HTTPError):
    """A server said more than anybody wants to hear, or in a form that hides how much it is."""


class _Bounded(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, most_bytes: int) -> None:
        self._inner, self._most_bytes = inner, most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)  # noqa: S101 - what this transport gives
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            await stream.aclose()
            raise TooMuch("its answer is compressed, which it was asked not to do")
        return httpx2.Response(
            status_code=response.status_code,
            headers=response.headers,
            stream=_BoundedStream(stream, self._most_bytes),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._inner, self._most_bytes = inner, most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received_bytes = 0
        async for part in self._inner:
            received_bytes += len(part)
            if received_bytes > self._most_bytes:
                raise TooMuch(f"its answer is more than {self._most_bytes} bytes")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
