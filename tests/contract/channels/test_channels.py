"""What every kind of channel does; the real ones speak to servers on this machine."""

import json
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from astra.adapters.apprise_channels import AppriseChannels
from astra.adapters.device_files import DeviceFiles, KeyFile
from astra.adapters.web_push import DeviceChannels, WebPush
from astra.notifications.devices import Address, Devices
from astra.notifications.outbox import Channels, Message
from astra.testing import MemoryChannels, RootInMemory
from astra.trusted.policy import access
from push_service import HOST, Browser, PushService, proven, serving
from web_hook import Hook, listening

# Apprise imports a module that Python 3.13 has no more; it has a stand-in for it then.
pytestmark = pytest.mark.filterwarnings("ignore:.imghdr. is deprecated:DeprecationWarning")
SECRET = "hunter2hunter2"
HELLO = Message(wording="hello")


@pytest.fixture
def hook() -> Iterator[Hook]:
    with listening() as server:
        yield server


def in_memory(_hook: Hook) -> Channels:
    made = MemoryChannels("GOOD", "DEAD")
    made.dead.add("DEAD")
    return made


def by_apprise(hook: Hook) -> Channels:
    place = f"json://someone:{SECRET}@127.0.0.1:{hook.server_port}"
    return AppriseChannels(addresses={"GOOD": f"{place}/hook", "DEAD": f"{place}/dead"})


@pytest.mark.parametrize("make", [in_memory, by_apprise])
def test_it_tells_whether_a_message_was_taken(make: Callable[[Hook], Channels], hook: Hook) -> None:
    channels = make(hook)
    assert channels.names == ("GOOD", "DEAD")
    assert not channels.include_content
    assert channels.send("GOOD", HELLO)
    assert not channels.send("DEAD", HELLO)


def test_the_text_arrives_as_it_was_given(hook: Hook) -> None:
    by_apprise(hook).send("GOOD", Message(wording="Astra: a request waits"))
    by_apprise(hook).send("GOOD", Message(wording="Astra: a request waits", content="a wish"))
    assert hook.heard == ["Astra: a request waits", "a wish\nAstra: a request waits"]


@pytest.mark.parametrize("address", ["nonsense", "unknown://x", "json://", "json://u:p@[::"])
def test_an_address_that_makes_no_sense_takes_nothing(address: str) -> None:
    assert not AppriseChannels(addresses={"BAD": address}).send("BAD", HELLO)


def test_a_service_that_never_answers_is_left(hook: Hook) -> None:
    address = f"json://127.0.0.1:{hook.server_port}/hang?rto=0.2"
    assert not AppriseChannels(addresses={"SLOW": address}).send("SLOW", HELLO)


def test_no_address_is_shown_or_logged(hook: Hook, caplog: pytest.LogCaptureFixture) -> None:
    channels = by_apprise(hook)
    with caplog.at_level(logging.DEBUG):
        channels.send("DEAD", HELLO)
    assert SECRET not in caplog.text
    assert SECRET not in repr(channels)


# Devices, told by push


class Devised:
    """A device of a session, and the service that its messages go through."""

    def __init__(self, folder: Path, service: PushService, path: str = "one") -> None:
        self.root = RootInMemory()
        self.root.clock.advance(seconds=1)
        self.service = service
        self.browser = Browser(path)
        files = DeviceFiles(folder / "devices")
        self.devices = Devices(self.root.ledger, self.root.clock, files, lambda: (HOST,))
        self.key = KeyFile(folder / "web-push.key")
        said = self.browser.subscription()
        address = Address.read(said["endpoint"], said["keys"]["p256dh"], said["keys"]["auth"])
        who = access.open_session(self.root.ledger, "secret", by="link", now=self.root.clock.now())
        self.name = self.devices.subscribe(address, who).id

    def channels(self, *, include_content: bool = False, seconds: float = 10.0) -> DeviceChannels:
        push = WebPush(
            key=self.key.key,
            contact="https://astra.example",
            clock=self.root.clock,
            places=self.service.places,
            trust=lambda: self.service.trusted,
            seconds=seconds,
        )
        return DeviceChannels(devices=self.devices, push=push, include_content=include_content)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[PushService]:
    with serving(tmp_path) as found:
        yield found


WAITS = Message(
    wording="Astra: a request waits for your decision",
    content="make a goal of a secret wish",
    opens="apr_0000000000000001",
    waiting=3,
)


def test_a_device_tells_whether_a_message_was_taken(tmp_path: Path, service: PushService) -> None:
    made = Devised(tmp_path, service)
    channels = made.channels()
    assert channels.names == (made.name,)
    assert not channels.include_content
    assert channels.send(made.name, HELLO)
    service.status = 500
    assert not channels.send(made.name, HELLO)


def test_only_the_device_can_read_a_message_and_it_says_nothing_of_what_waits(
    tmp_path: Path, service: PushService
) -> None:
    made = Devised(tmp_path, service)
    quiet = Message(wording=WAITS.wording, opens=WAITS.opens, waiting=WAITS.waiting)
    assert made.channels().send(made.name, quiet)
    ((path, headers, body),) = service.heard
    assert path == "/send/one"
    said = json.loads(made.browser.read(body))
    assert said == {"opens": "apr_0000000000000001", "waiting": 3}
    assert headers["Content-Encoding"] == "aes128gcm"
    assert (headers["TTL"], headers["Host"]) == ("3600", HOST)
    assert b"apr_" not in body
    claims = proven(headers["Authorization"])
    assert claims["aud"] == f"https://{HOST}"
    assert claims["k"] == made.key.key().public
    left = datetime.fromtimestamp(claims["exp"], UTC) - made.root.clock.now()
    assert 0 < left.total_seconds() <= 24 * 3600, "services refuse a proof for longer"


def test_content_goes_to_a_device_whose_holder_may_still_look(
    tmp_path: Path, service: PushService
) -> None:
    made = Devised(tmp_path, service)
    channels = made.channels(include_content=True)
    channels.send(made.name, WAITS)
    made.root.clock.advance(hours=13)
    channels.send(made.name, WAITS)
    said = [json.loads(made.browser.read(body)).get("text") for _, _, body in service.heard]
    assert said == ["make a goal of a secret wish", None]
    assert len({len(body) for _, _, body in service.heard}) == 1, "its length tells nothing"


@pytest.mark.parametrize("status", [404, 410])
def test_a_device_that_its_service_does_not_know_is_forgotten(
    tmp_path: Path, service: PushService, status: int
) -> None:
    made = Devised(tmp_path, service)
    service.status = status
    assert not made.channels().send(made.name, HELLO)
    assert made.devices.list_devices() == []
    assert made.channels().names == ()
    assert made.devices.addresses.devices() == []


@pytest.mark.parametrize("status", [302, 400, 401, 429, 500, 503])
def test_any_other_refusal_is_a_failure_and_leads_nowhere(
    tmp_path: Path, service: PushService, status: int
) -> None:
    made = Devised(tmp_path, service)
    service.status = status
    assert not made.channels().send(made.name, HELLO)
    assert len(service.heard) == 1, "no redirect is followed"
    assert made.channels().names == (made.name,)


def test_a_push_service_that_never_answers_is_left(tmp_path: Path, service: PushService) -> None:
    made = Devised(tmp_path, service, "hang")
    assert not made.channels(seconds=0.2).send(made.name, HELLO)


def test_a_device_whose_address_is_lost_takes_nothing(tmp_path: Path, service: PushService) -> None:
    made = Devised(tmp_path, service)
    channels = made.channels()
    made.devices.addresses.remove(made.name)
    assert not channels.send(made.name, HELLO)
    assert service.heard == []
