"""Finished months leave by one command, and the record is verified with and without them."""

import shutil
from pathlib import Path

from astra.trusted.ledger.record import Event
from driver import Astra, past

BEFORE = "2999-01"


def write_three_more_months(astra: Astra) -> None:
    astra.json("down")
    for days in (-32, -64, -96):
        with past(astra, days=days) as runtime:
            restarted = Event(type="app_restarted", actor="daemon", data={"release": "rel"})
            runtime.ledger.append([restarted] * 40)
    astra.json("clock", "accept")


def test_months_are_archived_by_command_and_verified_either_way(
    astra: Astra, tmp_path: Path
) -> None:
    write_three_more_months(astra)
    archive = tmp_path / "archive"
    archive.mkdir()
    order = ("ledger", "archive", "--before", BEFORE, "--to", str(archive))

    plan = astra.json(*order, "--dry-run")
    assert not plan["moved"]
    assert len(plan["months"]) == 2
    assert "saves" in astra.run(*order, "--dry-run").stdout
    assert list(archive.iterdir()) == []

    moved = astra.json(*order, "--yes")
    assert moved["saved"] == plan["saved"]
    verified = astra.json("ledger", "verify")
    assert [month["read"] for month in verified["archived"]] == [True, True]
    assert astra.run("ledger", "export").stdout.count("\n") == verified["records"]

    elsewhere = tmp_path / "elsewhere"
    shutil.move(archive, elsewhere)
    verified = astra.json("ledger", "verify")
    assert [month["read"] for month in verified["archived"]] == [False, False]
    assert "by their signed digest only" in astra.run("ledger", "verify").stdout
    assert "2 archived months cannot be read" in astra.run("doctor").stdout
    (folder,) = elsewhere.iterdir()
    (month, _) = astra.json("ledger", "verify", "--archive", str(folder))["archived"]
    assert month["read"]
    assert month["folder"] == str(folder)

    refused = astra.json("ledger", "rebuild", code=1)
    assert refused["code"] == "ledger_archived"
    astra.json("down")
    assert astra.json("status")["ledger"]["records"] > verified["records"] - 1
