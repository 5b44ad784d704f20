"""An app on several instances: real workers, a real Postgres, real holders, HAProxy before them."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploying import EXAMPLE, PYTHON, Traffic, fetch, until
from driver import Astra, make_repository
from fleet_process import PATIENCE, RealFleet, balanced
from postgres_server import Database, new_database
from worker_process import WorkerProcess

LABELS = ("web-1", "web-2", "web-3")
CONFIGURATION = f"""
[target]
branch = "trunk"

[app]
command = "{PYTHON} -m agent_server"
health_path = "/healthz"
watch_seconds = 1

[app.permissions]
network = "host"

[deploy.fleet]
instances = ["web-1", "web-2", "web-3"]
waves = ["1", "rest"]
max_down = 2
watch_seconds = 2
away_seconds = 20
instance_seconds = 240
wave_seconds = 600
rollback_seconds = 300
"""
CRASHES_WHERE_TOLD = """
import os, pathlib, runpy, sys
if pathlib.Path(os.environ["ASTRA_STATE"], "crash").exists():
    sys.exit("told to crash")
runpy.run_module("agent_server", run_name="__main__")
"""


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """A repository with a server in it, and a data root whose configuration names a fleet."""
    astra = Astra(tmp_path_factory.mktemp("fleet"))
    target = make_repository(astra.folder / "target")
    subprocess.run(["cp", "-r", f"{EXAMPLE}/.", target], check=True)
    run_git(target, "add", "-A")
    run_git(target, "commit", "-qm", "two")
    astra.json("init", target, "--throwaway")
    configure(astra, CONFIGURATION)
    astra.run("down")
    return astra


@pytest.fixture
def fleet(prepared: Astra, database: Database, tmp_path: Path) -> Iterator[RealFleet]:
    """One daemon and three workers, each with its folder; they share the git objects."""
    for name in ("daemon", *LABELS):
        (tmp_path / name).mkdir()
    daemon = prepared.copied_to(Astra(tmp_path / "daemon"))
    daemon.json("ledger", "move", "--to", database.url)
    copies = {label: daemon.copied_to(Astra(tmp_path / label)) for label in LABELS}
    for astra in (daemon, *copies.values()):
        astra.extra["ASTRA_DATABASE_URL"] = database.url
    for astra in copies.values():
        shutil.rmtree(astra.root / "var" / "git")
        (astra.root / "var" / "git").symlink_to(daemon.root / "var" / "git")
    real = RealFleet(daemon, {label: WorkerProcess(astra) for label, astra in copies.items()})
    yield real
    for worker in real.workers.values():
        worker.end()
    daemon.end()


def run_git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


def configure(astra: Astra, text: str) -> None:
    (astra.root / "astra.toml").write_text(text)
    astra.json("config", "sign")


def commit(astra: Astra, name: str, text: str) -> None:
    work = astra.folder / "work"
    if not work.exists():
        subprocess.run(["git", "clone", "-q", astra.root / "var" / "git", work], check=True)
    (work / name).write_text(text)
    run_git(work, "add", "-A")
    run_git(work, "commit", "-qm", "a change")
    run_git(work, "push", "-q")


def use_module(fleet: RealFleet, module: str) -> None:
    text = CONFIGURATION.replace("-m agent_server", f"-m {module}")
    configure(fleet.daemon, text)


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

    commit(fleet.daemon, "second.py", CRASHES_WHERE_TOLD)
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
