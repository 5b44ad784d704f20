"""A link opens one session, once; a session looks and tightens, and loosens nothing."""

from typing import Any

import pytest

from astra.trusted.policy import authority
from http_driver import Served, problem

FLAG = "ASTRA_CODE_WRITE_ENABLED"


def flag(site: Served) -> bool:
    return site.astra.json("status")["flags"][FLAG]["on"]


def test_a_link_works_once(site: Served) -> None:
    code = site.code()
    with site.client() as http:
        assert http.post("/api/session", json={"code": code}).is_success
        problem(http.post("/api/session", json={"code": code}), 401, "not_recognised")


def test_a_link_itself_is_no_secret_of_a_session(site: Served) -> None:
    code = site.code()
    with site.client(code) as http:
        problem(http.get("/api/status"), 401, "not_recognised")


def test_secrets_are_kept_as_hashes_only(site: Served) -> None:
    secret, code = site.login(), site.code()
    token = site.token("viewer")["secret"]
    for path in (site.astra.root / "var").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(each.encode() in content for each in (secret, code, token)), path
    assert secret not in site.astra.run("ledger", "export").stdout


def test_nobody_chooses_the_secret_of_a_session(site: Served) -> None:
    chosen = "a" * 43
    with site.client(chosen, Cookie=f"__Host-astra={chosen}") as http:
        said = http.post("/api/session", json={"code": site.code(), "secret": chosen})
        assert said.json()["secret"] != chosen
        assert "set-cookie" not in said.headers
        problem(http.get("/api/status"), 401, "not_recognised")


def test_on_loopback_no_cookie_is_a_session(site: Served) -> None:
    with site.client(Cookie=f"__Host-astra={site.login()}") as http:
        problem(http.get("/api/status"), 401, "not_recognised")


@pytest.mark.parametrize("scheme", ["bearer", "Basic", "BEARER", "Bearer\t", "Token"])
def test_only_bearer_counts(site: Served, scheme: str) -> None:
    with site.client(Authorization=f"{scheme} {site.login()}") as http:
        assert http.get("/api/status").status_code == 401


def test_two_authorization_headers_are_nobody(site: Served) -> None:
    secret = site.login()
    with site.client() as http:
        both = [("Authorization", f"Bearer {secret}"), ("Authorization", f"Bearer {secret}")]
        said = http.get("/api/status", headers=[("Host", site.host), *both])
    problem(said, 401, "not_recognised")


def test_logging_out_ends_the_session(site: Served) -> None:
    with site.client(site.login()) as http, site.client(site.login()) as other:
        assert http.delete("/api/session").is_success
        problem(http.get("/api/status"), 401, "not_recognised")
        assert other.get("/api/status").is_success


@pytest.mark.parametrize(
    "proof",
    [
        None,
        {},
        {"statement": {}, "signature": "", "key": ""},
        {"statement": {"action": "flag_set"}, "signature": "00" * 64, "key": "00" * 32},
        "operator",
        {"actor": "operator"},
    ],
    ids=str,
)
def test_a_session_turns_no_flag_on_by_itself(site: Served, proof: Any) -> None:
    with site.client(site.login()) as http:
        said = http.post("/api/flags", json={"name": FLAG, "on": True, "authority": proof})
    assert said.status_code in {400, 403}
    assert not flag(site)


def test_with_the_operators_signature_it_does_and_off_is_free(site: Served) -> None:
    with site.client(site.login()) as http:
        statement = site.statement(http, "flag_set", {"flag": FLAG, "on": True})
        signed = authority.sign(statement, site.key()).as_dict()
        body = {"name": FLAG, "on": True, "authority": signed}
        assert http.post("/api/flags", json=body).json()["on"] is True
        problem(http.post("/api/flags", json=body), 409, "duplicate_key")
        assert http.post("/api/flags", json={"name": FLAG, "on": False}).json()["on"] is False
    assert not flag(site)


def test_a_signature_without_a_session_is_not_enough(site: Served) -> None:
    with site.client(site.login()) as http:
        statement = site.statement(http, "flag_set", {"flag": FLAG, "on": True})
    signed = authority.sign(statement, site.key()).as_dict()
    with site.client() as stranger:
        body = {"name": FLAG, "on": True, "authority": signed}
        problem(stranger.post("/api/flags", json=body), 401, "not_recognised")
    assert not flag(site)
