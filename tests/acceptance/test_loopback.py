"""`astra up` with its port, from the command line."""

import os
import pty
import re
import select
import subprocess
import sys

import pytest

from driver import Astra
from http_driver import served


def test_up_serves_the_port_and_a_link_opens_a_session_once(astra: Astra) -> None:
    with served(astra) as site:
        secret = site.login()
        with site.client(secret) as http:
            who = http.get("/api/session").json()
            assert (who["role"], who["by"]) == ("operator", "link")
            assert http.get("/api/status").json()["daemon"]["port"] == site.port
        opened = astra.json("ledger", "tail", "--type", "session_opened")["items"][-1]
        assert opened["data"]["session"] == who["id"]


def test_without_a_page_login_says_what_to_do(astra: Astra) -> None:
    said = astra.json("login", code=1)
    assert said["code"] == "no_page"
    assert "astra up" in said["next_step"]


def test_a_port_that_is_taken_is_a_clear_error(astra: Astra) -> None:
    astra.json("status")
    astra.json("down")
    with served(astra) as site:
        pass
    import socket

    with socket.create_server(("::1", 0), family=socket.AF_INET6) as squatter:
        port = squatter.getsockname()[1]
        said = astra.run("up", "--port", str(port))
        assert said.returncode == 1
        assert f"port {port}" in said.stderr
        assert "--port" in said.stderr
    assert site.port


@pytest.mark.parametrize("port", ["0.0.0.0:8700", "-1", "65536", "x", "::"])
def test_only_loopback_ports_can_be_asked_for(astra: Astra, port: str) -> None:
    said = astra.json("up", f"--port={port}", code=2)
    assert said["code"] == "bad_usage"
    assert "ASTRA_PUBLIC_URL" in said["detail"]


def test_the_link_goes_to_a_terminal_and_not_into_a_log(astra: Astra) -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "astra.interfaces.cli.main", "up", "--port", "0"]
    with subprocess.Popen(
        command, env=astra.environment, stdin=slave, stdout=slave, stderr=subprocess.PIPE
    ) as process:
        os.close(slave)
        shown = b""
        while b"/login#" not in shown or not shown.endswith(b"\n"):
            assert select.select([master], [], [], 60)[0]
            shown += os.read(master, 4096)
        process.terminate()
        _, logged = process.communicate(timeout=60)
        os.close(master)
    code = re.findall(rb"/login#([\w-]{43})", shown)[0]
    assert code not in logged
    assert b"astra login" in logged


def test_tokens_are_made_listed_and_revoked(astra: Astra) -> None:
    made = astra.json("tokens", "create", "CI robot", "--role", "viewer", "--days", "7")
    assert made["role"] == "viewer"
    listed = astra.json("tokens", "list")["items"]
    assert [item["id"] for item in listed] == [made["id"]]
    assert "secret" not in listed[0]
    assert astra.json("tokens", "revoke", made["id"])["ended"]
    assert astra.json("tokens", "revoke", "tok_0000000000000000", code=1)["code"] == "not_found"
    refused = astra.json(
        "tokens", "create", "x", code=1, ASTRA_OPERATOR_PASSPHRASE="wrong passphrase"
    )
    assert refused["code"] == "wrong_passphrase"


def test_two_people_decide_and_the_second_hears_who_was_first(astra: Astra) -> None:
    with served(astra) as site:
        url = "https://example.com"
        waiting = astra.json("tools", "call", "fetch_url", f'{{"url": "{url}"}}', code=3)
        identifier = waiting["approval_id"]
        with site.client(site.login()) as http:
            path = f"/api/approvals/{identifier}/reject"
            first = http.post(path, json={"reason": "not today"})
            assert first.json()["state"] == "rejected"
        with site.client(site.login()) as other:
            second = other.post(path, json={"reason": "nor tomorrow"})
        body = second.json()
        assert (second.status_code, body["code"]) == (409, "already_decided")
        assert body["by"].startswith("session:ses_")
        assert body["sequence"] == first.json()["sequence"]
        assert body["at"]
