"""Faults of machines that share a chain: nothing acknowledged is lost, nothing is there twice."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from driver import Astra
from machine_faults import (
    SERVER,
    Network,
    Standby,
    Writers,
    count_lines,
    explain_no_network,
    kill_server,
    make_address,
    measure_seconds,
    restart_server,
    running_daemon,
)
from postgres_server import DAEMON, PostgresServer
from worker_process import eventually

MOST_SECONDS = 60.0
"""Resumed within 10 s is what is promised of a machine that has time; tests share theirs."""
SHIFTED = Path(__file__).resolve().parents[1] / "shifted_daemon.py"


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server of the test's own, which syncs its disk: it will be killed."""
    server = PostgresServer(options=())
    yield server
    server.remove()


@pytest.fixture
def join(initialised: Astra, tmp_path: Path) -> Iterator[Callable[[str], list[Astra]]]:
    """Give two machines whose chain is at an address."""
    machines: list[Astra] = []

    def join_chain(address: str) -> list[Astra]:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            machines.append(Astra(tmp_path / name))
        one, two = machines
        initialised.copied_to(one).json("ledger", "move", "--to", address)
        one.copied_to(two)
        for machine in machines:
            machine.extra["ASTRA_DATABASE_URL"] = address
        return machines

    yield join_chain
    for machine in machines:
        machine.end()


def find_leader(asked: Astra) -> str:
    done = asked.run("machines", "--json")
    if done.returncode:
        return ""
    items = asked.json("machines")["items"]
    return next((item["id"] for item in items if "background" in item["leads"]), "")


def own_id(machine: Astra) -> str:
    return str(machine.json("machines")["own"])


def list_alerts(asked: Astra) -> set[str]:
    items = asked.json("ledger", "tail", "--type", "alert_raised", "--count", "100")["items"]
    return {str(item["data"]["alert"]) for item in items}


def report(what: str, seconds: float) -> None:
    """Print a measure for `pytest -s`, and hold it to something generous."""
    print(f"{what}: {seconds:.1f} s, load {os.getloadavg()[0]:.0f}")
    assert seconds < MOST_SECONDS, what


def check_chain(server: PostgresServer, database: str, asked: Astra, writers: Writers) -> None:
    counts = count_lines(server, database, list(writers.acknowledged))
    assert set(counts) == {1}, "each acknowledged record is there, once"
    assert asked.json("ledger", "verify")["ok"]


@pytest.mark.parametrize("how", ["restarted", "crashed", "killed"])
def test_nothing_is_lost_or_doubled_when_postgres_comes_back(
    server: PostgresServer, join: Callable[[str], list[Astra]], how: str
) -> None:
    database = server.create_database()
    machines = join(database.url)
    with Writers(machines) as writers:
        writers.wait_for_each(count=2)
        if how == "killed":
            kill_server(server)
        else:
            server.stop(signal.SIGINT if how == "restarted" else signal.SIGQUIT)
        restart_server(server)
        back = time.monotonic()
        writers.wait_for_each(since=back)
        report(f"Postgres {how}: every daemon appends again after", time.monotonic() - back)
        eventually(lambda: find_leader(machines[0]))
        report(f"Postgres {how}: background work led again after", time.monotonic() - back)
    check_chain(server, database.name, machines[0], writers)


def test_a_streaming_standby_takes_over_and_nothing_acknowledged_is_lost(
    server: PostgresServer, join: Callable[[str], list[Astra]]
) -> None:
    database = server.create_database()
    standby = Standby(server)
    try:
        machines = join(make_address(database.name, server, standby))
        with Writers(machines) as writers:
            writers.wait_for_each(count=2)
            kill_server(server)
            standby.promote()
            back = time.monotonic()
            writers.wait_for_each(since=back)
            report("failed over: every daemon appends again after", time.monotonic() - back)
            eventually(lambda: find_leader(machines[0]))
            report("failed over: background work led again after", time.monotonic() - back)
        check_chain(standby, database.name, machines[0], writers)
    finally:
        for machine in machines:
            machine.end()
        standby.remove()


@pytest.mark.skipif(bool(why := explain_no_network()), reason=why or "it can be made")
def test_a_machine_behind_a_cut_network_leads_no_more_and_comes_back_when_it_is_mended(
    join: Callable[[str], list[Astra]],
) -> None:
    network = Network()
    network.build()
    server = PostgresServer(options=(f"listen_addresses={network.own_address}",))
    try:
        with (server.data / "pg_hba.conf").open("a") as file:
            file.write("host all all 10.213.0.0/16 trust\n")
        with server.connect("postgres", "postgres") as connection:
            connection.execute("SELECT pg_reload_conf()")
        database = server.create_database()
        one, two = join(f"postgresql://{DAEMON}@{network.own_address}/{database.name}")
        inside = ("ip", "netns", "exec", network.name, sys.executable, "-I", "-m", SERVER)
        with running_daemon(two, *inside):
            eventually(lambda: find_leader(two) == own_id(two))
            one.daemon_pid()
            cut_off = own_id(two)
            with Writers([one]) as writers:
                network.cut()
                seconds = measure_seconds(lambda: find_leader(one) == own_id(one))
                report("cut off: another machine leads after", seconds)
                refused = two.json("desires", "record", "from behind the cut", code=1)
                assert refused["code"] == "ledger_unavailable"
                eventually(lambda: "machines" in list_alerts(one))
                network.mend()
                eventually(lambda: two.run("desires", "record", "back", "--json").returncode == 0)
                eventually(lambda: cut_off in list_answering(one))
            texts = ["from behind the cut", '"back"']
            assert count_lines(server, database.name, texts) == [0, 1]
            check_chain(server, database.name, one, writers)
            assert two.json("ledger", "verify")["ok"]
    finally:
        one.end()
        network.remove()
        server.remove()


def list_answering(asked: Astra) -> set[str]:
    return {item["id"] for item in asked.json("machines")["items"] if item["answers"]}


@pytest.mark.parametrize("hours", [1, -1])
def test_clocks_that_are_an_hour_apart_lose_nothing_and_are_told(
    server: PostgresServer, join: Callable[[str], list[Astra]], hours: int
) -> None:
    database = server.create_database()
    one, two = join(database.url)
    with running_daemon(two, sys.executable, str(SHIFTED), str(3600 * hours)) as pid:
        eventually(lambda: find_leader(two) == own_id(two))
        with Writers([one, two]) as writers:
            writers.wait_for_each(count=2)
        asked = one if hours > 0 else two
        assert "ahead of the clock" in asked.json("status")["ledger"]["clock"]
        os.kill(pid, signal.SIGKILL)
        seconds = measure_seconds(lambda: find_leader(one) == own_id(one))
        report(f"clocks apart by {hours} h: another machine leads after", seconds)
        if hours > 0:
            eventually(lambda: "clock" in list_alerts(one))
        times = [item["time"] for item in list_all(one)]
        assert times == sorted(times)
        check_chain(server, database.name, one, writers)


def list_all(asked: Astra) -> list[dict[str, Any]]:
    return asked.json("ledger", "tail", "--count", "1000")["items"]
