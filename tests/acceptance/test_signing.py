"""What is signed is shown whole, the same on the terminal and in the API."""

import json

from driver import Astra

URL = f"https://example.com/?q={'a' * 2_000}&then=the-end-that-was-cut-off"


def test_all_of_a_call_is_shown_before_it_is_signed(astra: Astra) -> None:
    call = ["tools", "call", "fetch_url", json.dumps({"url": URL})]
    identifier = astra.json(*call, code=3)["approval_id"]

    listed = astra.run("approvals")
    assert f"… longer lines: astra approvals show {identifier}" in listed.stdout or (
        f"more lines: astra approvals show {identifier}" in listed.stdout
    )
    shown = astra.json("approvals", "show", identifier)
    assert shown["details"]["arguments"]["url"] == URL
    on_screen = astra.run("approvals", "show", identifier).stdout
    assert all(f"    {row}" in on_screen for row in shown["payload"]["text"].split("\n"))
    signing = astra.run("approve", identifier)
    assert signing.returncode == 0, signing.stderr
    assert URL in signing.stderr


def test_the_list_says_what_each_request_is_before_its_id(astra: Astra) -> None:
    call = ["tools", "call", "fetch_url", json.dumps({"url": "https://example.com/tides"})]
    identifier = astra.json(*call, code=3)["approval_id"]
    title, kind, small, *_ = astra.run("approvals").stdout.splitlines()
    assert title.startswith("fetch_url https://example.com/tides")
    assert kind.startswith("  one call, pending, until ")
    assert small == f"  {identifier}"


def test_a_request_says_what_the_agent_could_call_without_asking(astra: Astra) -> None:
    """Nothing before something is permitted; then what is left of it, until it is decided."""
    call = ["tools", "call", "fetch_url", json.dumps({"url": "https://example.com/tides"})]
    identifier = astra.json(*call, code=3)["approval_id"]
    show = ("approvals", "show", identifier)
    assert astra.json(*show)["smaller_calls"] == []
    assert "it may call" not in astra.run(*show).stdout

    allowed = astra.json("permissions", "add", "--host", "docs.example.net", "--until", "3d")["id"]
    (smaller,) = astra.json(*show)["smaller_calls"]
    assert smaller.startswith("fetch_url GET docs.example.net, 20 more until ")
    assert smaller.endswith(f"Z ({allowed})")
    assert f"  instead, without asking, it may call\n    {smaller}" in astra.run(*show).stdout
    astra.json("reject", identifier, "--reason", "use what is permitted")
    assert astra.json(*show)["smaller_calls"] == []


def test_a_secret_in_a_call_is_refused_before_anybody_is_asked(astra: Astra) -> None:
    secret = "ghp_" + "a1B2" * 9
    url = f"https://example.com/?token={secret}"
    refused = astra.json("tools", "call", "fetch_url", json.dumps({"url": url}), code=1)

    assert refused["code"] == "cannot_be_shown"
    assert "by reference" in refused["next_step"]
    assert secret not in json.dumps(refused)
    assert astra.json("approvals")["items"] == []
