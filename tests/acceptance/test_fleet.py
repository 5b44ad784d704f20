"""An app on several instances: real workers, a real Postgres, real holders, HAProxy before them."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploying import PYTHON, Traffic, fetch, until
from driver import Astra
from fleet_process import (
    CONFIGURATION,
    LABELS,
    PATIENCE,
    RealFleet,
    balanced,
    commit_file,
    configure,
    open_fleet,
    prepare_root,
)
from postgres_server import Database, new_database

CRASHES_WHERE_TOLD = """
import os, pathlib, runpy, sys
if pathlib.Path(os.environ["ASTRA_STATE"], "crash").exists():
    sys.exit("told to crash")
runpy.run_module("agent_server", run_name="__main__")
"""

MIGRATION = """
import os, pathlib
with pathlib.Path(os.environ["ASTRA_STATE"], "migrations").open("a") as file:
    file.write(os.environ["ASTRA_RELEASE"] + "\\n")
"""


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    return prepare_root(tmp_path_factory.mktemp("fleet"))


@pytest.fixture
def fleet(prepared: Astra, database: Database, tmp_path: Path) -> Iterator[RealFleet]:
    with open_fleet(prepared, database.url, tmp_path) as fleet:
        yield fleet


def use_module(fleet: RealFleet, module: str) -> None:
    text = CONFIGURATION.replace("-m agent_server", f"-m {module}")
    configure(fleet.daemon, text)


def read_migrations(fleet: RealFleet) -> dict[str, list[str]]:
    """Give the releases whose `before_start` is in the app's state on each instance."""
    folders = {label: fleet.workers[label].astra.root / "app-state" for label in LABELS}
    return {label: (path / "migrations").read_text().split() for label, path in folders.items()}


def serving(fleet: RealFleet) -> dict[str, Any]:
    return {label: fetch(fleet.find_port(label), "/healthz")["release"] for label in LABELS}


def test_a_release_goes_out_in_waves_and_a_bad_one_takes_itself_back_everywhere(
    fleet: RealFleet, tmp_path: Path
) -> None:
    fleet.start(*LABELS)
    first = fleet.daemon.json("deploy")["deployment"]
    assert first["state"] == "settled"
    assert first["instances"] == dict.fromkeys(LABELS, "released")
    assert serving(fleet) == dict.fromkeys(LABELS, first["release"])
    waves = [item["data"]["instances"] for item in fleet.list_records("fleet_wave_begun")]
    assert waves == [["web-1"], ["web-2", "web-3"]]
    proofs = fleet.list_records("fleet_instance_released")
    assert {item["data"]["instance"] for item in proofs} == set(LABELS)
    assert all(item["data"]["epoch"] >= 1 and item["data"]["health"] for item in proofs)

    commit_file(fleet.daemon, "second.py", CRASHES_WHERE_TOLD)
    use_module(fleet, "second")
    for label in ("web-3",):
        (fleet.workers[label].astra.root / "app-state" / "crash").touch()
    ports = [fleet.find_port(label) for label in LABELS]
    with balanced(tmp_path, ports) as balancer, Traffic(balancer.port) as traffic:
        traffic.more()
        bad = fleet.daemon.json("deploy", code=1)["deployment"]
        traffic.more()
    assert traffic.lost == []
    assert bad["state"] == "rolled_back"
    assert bad["rollback_to"] == first["release"]
    assert {bad["instances"][label] for label in LABELS} <= {"back", "waiting"}
    assert bad["instances"]["web-1"] == bad["instances"]["web-3"] == "back"
    assert bad["release"] in traffic.releases, "wave 1 served the new release for a while"
    assert serving(fleet) == dict.fromkeys(LABELS, first["release"])
    failures = fleet.list_records("fleet_instance_failed")
    assert [item["data"]["attempt"] for item in failures] == [1, 2], "one replacement try"
    assert fleet.list_records("commit_quarantined")
    assert fleet.daemon.json("deploy", code=1)["code"] == "quarantined"
    assert fleet.daemon.json("ledger", "verify")["ok"]


def test_a_worker_killed_in_its_wave_comes_back_and_proves_the_release(fleet: RealFleet) -> None:
    fleet.start(*LABELS)
    fleet.daemon.json("deploy", "--no-wait")
    until(lambda: fleet.states()["web-1"] == "ordered", seconds=PATIENCE)
    fleet.workers["web-1"].send(signal.SIGKILL)
    fleet.workers["web-1"].wait()
    fleet.start("web-1")
    assert fleet.wait_until_over()["instances"] == dict.fromkeys(LABELS, "released")
    proofs = fleet.list_records("fleet_instance_released")
    by_label = {item["data"]["instance"]: item["data"] for item in proofs}
    assert by_label["web-1"]["epoch"] > 1, "the proof is of the worker that came back"
    assert fleet.daemon.json("ledger", "verify")["ok"]


def test_an_instance_that_is_away_is_passed_over_and_follows_when_it_returns(
    fleet: RealFleet,
) -> None:
    fleet.start("web-1", "web-2")
    done = fleet.daemon.json("deploy")["deployment"]
    assert done["state"] == "settled"
    assert done["instances"] == {
        "web-1": "released",
        "web-2": "released",
        "web-3": "passed_over",
    }
    fleet.start("web-3")
    until(lambda: fleet.releases()["web-3"] == done["release"], seconds=PATIENCE)
    assert serving(fleet) == dict.fromkeys(LABELS, done["release"])


def test_before_start_runs_once_on_each_instance_and_goes_back_with_its_release(
    fleet: RealFleet,
) -> None:
    commit_file(fleet.daemon, "migrate.py", MIGRATION)
    commit_file(fleet.daemon, "second.py", CRASHES_WHERE_TOLD)
    text = CONFIGURATION.replace(
        "health_path",
        f'before_start = "{PYTHON} migrate.py"\nbefore_start_seconds = 60\nhealth_path',
        1,
    )
    configure(fleet.daemon, text)
    fleet.start(*LABELS)
    first = fleet.daemon.json("deploy")["deployment"]
    assert read_migrations(fleet) == {label: [first["release"]] for label in LABELS}
    configure(fleet.daemon, text.replace("-m agent_server", "-m second"))
    (fleet.workers["web-3"].astra.root / "app-state" / "crash").touch()
    bad = fleet.daemon.json("deploy", code=1)["deployment"]
    assert bad["state"] == "rolled_back"
    assert serving(fleet) == dict.fromkeys(LABELS, first["release"])
    assert read_migrations(fleet) == {label: [first["release"]] for label in LABELS}
    ran = [item["data"] for item in fleet.list_records("before_start_finished")]
    assert {data["instance"] for data in ran if data["release"] == bad["release"]} >= {"web-3"}
    assert fleet.daemon.json("ledger", "verify")["ok"]
