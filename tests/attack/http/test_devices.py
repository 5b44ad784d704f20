"""Devices over HTTP: whoever may look may be told; nobody else, nowhere else, never an agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from http_driver import Served, problem
from push_service import Browser

NOWHERE = "push.invalid"
"""A service that the operator signed, and that no resolver finds."""


@pytest.fixture(scope="module", autouse=True)
def signed(site: Served) -> None:
    path = site.astra.root / "astra.toml"
    path.write_text(f'{path.read_text()}\n[notify]\npush_services = ["{NOWHERE}"]\n')
    site.astra.json("config", "sign")


@pytest.fixture
def viewer(site: Served) -> Iterator[httpx2.Client]:
    with site.client(site.token("viewer")["secret"]) as http:
        yield http


@pytest.fixture
def operator(site: Served) -> Iterator[httpx2.Client]:
    with site.client(site.login()) as http:
        yield http


def wanted(path: str, host: str = NOWHERE) -> dict[str, Any]:
    return Browser(path, host).subscription()


def test_a_viewer_subscribes_and_unsubscribes_a_browser(viewer: httpx2.Client) -> None:
    made = viewer.post("/api/devices", json=wanted("viewers"))
    assert made.status_code == 200, made.text
    shown = viewer.get("/api/devices").json()
    assert made.json() in shown["items"]
    assert "viewers" not in str(shown), "an address is told to nobody"
    assert len(shown["key"]) == 87
    assert not shown["include_content"]
    gone = viewer.delete(f"/api/devices/{made.json()['id']}")
    assert gone.json() == made.json()
    problem(viewer.delete(f"/api/devices/{made.json()['id']}"), 404, "not_found")


def test_a_viewer_cannot_silence_somebody_elses_browser(
    viewer: httpx2.Client, operator: httpx2.Client
) -> None:
    made = operator.post("/api/devices", json=wanted("operators")).json()
    problem(viewer.delete(f"/api/devices/{made['id']}"), 403, "wrong_holder")
    assert operator.delete(f"/api/devices/{made['id']}").status_code == 200


def test_an_agent_hears_of_no_device_and_brings_none(site: Served) -> None:
    with site.client(site.token("agent")["secret"]) as http:
        problem(http.get("/api/devices"), 403, "wrong_role")
        problem(http.post("/api/devices", json=wanted("agents")), 403, "wrong_role")
        problem(http.delete("/api/devices/dev_0000000000000000"), 403, "wrong_role")


def test_nobody_at_the_daemons_own_socket_has_a_device(site: Served) -> None:
    """Who is there may be the agent: it could have itself told, or an operator not told."""
    transport = httpx2.HTTPTransport(uds=str(site.astra.root / "var" / "run" / "astra.sock"))
    with httpx2.Client(transport=transport, base_url="http://astra") as http:
        problem(http.post("/api/devices", json=wanted("sockets")), 403, "no_session")
        problem(http.delete("/api/devices/dev_0000000000000000"), 403, "no_session")


@pytest.mark.parametrize(
    ("endpoint", "status", "code"),
    [
        ("https://localhost/x", 403, "unknown_push_service"),
        ("https://127.0.0.1/x", 400, "bad_domain"),
        ("http://push.invalid/x", 400, "bad_subscription"),
        ("https://push.invalid:8700/api/stop", 400, "bad_subscription"),
        ("https://push.invalid@localhost/x", 400, "bad_subscription"),
    ],
)
def test_an_address_that_leads_elsewhere_is_refused(
    operator: httpx2.Client, endpoint: str, status: int, code: str
) -> None:
    before = operator.get("/api/devices").json()["items"]
    hostile = {**wanted("x"), "endpoint": endpoint}
    problem(operator.post("/api/devices", json=hostile), status, code)
    assert operator.get("/api/devices").json()["items"] == before


def test_logging_out_ends_what_the_session_brought(site: Served, viewer: httpx2.Client) -> None:
    with site.client(site.login()) as http:
        made = http.post("/api/devices", json=wanted("leaving")).json()
        assert made in viewer.get("/api/devices").json()["items"]
        http.delete("/api/session")
    assert made not in viewer.get("/api/devices").json()["items"]


def test_what_waits_is_tried_on_a_device_and_its_address_is_in_no_record(
    site: Served, operator: httpx2.Client
) -> None:
    assert operator.get("/api/devices").json()["key"]
    made = operator.post("/api/devices", json=wanted("a-secret-path")).json()
    site.astra.json("tools", "call", "fetch_url", '{"url": "https://example.org/"}', code=3)
    site.astra.follow("notification_failed")
    records = operator.get("/api/ledger", params={"type": "notification_failed"}).json()["items"]
    assert {each["data"]["channel"] for each in records} == {made["id"]}
    everything = b"".join(each.read_bytes() for each in files(site.astra.root / "var" / "ledger"))
    assert b"a-secret-path" not in everything
    kept = site.astra.root / "var" / "devices" / f"{made['id']}.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (site.astra.root / "var/keys/web-push.key").stat().st_mode & 0o777 == 0o600


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
