"""A chain that moves into Postgres and back: the same lines, the same commands, no second chain."""

import json
import shutil
from collections.abc import Iterator

import pytest

from driver import Astra
from postgres_server import DAEMON, Database, new_database

WRITE = "ASTRA_CODE_WRITE_ENABLED"


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


def set_flag(astra: Astra, state: str) -> None:
    astra.json("flags", "set", WRITE, state)


def export(astra: Astra) -> str:
    return astra.run("ledger", "export").stdout


def move_in(astra: Astra, database: Database) -> str:
    """Move the chain into a database, and give its lines from before."""
    set_flag(astra, "on")
    astra.run("down")
    lines = export(astra)
    moved = astra.json("ledger", "move", "--to", database.url)
    assert moved["copied"] == moved["records"] == len(lines.splitlines())
    astra.extra["ASTRA_DATABASE_URL"] = database.url
    return lines


def test_a_chain_moves_into_a_database_and_back_with_the_same_lines(
    astra: Astra, database: Database
) -> None:
    before = move_in(astra, database)
    assert export(astra) == before
    assert astra.json("ledger", "verify")["ok"]
    set_flag(astra, "off")
    root_id = json.loads(before.splitlines()[0])["data"]["root_id"]
    assert astra.json("ledger", "tail")["items"][-1]["type"] == "flag_set"
    assert astra.json("ledger", "story", root_id)["items"]
    assert astra.json("ledger", "rebuild", "--check")["same"]
    receipt = astra.json("ledger", "receipt", "1")
    assert receipt
    astra.run("down")
    after = export(astra)
    assert after.startswith(before)
    assert astra.json("ledger", "verify")["ok"]
    astra.json("ledger", "move", "--to", "files")
    del astra.extra["ASTRA_DATABASE_URL"]
    assert export(astra) == after
    assert astra.json("ledger", "verify")["ok"]
    set_flag(astra, "on")


def test_a_data_root_is_held_to_the_place_of_its_chain(astra: Astra, database: Database) -> None:
    refused = astra.json("status", code=2, ASTRA_DATABASE_URL=database.url)
    assert refused["code"] == "bad_setting"
    assert "astra ledger move" in refused["next_step"]
    move_in(astra, database)
    for url, word in (("", "is in the database"), (database.url.replace("db_", "x_"), "names")):
        refused = astra.json("status", code=2, ASTRA_DATABASE_URL=url)
        assert word in refused["detail"]
    assert astra.json("ledger", "verify", code=2, ASTRA_DATABASE_URL="")["code"] == "bad_setting"


def test_a_move_that_was_cut_off_is_finished_by_the_same_command(
    astra: Astra, database: Database
) -> None:
    var = astra.root / "var"
    lines = move_in(astra, database)
    shutil.rmtree(var / "ledger")
    shutil.copytree(var / "ledger-before-move", var / "ledger")  # as if it ended before the rename
    for _ in range(2):
        assert astra.json("ledger", "move", "--to", database.url)["copied"] == 0
    (var / "chain.json").unlink()  # as if it ended right behind the commit
    shutil.rmtree(var / "ledger")
    shutil.copytree(var / "ledger-before-move", var / "ledger")
    assert astra.json("ledger", "move", "--to", database.url)["copied"] == 0
    assert export(astra) == lines


def test_after_a_move_back_no_other_machine_goes_on_in_the_database(
    astra: Astra, database: Database
) -> None:
    move_in(astra, database)
    marker = (astra.root / "var" / "chain.json").read_bytes()
    astra.json("ledger", "move", "--to", "files")
    ended = astra.extra.pop("ASTRA_DATABASE_URL")
    set_flag(astra, "off")
    lines = export(astra)
    astra.run("down")
    (astra.root / "var" / "chain.json").write_bytes(marker)  # another machine that did not hear
    astra.extra["ASTRA_DATABASE_URL"] = ended
    refused = astra.json("flags", "set", WRITE, "on", code=1)
    assert refused["code"] in {"ledger_moved", "ledger_cut"}
    astra.run("down")
    (astra.root / "var" / "chain.json").unlink()
    moved = astra.json("ledger", "move", "--to", database.url)
    assert 0 < moved["copied"] < moved["records"]
    assert export(astra) == lines


def test_a_chain_that_is_in_files_is_not_replaced_by_one_in_a_database(
    astra: Astra, database: Database
) -> None:
    move_in(astra, database)
    astra.json("ledger", "move", "--to", "files")
    ended = astra.extra.pop("ASTRA_DATABASE_URL")
    set_flag(astra, "off")
    lines = export(astra)
    astra.run("down")
    moved = astra.json("ledger", "move", "--to", "files", ASTRA_DATABASE_URL=ended)
    assert (moved["copied"], moved["records"]) == (0, len(lines.splitlines()))
    assert export(astra) == lines


def test_only_the_database_that_holds_the_chain_is_moved_into_files(
    astra: Astra, database: Database
) -> None:
    move_in(astra, database)
    lines = export(astra)
    with new_database() as other_database:
        other = Astra(astra.folder / "other")
        other.folder.mkdir()
        other.json("init", "--throwaway")
        move_in(other, other_database)
        refused = astra.json(
            "ledger", "move", "--to", "files", code=1, ASTRA_DATABASE_URL=other_database.url
        )
    assert refused["code"] == "conflict"
    assert export(astra) == lines


def test_another_chain_is_not_moved_over_one_that_is_there(
    astra: Astra, initialised: Astra, database: Database
) -> None:
    move_in(astra, database)
    other = Astra(astra.folder / "other")
    other.folder.mkdir()
    other.json("init", "--throwaway")
    refused = other.json("ledger", "move", "--to", database.url, code=1)
    assert refused["code"] == "conflict"
    assert other.json("ledger", "verify")["ok"]


def test_a_chain_is_not_moved_while_its_daemon_runs(astra: Astra, database: Database) -> None:
    astra.daemon_pid()
    refused = astra.json("ledger", "move", "--to", database.url, code=1)
    assert refused["code"] == "ledger_locked"
    assert "astra down" in refused["next_step"]


def test_prepare_says_what_the_role_may_do_and_refuses_the_owner(
    astra: Astra, database: Database
) -> None:
    prepared = astra.json("ledger", "prepare", "--to", database.owner_url, "--role", DAEMON)
    assert prepared["made"] is False
    refused = astra.json(
        "ledger", "prepare", "--to", database.owner_url, "--role", "chain_owner", code=2
    )
    assert "could change records" in refused["detail"]


def test_a_backup_of_a_chain_in_postgres_is_a_chain_in_files(
    astra: Astra, database: Database
) -> None:
    move_in(astra, database)
    set_flag(astra, "off")
    lines = export(astra)
    astra.json("backup", astra.folder / "copy")
    restored = Astra(astra.folder, extra={"AGENT_DATA_ROOT": str(astra.folder / "restored")})
    restored.json("restore", astra.folder / "copy", "--data-root", astra.folder / "restored")
    assert lines in restored.run("ledger", "export").stdout
    restored.run("down")
