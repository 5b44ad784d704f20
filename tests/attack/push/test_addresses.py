"""An address that the daemon will connect to, chosen by whoever may look: it leads nowhere else."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.device_files import DeviceFiles
from astra.adapters.web_push import Outcome, WebPush, public_places
from astra.notifications.devices import Address, Devices
from astra.notifications.encryption import ServerKey
from astra.testing import RootInMemory
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import access
from push_service import HOST, Browser, PushService, serving

KNOWN = "fcm.googleapis.com"
KEYS = Browser().subscription()["keys"]
NOT_PLAIN = [
    "",
    "http://fcm.googleapis.com/x",
    "ftp://fcm.googleapis.com/x",
    "HTTPS:fcm.googleapis.com",
    "//fcm.googleapis.com/x",
    "file:///etc/passwd",
    "https://fcm.googleapis.com",
    "https://fcm.googleapis.com:8443/x",
    "https://fcm.googleapis.com:80/x",
    "https://fcm.googleapis.com:443443/x",
    "https://fcm.googleapis.com:/x",
    "https://user@fcm.googleapis.com/x",
    "https://user:pass@fcm.googleapis.com/x",
    "https://fcm.googleapis.com@127.0.0.1/x",
    "https://127.0.0.1\\@fcm.googleapis.com/x",
    "https://fcm.googleapis.com/x#y",
    "https://fcm.googleapis.com/x y",
    "https://fcm.googleapis.com/x\r\nHost: localhost",
    "https://fcm.googleapis.com/\x00",
    "https://fcm.googleapis.com./x",
    "https://FCM.googleapis.com/x",
    "https://fcm.googleapis.com/é",
    "https://\uff46cm.googleapis.com/x",
    "https://fcm\u3002googleapis.com/x",
    "https://127.0.0.1/x",
    "https://127.1/x",
    "https://2130706433/x",
    "https://0x7f000001/x",
    "https://0177.0.0.1/x",
    "https://[::1]/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://[::1/x",
    "https:///x",
    f"https://fcm.googleapis.com/{'x' * 1024}",
]
UNKNOWN = [
    "https://localhost/x",
    "https://evil.example/x",
    "https://fcm.googleapis.com.evil.example/x",
    "https://evilfcm.googleapis.com/x",
    "https://push.services.mozilla.com.evil.example/x",
    "https://push.services.mozilla.com/x",
    "https://metadata.google.internal/computeMetadata/v1/",
    "https://localhost.localdomain/x",
]
NOT_PUBLIC = [
    "127.0.0.1",
    "10.0.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "::1",
    "fd00::1",
    "0.0.0.0",
]


def read(endpoint: str) -> Address:
    return Address.read(endpoint, KEYS["p256dh"], KEYS["auth"])


@pytest.mark.parametrize("endpoint", NOT_PLAIN)
def test_an_address_that_two_programs_could_read_differently_is_none(endpoint: str) -> None:
    with pytest.raises(AstraError) as refused:
        read(endpoint)
    assert refused.value.http_status == 400
    assert refused.value.next_step


@pytest.mark.parametrize("endpoint", UNKNOWN)
def test_an_address_of_no_known_service_is_refused_and_leaves_nothing(
    tmp_path: Path, endpoint: str
) -> None:
    root, files = RootInMemory(), DeviceFiles(tmp_path / "devices")
    who = access.open_session(root.ledger, "secret", by="link", now=root.clock.now())
    devices = Devices(root.ledger, root.clock, files)
    with pytest.raises(AstraError) as refused:
        devices.subscribe(read(endpoint), who)
    assert refused.value.reason == "unknown_push_service"
    assert files.devices() == []
    assert devices.subscribe(read(f"https://{KNOWN}/fcm/send/x"), who).service == KNOWN


def answers(*addresses: str) -> Any:
    """Resolve every name to these."""

    def lookup(_host: str, port: int, **_options: Any) -> list[tuple[Any, ...]]:
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in each], 1, 6, "", (each, port)) for each in addresses]

    return lookup


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_a_name_that_leads_home_leads_nowhere(address: str) -> None:
    """Also when only one of its addresses does, and whichever comes first."""
    assert public_places(KNOWN, lookup=answers(address)) == []
    assert public_places(KNOWN, lookup=answers("8.8.8.8", address)) == []
    assert public_places(KNOWN, lookup=answers(address, "8.8.8.8")) == []
    assert public_places(KNOWN, lookup=answers("8.8.8.8")) == [("8.8.8.8", 443)]


def test_this_machines_own_name_leads_nowhere() -> None:
    assert public_places("localhost") == []


@pytest.fixture
def service(tmp_path: Path) -> Iterator[PushService]:
    with serving(tmp_path) as found:
        yield found


def push(service: PushService, **given: Any) -> WebPush:
    options: dict[str, Any] = {"places": service.places, "trust": lambda: service.trusted, **given}
    return WebPush(
        key=ServerKey.generate, contact="https://a.example", clock=RootInMemory().clock, **options
    )


def test_a_name_is_resolved_once_so_that_it_cannot_move_after_the_check(
    service: PushService,
) -> None:
    """The first answer is checked and connected to; there is no second look at the name."""
    asked: list[str] = []

    def places(host: str) -> list[tuple[str, int]]:
        asked.append(host)
        return service.places(host)

    assert push(service, places=places).deliver(read(f"https://{HOST}/x"), b"{}") is Outcome.TAKEN
    assert asked == [HOST]


def test_nothing_is_sent_where_the_certificate_is_another_names(service: PushService) -> None:
    assert push(service).deliver(read("https://other.example.org/x"), b"{}") is Outcome.FAILED
    assert service.heard == []


def test_nothing_is_sent_where_nobody_vouches_for_the_certificate(service: PushService) -> None:
    sent = push(service, trust=ssl.create_default_context).deliver(read(f"https://{HOST}/x"), b"")
    assert sent is Outcome.FAILED
    assert service.heard == []


def test_nothing_is_sent_to_a_service_that_leads_home(service: PushService) -> None:
    def home(host: str) -> list[tuple[str, int]]:
        return public_places(host, lookup=answers("127.0.0.1"))

    assert push(service, places=home).deliver(read(f"https://{HOST}/x"), b"{}") is Outcome.FAILED
    assert service.heard == []


def test_a_proxy_of_the_environment_is_not_used(
    service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever starts the daemon may be the agent."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert push(service).deliver(read(f"https://{HOST}/x"), b"{}") is Outcome.TAKEN


def test_a_service_that_drips_its_answer_holds_nobody_up() -> None:
    """A byte now and then keeps a socket's own time limit from ever passing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = threading.Event()

        def drip() -> None:
            connection, _ = listener.accept()
            with connection:
                while not ended.wait(0.02):
                    try:
                        connection.send(b"\x16")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        where = [("127.0.0.1", listener.getsockname()[1])]
        slow = WebPush(
            key=ServerKey.generate,
            contact="https://a.example",
            clock=RootInMemory().clock,
            places=lambda _host: where,
            seconds=0.3,
        )
        assert slow.deliver(read(f"https://{HOST}/x"), b"{}") is Outcome.FAILED
        ended.set()
        thread.join()
