"""`astra up` with its port, from the command line."""

import os
import pty
import re
import select
import subprocess

import pytest

from driver import COMMAND, Astra
from http_driver import served
from warm_start import warm


def test_up_serves_the_port_and_a_link_opens_a_session_once(astra: Astra) -> None:
    with served(astra) as site:
        secret = site.login()
        with site.client(secret) as http:
            who = http.get("/api/session").json()
            assert (who["role"], who["by"]) == ("operator", "link")
            assert http.get("/api/status").json()["daemon"]["port"] == site.port
        opened = astra.json("ledger", "tail", "--type", "session_opened")["items"][-1]
        assert opened["data"]["session"] == who["id"]


def test_login_has_a_page_served_by_whatever_runs(astra: Astra) -> None:
    astra.extra |= {"ASTRA_PORT": "0"}
    before = astra.json("status")["daemon"]
    assert (before["url"], before["on_demand"]) == (None, True)
    url = astra.json("login")["url"]
    after = astra.json("status")["daemon"]
    assert url.startswith(f"{after['url']}/login#")
    assert after["pid"] != before["pid"]
    assert astra.json("login")["url"].startswith(after["url"])
    assert astra.daemon_pid() == after["pid"]


def test_up_takes_over_from_a_daemon_that_a_command_started_and_from_no_other(
    astra: Astra,
) -> None:
    before = astra.daemon_pid()
    with served(astra) as site:
        now = astra.json("status")["daemon"]
        assert (now["port"], now["on_demand"]) == (site.port, False)
        assert now["pid"] != before
        refused = astra.json("up", "--port", "0", code=1)
        assert refused["pid"] == now["pid"]
        assert "astra login" in refused["next_step"]


def test_a_daemon_without_a_page_by_choice_stays_without_one(astra: Astra) -> None:
    with subprocess.Popen(
        warm(COMMAND, "up", "--no-port"),
        env=astra.environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert any("serving" in line for line in process.stderr)
        assert astra.json("login", code=1)["code"] == "no_page"
        process.terminate()
        process.stderr.read()


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
    command = warm(COMMAND, "up", "--port", "0")
    with subprocess.Popen(
        command, env=astra.environment, stdin=slave, stdout=slave, stderr=subprocess.PIPE
    ) as process:
        os.close(slave)
        shown = b""
        while b"/login#" not in shown or not shown.endswith(b"\n"):
            assert select.select([master], [], [], 240)[0]
            shown += os.read(master, 4096)
        process.terminate()
        _, logged = process.communicate(timeout=240)
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
