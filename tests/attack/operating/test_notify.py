"""A test message reaches people: only an operator's session sends one at the port."""

from driver import Astra
from http_driver import served


def test_an_agent_and_a_viewer_cannot_send_tests(astra: Astra) -> None:
    with served(astra) as site:
        for role in ("agent", "viewer"):
            with site.client(site.token(role)["secret"]) as http:
                assert http.post("/api/notify/test", json={"channel": ""}).status_code == 403
    names = {item["name"] for item in astra.json("tools", "list")["items"]}
    assert not [name for name in names if "notify" in name]
