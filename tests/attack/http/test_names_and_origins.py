"""The port answers to its own name, to its own pages, and to nobody because of a header."""

import pytest

from http_driver import Served, problem

OTHER_NAMES = [
    "evil.example",
    "localhost",
    "localhost:1",
    "localhost.evil.example:{port}",
    "127.0.0.1.nip.io:{port}",
    "127.0.0.2:{port}",
    "0.0.0.0:{port}",
    "LOCALHOST:{port}",
    "localhost:{port}, evil.example",
    "[::ffff:127.0.0.1]:{port}",
    "localhost:{port}.",
    "",
]
OTHER_ORIGINS = [
    "null",
    "https://evil.example",
    "http://localhost",
    "http://localhost:1",
    "https://localhost:{port}",
    "http://127.0.0.1:{port}",
    "http://localhost.evil.example:{port}",
    "http://localhost:{port}.evil.example",
    "http://localhost:{port}/",
    "",
]


@pytest.mark.parametrize("name", OTHER_NAMES)
@pytest.mark.parametrize("path", ["/", "/api/status", "/healthz", "/openapi.json", "/mcp"])
def test_by_another_name_there_is_nothing(site: Served, name: str, path: str) -> None:
    with site.client(site.login() if path == "/api/status" else "") as http:
        said = http.get(path, headers={"Host": name.format(port=site.port)})
    problem(said, 421, "wrong_host")
    assert "access-control-allow-origin" not in said.headers


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_by_its_own_names_it_answers(site: Served, name: str) -> None:
    with site.client() as http:
        said = http.get("/healthz", headers={"Host": f"{name}:{site.port}"})
    assert said.json() == {"status": "ok"}


@pytest.mark.parametrize("name", ["127.0.0.1", "[::1]"])
def test_a_page_opened_by_an_address_of_ours_is_ours_and_agrees_with_its_host(
    site: Served, name: str
) -> None:
    address = f"{name}:{site.port}"
    with site.client(site.login()) as http:
        ours = http.get("/api/status", headers={"Host": address, "Origin": f"http://{address}"})
        mixed = http.get("/api/status", headers={"Origin": f"http://{address}"})
    assert ours.status_code == 200
    problem(mixed, 403, "wrong_origin")


def test_well_known_paths_are_for_programs_and_say_so(site: Served) -> None:
    with site.client() as http:
        for path in ("oauth-protected-resource", "oauth-authorization-server/mcp", "x"):
            said = http.get(f"/.well-known/{path}")
            problem(said, 404, "not_found")


@pytest.mark.parametrize("path", ["/mcp", "/v1/models"])
def test_a_program_without_a_token_hears_how_to_get_one(site: Served, path: str) -> None:
    with site.client() as http:
        said = http.request("POST" if path == "/mcp" else "GET", path)
    assert said.status_code == 401
    assert said.headers["www-authenticate"] == "Bearer"
    assert "astra tokens create" in said.json()["next_step"]


@pytest.mark.parametrize("origin", OTHER_ORIGINS)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_another_page_is_refused_whatever_it_knows(site: Served, origin: str, method: str) -> None:
    path = "/api/flags"
    with site.client(site.login(), Origin=origin.format(port=site.port)) as http:
        said = http.request(method, path, json={"name": "PERSONA_MODE_ENABLED", "on": False})
    assert said.status_code == (404 if method == "OPTIONS" else 403)
    assert not [name for name in said.headers if name.startswith("access-control")]
    assert site.astra.json("status")["flags"]["PERSONA_MODE_ENABLED"]["on"] is True


@pytest.mark.parametrize("fetched", ["cross-site", "same-site"])
def test_what_another_site_sends_is_refused(site: Served, fetched: str) -> None:
    with site.client(site.login()) as http:
        said = http.get("/api/status", headers={"Sec-Fetch-Site": fetched})
    problem(said, 403, "wrong_origin")


def test_its_own_page_is_served(site: Served) -> None:
    with site.client(site.login(), Origin=site.origin) as http:
        assert http.get("/api/status", headers={"Sec-Fetch-Site": "same-origin"}).is_success


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https"},
        {"Forwarded": "for=127.0.0.1;host=localhost;proto=https"},
        {"X-Forwarded-Host": "localhost:8700"},
        {"X-Real-IP": "127.0.0.1", "X-Remote-User": "operator"},
        {"Tailscale-User-Login": "operator@example.com"},
        {"Astra-Operator": "true", "X-Role": "operator", "astra.principal": "operator"},
        {"Cookie": "__Host-astra=x; session=y"},
    ],
    ids=str,
)
def test_a_proxys_headers_prove_nothing(site: Served, headers: dict[str, str]) -> None:
    with site.client(**headers) as http:
        problem(http.get("/api/status"), 401, "not_recognised")


def test_a_forwarded_host_does_not_replace_the_host(site: Served) -> None:
    with site.client() as http:
        forged = {"Host": "evil.example", "X-Forwarded-Host": site.host}
        problem(http.get("/healthz", headers=forged), 421, "wrong_host")


def test_every_answer_tells_browsers_to_load_nothing_from_elsewhere(site: Served) -> None:
    with site.client(site.login()) as http:
        for path in ("/", "/healthz", "/api/status", "/api/nothing", "/api/ledger?limit=x"):
            headers = http.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert "strict-transport-security" not in headers
