"""Commits reach the other machines of a chain: tested, merged and built upon elsewhere."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driver import Astra
from postgres_server import Database, new_database
from worker_process import eventually

FLAG = "ASTRA_CODE_WRITE_ENABLED"


@pytest.fixture
def machines(initialised: Astra, tmp_path: Path) -> Iterator[list[Astra]]:
    """Two data folders on one chain, with a bare folder through which commits travel."""
    exchange = tmp_path / "exchange.git"
    subprocess.run(["git", "init", "-q", "--bare", str(exchange)], check=True)
    places = [tmp_path / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
    with new_database() as database:
        first = initialised.copied_to(Astra(places[0]))
        first.sign_target("mutation_seconds = 0", "[ledger]", f'objects = "{exchange}"')
        first.json("flags", "set", FLAG, "on")
        first.run("down")
        first.json("ledger", "move", "--to", database.url)
        copies = [first, first.copied_to(Astra(places[1]))]
        yield share(copies, database)
        for machine in copies:
            machine.end()


def share(machines: list[Astra], database: Database) -> list[Astra]:
    for machine in machines:
        machine.extra["ASTRA_DATABASE_URL"] = database.url
    return machines


def propose(astra: Astra, text: str) -> Any:
    edit = astra.folder / "edit"
    edit.write_text(text)
    words = ("--edit", f"agent.py={edit}", "--reason", "better")
    return astra.json("changes", "propose", *words)


def leads(astra: Astra) -> bool:
    page = astra.json("machines")
    own = {item["id"]: item["leads"] for item in page["items"]}.get(page["own"], [])
    return "background" in own


def read_head(astra: Astra) -> str:
    command = ["git", "-C", str(astra.root / "var" / "git"), "rev-parse", "refs/heads/trunk"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_change_made_on_one_machine_is_merged_on_another_and_built_upon_by_the_next_leader(
    machines: list[Astra],
) -> None:
    one, two = machines
    one.daemon_pid()
    eventually(lambda: leads(one))
    change = propose(two, "def answer() -> int:\n    return 43\n")
    assert change["state"] == "awaiting_approval"
    approval = two.json("approvals")["items"][0]["id"]
    two.json("approve", approval)
    eventually(lambda: two.json("changes", "show", change["id"])["state"] == "executed")
    assert read_head(one) == change["commit"]
    one.kill_daemon()
    eventually(lambda: leads(two))
    following = propose(two, "def answer() -> int:\n    return 44\n")
    assert following["state"] == "awaiting_approval"
    assert following["base"] == change["commit"]
    assert read_head(two) == change["commit"]
    assert two.json("ledger", "verify")["ok"]


def test_a_commit_that_cannot_be_pushed_makes_no_change(
    machines: list[Astra], tmp_path: Path
) -> None:
    one = machines[0]
    (tmp_path / "exchange.git").rename(tmp_path / "away.git")
    edit = one.folder / "edit"
    edit.write_text("def answer() -> int:\n    return 43\n")
    answer = one.run(
        "changes", "propose", "--edit", f"agent.py={edit}", "--reason", "better", "--json"
    )
    assert json.loads(answer.stdout)["code"] == "objects_unreachable"
    assert one.json("changes", "list")["items"] == []
