"""Faults in the middle of a release to a fleet: leaders, workers and holders that die or hang."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.supervisor.client import HolderClient
from deploying import fetch, until
from driver import Astra
from fleet_process import LABELS, PATIENCE, RealFleet, open_fleet, prepare_root
from postgres_server import Database, new_database


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    return prepare_root(tmp_path_factory.mktemp("fleet"))


@pytest.fixture
def fleet(prepared: Astra, database: Database, tmp_path: Path) -> Iterator[RealFleet]:
    with open_fleet(prepared, database.url, tmp_path, more=["second"]) as fleet:
        yield fleet


def find_leader(asked: Astra) -> str:
    items = asked.json("machines")["items"]
    return next((item["id"] for item in items if "app" in item["leads"]), "")


def serving(fleet: RealFleet) -> dict[str, str]:
    return {label: fetch(fleet.find_port(label), "/healthz")["release"] for label in LABELS}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_another_daemon_goes_on_with_a_rollout_whose_leader_dies_or_hangs(
    fleet: RealFleet, number: signal.Signals
) -> None:
    fleet.start(*LABELS)
    first, second = fleet.daemon, fleet.more["second"]
    second.daemon_pid()
    first.json("deploy", "--no-wait")
    until(lambda: fleet.states()["web-1"] == "ordered", seconds=PATIENCE)
    leader = find_leader(first)
    lost, other = (first, second) if leader == own_id(first) else (second, first)
    pid, other_id = lost.daemon_pid(), own_id(other)
    os.kill(pid, number)
    begun = time.monotonic()
    until(lambda: find_leader(other) == other_id, seconds=PATIENCE)
    print(f"{number.name}: another leads after {time.monotonic() - begun:.1f} s")
    fleet.daemon = other
    outcome = fleet.wait_until_over()
    assert outcome["instances"] == dict.fromkeys(LABELS, "released")
    if number == signal.SIGSTOP:
        os.kill(pid, signal.SIGCONT)
        until(lambda: lost.json("releases", "--fleet")["rollout"]["phase"] == "over")
    orders = [item["data"]["instance"] for item in fleet.list_records("fleet_instance_ordered")]
    assert sorted(orders) == sorted(LABELS), "nobody was ordered twice"
    waves = [item["data"]["wave"] for item in fleet.list_records("fleet_wave_begun")]
    assert waves == [0, 1]
    assert len(fleet.list_records("deployment_settled")) == 1
    assert serving(fleet) == dict.fromkeys(LABELS, outcome["release"])
    assert other.json("ledger", "verify")["ok"]


def own_id(machine: Astra) -> str:
    return str(machine.json("machines")["own"])


def find_holder(fleet: RealFleet, label: str) -> int:
    state = HolderClient(fleet.workers[label].astra.root).state()
    assert state is not None
    return state.pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_an_app_whose_holder_dies_or_hangs_serves_again_and_its_worker_is_untouched(
    fleet: RealFleet, number: signal.Signals
) -> None:
    fleet.start(*LABELS)
    release = fleet.daemon.json("deploy")["deployment"]["release"]
    worker = fleet.workers["web-2"].pid
    holder = find_holder(fleet, "web-2")
    os.kill(holder, number)
    begun = time.monotonic()
    until(lambda: is_serving_anew(fleet, "web-2", holder), seconds=PATIENCE)
    print(f"holder, {number.name}: serves again after {time.monotonic() - begun:.1f} s")
    until(lambda: serving(fleet) == dict.fromkeys(LABELS, release), seconds=PATIENCE)
    assert fleet.workers["web-2"].pid == worker


def test_a_worker_that_hangs_in_its_wave_proves_the_release_in_a_new_term_when_it_wakes(
    fleet: RealFleet,
) -> None:
    fleet.start(*LABELS)
    fleet.daemon.json("deploy", "--no-wait")
    until(lambda: fleet.states()["web-1"] == "ordered", seconds=PATIENCE)
    hanging = fleet.workers["web-1"]
    hanging.send(signal.SIGSTOP)
    until(lambda: "web-1" not in fleet.find_present(), seconds=PATIENCE)
    hanging.send(signal.SIGCONT)
    assert fleet.wait_until_over()["instances"] == dict.fromkeys(LABELS, "released")
    until(lambda: find_newest_proof(fleet, "web-1")["epoch"] > 1, seconds=PATIENCE)
    assert fleet.daemon.json("ledger", "verify")["ok"]


def find_newest_proof(fleet: RealFleet, label: str) -> dict[str, Any]:
    proofs = (item["data"] for item in fleet.list_records("fleet_instance_released"))
    return [proof for proof in proofs if proof["instance"] == label][-1]


def is_serving_anew(fleet: RealFleet, label: str, before: int) -> bool:
    state = HolderClient(fleet.workers[label].astra.root).state()
    return state is not None and state.pid != before and state.serving is not None
