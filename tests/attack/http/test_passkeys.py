"""A passkey over HTTP: made in a browser, signed in a terminal, asked for each decision anew."""

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from authenticator import Authenticator
from driver import COMMAND
from http_driver import Served, problem
from warm_start import warm


def enroll(site: Served, device: Authenticator, *words: str) -> dict[str, Any]:
    return enroll_with_code(site, device, *words)[0]


def enroll_with_code(
    site: Served, device: Authenticator, *words: str
) -> tuple[dict[str, Any], str]:
    """Run the command, do in its link what a browser does; give what it said, and the link's code.

    Before the operator has signed, the link lets nobody in.
    """
    with subprocess.Popen(
        warm(COMMAND, "passkeys", "enroll", "--yes", "--json", *words),
        env=site.astra.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        process.stderr.readline()
        code = re.findall(r"/enroll#([\w-]+)", process.stderr.readline())[0]
        with site.client(Origin=site.origin) as http:
            outcome = http.post("/api/passkeys/enrolments/outcome", json={"code": code})
            assert outcome.json() == {"enrolled": False}
            guess = http.post("/api/passkeys/enrolments/outcome", json={"code": "a guess"})
            problem(guess, 401, "not_recognised")
            early = http.post("/api/passkeys/enrolments/session", json={"code": code})
            problem(early, 403, "not_enrolled")
            options = http.post("/api/passkeys/enrolments/options", json={"code": code}).json()
            made = {"code": code, **device.create(options["challenge"])}
            said = http.post("/api/passkeys/enrolments/made", json=made)
            assert re.fullmatch(r"\d{6}", said.json()["check"])
            problem(http.post("/api/passkeys/enrolments/made", json=made), 401, "not_recognised")
        assert options["rp"]["id"] == "localhost"
        assert options["authenticatorSelection"]["userVerification"] == "required"
        answer = process.stdout.read()
        assert process.wait(timeout=240) == 0, answer
    with site.client(Origin=site.origin) as http:
        outcome = http.post("/api/passkeys/enrolments/outcome", json={"code": code})
        assert outcome.json() == {"enrolled": True}
    return json.loads(answer), code


@pytest.fixture(scope="module")
def device(site: Served) -> Authenticator:
    made = Authenticator(site.origin)
    assert enroll(site, made, "--name", "my phone")["id"] == made.id
    return made


@pytest.fixture
def http(site: Served) -> Iterator[httpx2.Client]:
    with site.client(site.login(), Origin=site.origin) as opened:
        yield opened


def login(site: Served, device: Authenticator, challenge: str | None = None) -> httpx2.Response:
    with site.client(Origin=site.origin) as http:
        asked = http.post("/api/session/challenge").json()
        assert asked["allowCredentials"] == []
        from astra.trusted.policy.assertions import encode_base64url

        answer = device.get(challenge or asked["challenge"])
        said = {"credential": encode_base64url(device.credential), **answer}
        return http.post("/api/session/passkey", json=said)


def waiting(site: Served, path: str) -> str:
    body = json.dumps({"url": f"https://example.com/{path}"})
    return site.astra.json("tools", "call", "fetch_url", body, code=3)["approval_id"]


def asked(http: httpx2.Client, identifier: str) -> dict[str, Any]:
    """Have the server draft the decision, as the page does."""
    shown = http.get(f"/api/approvals/{identifier}").json()
    content = {"approval": identifier, "digest": shown["digest"]}
    body = {"action": "approval_granted", "content": content}
    return http.post("/api/statements", json=body).json()


def test_a_passkey_approves_and_a_login_link_alone_does_not(
    site: Served, device: Authenticator, http: httpx2.Client
) -> None:
    identifier = waiting(site, "one")
    path = f"/api/approvals/{identifier}/approve"
    drafted = asked(http, identifier)
    unsigned = {"statement": drafted["statement"], "key": device.id, "signature": ""}
    problem(http.post(path, json={"authority": unsigned}), 403, "signature_rejected")
    assert device.id in drafted["passkeys"].values()
    answer = device.get(drafted["options"]["challenge"])
    body = {"authority": {"statement": drafted["statement"], "key": device.id, **answer}}
    assert http.post(path, json=body).json()["state"] == "approved"
    problem(http.post(path, json=body), 409, "already_decided")
    granted = site.astra.json("ledger", "tail", "--type", "approval_granted")["items"][-1]
    assert granted["data"]["authority"]["client_data"] == answer["client_data"]


def test_an_answer_for_one_approval_is_none_for_another(
    site: Served, device: Authenticator, http: httpx2.Client
) -> None:
    first, second = waiting(site, "two"), waiting(site, "three")
    drafted = asked(http, first)
    answer = device.get(drafted["options"]["challenge"])
    body = {"authority": {"statement": drafted["statement"], "key": device.id, **answer}}
    said = http.post(f"/api/approvals/{second}/approve", json=body)
    problem(said, 403, "signature_rejected")
    other = {**body["authority"], "statement": asked(http, second)["statement"]}
    said = http.post(f"/api/approvals/{second}/approve", json={"authority": other})
    problem(said, 403, "signature_rejected")
    assert site.astra.json("approvals")["items"][-1]["state"] == "pending"


def test_a_passkey_logs_in_and_an_answer_does_so_once(site: Served, device: Authenticator) -> None:
    opened = login(site, device).json()
    assert opened["session"]["by"] == "passkey"
    with site.client(opened["secret"]) as http:
        assert http.get("/api/status").is_success


def test_a_login_needs_this_sites_own_challenge(site: Served, device: Authenticator) -> None:
    for challenge in ("AAAA", "A" * 75):
        problem(login(site, device, challenge), 401, "not_recognised")
    stranger = Authenticator(site.origin)
    problem(login(site, stranger), 401, "not_recognised")


def test_a_replayed_login_opens_nothing(site: Served, device: Authenticator) -> None:
    from astra.trusted.policy.assertions import encode_base64url

    with site.client(Origin=site.origin) as http:
        challenge = http.post("/api/session/challenge").json()["challenge"]
        said = {"credential": encode_base64url(device.credential), **device.get(challenge)}
        assert http.post("/api/session/passkey", json=said).is_success
        problem(http.post("/api/session/passkey", json=said), 401, "not_recognised")


@pytest.mark.parametrize("action", ["token_created", "passkey_enrolled", "config_signed"])
def test_nothing_is_drafted_that_takes_the_key(http: httpx2.Client, action: str) -> None:
    said = http.post("/api/statements", json={"action": action, "content": {}})
    problem(said, 403, "key_only")


def test_an_enrolment_needs_its_link_and_the_operators_signature(
    site: Served, http: httpx2.Client
) -> None:
    wrong = {"code": "guess"}
    problem(http.post("/api/passkeys/enrolments/options", json=wrong), 401, "not_recognised")
    problem(http.post("/api/passkeys/enrolments", json={}), 403, "socket_only")
    said = http.post("/api/passkeys", json={"content": {}, "authority": {}})
    problem(said, 403, "signature_rejected")


def test_a_revoked_passkey_opens_and_decides_nothing(site: Served, http: httpx2.Client) -> None:
    device = Authenticator(site.origin)
    enroll(site, device, "--name", "lost")
    identifier = waiting(site, "four")
    drafted = asked(http, identifier)
    assert http.post(f"/api/passkeys/{device.id}/revoke").json()["revoked_at"]
    answer = device.get(drafted["options"]["challenge"])
    body = {"authority": {"statement": drafted["statement"], "key": device.id, **answer}}
    said = http.post(f"/api/approvals/{identifier}/approve", json=body)
    problem(said, 403, "signature_rejected")
    problem(login(site, device), 401, "not_recognised")
    shown = site.astra.json("passkeys", "list")["items"]
    assert [bool(item["revoked_at"]) for item in shown if item["id"] == device.id] == [True]


def test_the_link_of_an_enrolment_lets_in_once_and_can_look_and_not_approve(site: Served) -> None:
    device = Authenticator(site.origin)
    enrolled, code = enroll_with_code(site, device, "--name", "another phone")
    assert enrolled["id"] == device.id
    with site.client(Origin=site.origin) as stranger:
        opened = stranger.post("/api/passkeys/enrolments/session", json={"code": code}).json()
        again = stranger.post("/api/passkeys/enrolments/session", json={"code": code})
        problem(again, 401, "not_recognised")
    assert opened["session"]["by"] == "link"
    with site.client(opened["secret"], Origin=site.origin) as http:
        assert http.get("/api/inbox").status_code == 200
        turned_on = {"flag": "ASTRA_CODE_WRITE_ENABLED", "on": True}
        assert not http.post("/api/flags", json=turned_on).is_success
        flags = http.get("/api/flags").json()
        assert "ASTRA_CODE_WRITE_ENABLED" in json.dumps(flags)
    status = site.astra.json("status")
    assert not status["flags"]["ASTRA_CODE_WRITE_ENABLED"]["on"]
    site.astra.json("passkeys", "revoke", device.id)
