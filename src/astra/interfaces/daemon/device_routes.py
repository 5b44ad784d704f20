"""Devices over HTTP: a browser asks to be told by push, and asks to be left alone.

Whoever may look may bring a device. It takes a session or a token: somebody on the daemon's own
socket has no browser, and may be the agent.
"""

from typing import Any

from fastapi import FastAPI, Request
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page, Shape
from astra.notifications.devices import LONGEST_ENDPOINT, Address
from astra.trusted.door.requests import principal
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy import contract
from astra.trusted.policy.access import Principal


class SubscriptionKeys(Shape):
    p256dh: str = Field(max_length=200)
    auth: str = Field(max_length=100)


class Subscription(Shape):
    """What a browser's `PushSubscription.toJSON()` gives."""

    endpoint: str = Field(max_length=LONGEST_ENDPOINT)
    keys: SubscriptionKeys


class DeviceShown(Shape):
    id: str = Field(description="`dev_` and the first 16 hex digits of the endpoint's sha-256")
    service: str = Field(description="the host of the push service")
    holder: str = Field(description="the passkey, session or token it depends on")
    subscribed_at: str
    expires_at: str = Field(description="unless it is subscribed again before")


class DevicesShown(Page[DeviceShown]):
    key: str = Field(description="the applicationServerKey to subscribe with")
    include_content: bool = Field(description="whether messages say what waits; signed")


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/devices", response_model=DevicesShown)
    def list_devices() -> dict[str, Any]:
        return {
            "items": [device.as_dict() for device in runtime.devices.list_devices()],
            "next": None,
            "key": runtime.push_key.key().public,
            "include_content": contract.read_configuration(runtime.ledger).notify.include_content,
        }

    @app.post("/api/devices", response_model=DeviceShown)
    def subscribe_device(request: Request, wanted: Subscription) -> dict[str, Any]:
        address = Address.read(wanted.endpoint, wanted.keys.p256dh, wanted.keys.auth)
        return runtime.devices.subscribe(address, _require_person(request)).as_dict()

    @app.delete("/api/devices/{identifier}", response_model=DeviceShown)
    def unsubscribe_device(request: Request, identifier: str) -> dict[str, Any]:
        return runtime.devices.unsubscribe(identifier, _require_person(request)).as_dict()


def _require_person(request: Request) -> Principal:
    who = principal(request)
    if who is None:
        raise Refused(
            "only somebody who is logged in has devices",
            code="no_session",
            next_step="open the dashboard: astra login",
        )
    return who
