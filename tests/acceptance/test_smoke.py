"""A quick regression against the running server: for a person, a script, a schedule, the page."""

import os
import socket
import subprocess
from pathlib import Path

from driver import Astra
from http_driver import served

PARTS = {
    *("ledger append", "ledger verify", "tools", "http", "mcp", "chat", "model", "executor"),
    *("sandbox", "supervisor", "logs", "disk"),
}
SCRIPT = Path(__file__).parents[2] / "scripts" / "regression_quick.sh"


def test_a_healthy_server_passes_in_every_part_and_the_status_shows_it(astra: Astra) -> None:
    report = astra.json("smoke")
    assert report["ok"] is True
    assert {item["name"] for item in report["items"]} == PARTS
    assert report["milliseconds"] < 30_000
    assert all(item["milliseconds"] >= 0 and item["detail"] for item in report["items"])
    last = astra.json("status")["smoke"]
    assert last == {"id": report["id"], "at": report["at"], "ok": True, "failed": []}
    assert astra.json("smoke", "--last") == report
    assert "smoke        ok" in astra.run("status").stdout
    assert astra.json("ledger", "verify")["ok"] is True


def test_a_model_that_is_gone_fails_the_run_with_exit_code_1(astra: Astra) -> None:
    with socket.socket() as closed:  # bound and never listening: nobody answers there
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        astra.extra |= {"ASTRA_MODEL": "gone", "ASTRA_MODEL_BASE_URL": url}
        report = astra.json("smoke", code=1)
    assert [item["name"] for item in report["items"] if not item["ok"]] == ["model"]
    printed = astra.run("smoke", "--last")
    assert "FAILED: model" in printed.stdout
    assert printed.returncode == 1


def test_while_everything_is_stopped_the_parts_still_answer(astra: Astra) -> None:
    astra.json("stop", "--now")
    report = astra.json("smoke")
    tools = next(item for item in report["items"] if item["name"] == "tools")
    assert "stopped" in tools["detail"]


def test_a_schedule_runs_it_as_a_tool_of_tier_1(astra: Astra) -> None:
    words = ["--name", "smoke", "--cron", "@hourly", "--tool", "astra.smoke"]
    made = astra.json("schedules", "create", *words, "--tier", "1")
    ran = astra.json("schedules", "run", made["id"])
    assert ran["outcome"] == "succeeded"
    last = astra.json("smoke", "--last")
    assert last["ok"] is True
    story = astra.json("ledger", "story", last["id"])["items"]
    checks = [record for record in story if record["type"].startswith("smoke_")]
    assert [record["type"] for record in checks] == ["smoke_started", "smoke_finished"]
    assert checks[0]["actor"] == f"agent:{made['id']}"
    assert "schedule_firing_claimed" in [record["type"] for record in story], "and what began it"
    refused = astra.json("schedules", "create", *words[:-1], "astra.smoke", "--tier", "0", code=1)
    assert refused["code"] == "tier_too_low"


def test_the_script_of_the_older_name_calls_it(astra: Astra) -> None:
    done = subprocess.run(
        [SCRIPT, "--json"], env=astra.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert '"ok": true' in done.stdout
    assert os.access(SCRIPT, os.X_OK)


def test_the_page_runs_it_and_shows_the_last_one(astra: Astra) -> None:
    with served(astra) as site, site.client(site.login()) as http:
        assert http.get("/api/smoke").json() == {"last": None}
        report = http.post("/api/smoke", headers={"Origin": site.origin}).json()
        assert report["ok"] is True
        assert http.get("/api/smoke").json()["last"] == report
