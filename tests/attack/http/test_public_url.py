"""Behind a TLS proxy: one name, a cookie that scripts cannot read, and proof of intent."""

from collections.abc import Iterator

import httpx2
import pytest

from driver import Astra
from http_driver import Served, problem, served

URL = "https://astra.example"
COOKIE = "__Host-astra"
Browser = tuple[httpx2.Client, str]


@pytest.fixture(scope="module")
def public(root: Astra) -> Iterator[Served]:
    with served(root, ASTRA_PUBLIC_URL=URL) as found:
        yield found


@pytest.fixture
def browser(public: Served) -> Iterator[Browser]:
    """Log in as a browser behind the proxy would, and give its CSRF token."""
    with public.client(Origin=URL) as http:
        said = http.post("/api/session", json={"code": public.code()})
        assert said.json()["secret"] is None
        cookie = said.headers["set-cookie"]
        http.headers["Cookie"] = cookie.partition(";")[0]
        yield http, said.json()["session"]["csrf"]


def test_only_the_public_name_is_answered(public: Served) -> None:
    assert public.origin == URL
    with public.client() as http:
        assert http.get("/healthz").is_success
        for name in (f"localhost:{public.port}", "astra.example:443", "evil.example"):
            problem(http.get("/healthz", headers={"Host": name}), 421, "wrong_host")


def test_the_cookie_is_bound_to_the_host_and_closed_to_scripts(public: Served) -> None:
    with public.client() as http:
        said = http.post("/api/session", json={"code": public.code()})
    cookie = said.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    for attribute in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert attribute in cookie
    assert "Domain" not in cookie
    assert said.headers["strict-transport-security"] == "max-age=31536000"


def test_looking_takes_the_cookie_and_acting_the_proof(browser: Browser) -> None:
    http, csrf = browser
    assert http.get("/api/status").is_success
    assert http.get("/api/session").json()["csrf"] == csrf
    body = {"name": "AGENT_RUNNER_ENABLED", "on": False}
    assert http.post("/api/flags", json=body, headers={"X-CSRF-Token": csrf}).is_success


@pytest.mark.parametrize("token", [None, "", "x", "0" * 64])
def test_another_sites_form_does_nothing(
    public: Served, browser: Browser, token: str | None
) -> None:
    http, _ = browser
    given = {"X-CSRF-Token": token} if token is not None else {}
    body = {"name": "PERSONA_MODE_ENABLED", "on": False}
    problem(http.post("/api/flags", json=body, headers=given), 403, "csrf")
    assert public.astra.json("status")["flags"]["PERSONA_MODE_ENABLED"]["on"] is True


def test_the_proof_needs_the_pages_own_origin(browser: Browser) -> None:
    http, csrf = browser
    body = {"name": "PERSONA_MODE_ENABLED", "on": False}
    headers = {"X-CSRF-Token": csrf, "Origin": "https://evil.example"}
    problem(http.post("/api/flags", json=body, headers=headers), 403, "wrong_origin")
    del http.headers["Origin"]
    problem(http.post("/api/flags", json=body, headers={"X-CSRF-Token": csrf}), 403, "csrf")


def test_one_sessions_proof_is_not_anothers(public: Served, browser: Browser) -> None:
    http, _ = browser
    with public.client(Origin=URL) as other:
        opened = other.post("/api/session", json={"code": public.code()}).json()
    body = {"name": "PERSONA_MODE_ENABLED", "on": False}
    stolen = {"X-CSRF-Token": opened["session"]["csrf"]}
    problem(http.post("/api/flags", json=body, headers=stolen), 403, "csrf")


def test_logging_out_clears_the_cookie(browser: Browser) -> None:
    http, csrf = browser
    said = http.delete("/api/session", headers={"X-CSRF-Token": csrf})
    assert "Max-Age=0" in said.headers["set-cookie"]
    problem(http.get("/api/status"), 401, "not_recognised")


def test_a_token_needs_no_cookie_and_no_proof(public: Served) -> None:
    with public.client(public.token("operator")["secret"]) as http:
        assert http.post("/api/stop", json={}).is_success
    public.astra.json("start")


@pytest.mark.parametrize(
    "url",
    [
        "http://astra.example",
        "https://192.0.2.1",
        "https://[::1]",
        "https://localhost",
        "https://user@astra.example",
        "https://astra.example/path",
        "https://astra.example?x",
        "https://*.example",
        "https://astra.example:99999",
        "astra.example",
        "https://",
        "https://a b.example",
    ],
)
def test_a_malformed_public_url_is_refused(root: Astra, url: str) -> None:
    said = root.json("up", "--port", "0", code=2, ASTRA_PUBLIC_URL=url)
    assert said["code"] == "bad_setting"
    assert said["next_step"]
