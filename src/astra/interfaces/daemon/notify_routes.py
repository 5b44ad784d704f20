"""Trying the channels over HTTP."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Shape
from astra.trusted.door.requests import caller


class ChannelTried(Shape):
    channel: str
    ok: bool
    problem: str = ""


class ChannelsTried(Shape):
    ok: bool
    items: list[ChannelTried]
    next: str | None = None


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/notify/test", response_model=ChannelsTried)
    def test_channels(
        request: Request, channel: Annotated[str, Body(embed=True, max_length=80)] = ""
    ) -> dict[str, Any]:
        """Send a test message to each channel and device, or to one, and say who took it."""
        attempts = runtime.channel_test.run(actor=caller(request), only=channel)
        return {"ok": all(attempt.ok for attempt in attempts), "items": attempts}
