"""A plain process instead of a box: limits, endings and stop still hold, and no wall does."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.unconfined.run import run
from astra.trusted.egress.egress_proxy import Attempt, Internet
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.ports import Outcome, Verdict
from astra.trusted.stop import process_tree as tree
from astra.trusted.stop.stop import end_one, stop_now

pytestmark = pytest.mark.xdist_group("sandbox")
LAUNCHER = """
import sys
from pathlib import Path
from astra.trusted.sandbox.launch import Box
from astra.adapters.unconfined.run import run
run(Box(command=("sh", "-c", "(setsid sleep 600 &); echo up; sleep 600"), workdir="/tmp"),
    data_root=Path(sys.argv[1]), on_output=lambda stream, data: print(data, flush=True))
"""
FORKS = (
    "trap '' TERM INT HUP; echo up;"
    "(setsid sh -c 'trap \"\" TERM; while :; do sleep 600 & sleep 0.02; done' &);"
    "while :; do sleep 600 & sleep 0.02; done"
)


@pytest.fixture
def plain(yard: Any) -> Any:
    return replace(yard, launch=run)


class Going:
    """A command that runs in a thread and has said that it is up."""

    def __init__(self, plain: Any, script: str, **options: Any) -> None:
        self._outcome: list[Outcome] = []
        up = threading.Event()
        self._thread = threading.Thread(
            target=lambda: self._outcome.append(
                plain.sh(script, on_output=lambda _stream, _data: up.set(), **options)
            )
        )
        self._thread.start()
        assert up.wait(300)
        (self.entry,) = boxes.list_registered(plain.data_root)[0]

    def outcome(self) -> Outcome:
        self._thread.join(60)
        return self._outcome[0]


def test_endings_are_told_in_the_same_words_as_for_a_box(plain: Any) -> None:
    assert plain.sh("echo hi > note; cat note").stdout == b"hi\n"
    assert plain.sh("exit 3").exit_code == 3
    assert plain.sh("sleep 60", limits=Limits(wall_seconds=0.5)).verdict is Verdict.TIMED_OUT
    assert plain.sh("kill -9 $$").exit_code == 128 + signal.SIGKILL
    never = plain.run("/no/such")
    assert never.verdict is Verdict.NEVER_RAN
    assert "/no/such: No such file" in never.reason
    assert not boxes.list_registered(plain.data_root)[0]


def test_it_says_of_itself_that_nothing_confined_it(plain: Any) -> None:
    outcome = plain.sh("readlink /proc/self/ns/pid")
    assert outcome.confined is False
    assert outcome.stdout.decode().strip() == str(Path("/proc/self/ns/pid").readlink())


def test_it_is_never_root_and_cannot_become_root(plain: Any) -> None:
    said = plain.sh("id -u; grep NoNewPrivs /proc/self/status; ulimit -n; ulimit -c")
    uid, _, bit, files, core = said.stdout.split()
    assert int(uid) != 0
    assert (bit, files, core) == (b"1", b"1024", b"0")


def test_its_environment_holds_nothing_of_the_daemons(
    plain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_DAEMON", "x")
    names = {line.split(b"=")[0] for line in plain.sh("env").stdout.splitlines()}
    assert names == {b"PATH", b"HOME", b"LANG", b"TERM", b"PWD", tree.MARK.encode()}


def test_limits_on_output_and_processes_end_it(plain: Any) -> None:
    flood = plain.sh("yes", limits=Limits(output_bytes=100_000))
    assert (flood.verdict, flood.limit) == (Verdict.KILLED_BY_LIMIT, "output")
    bomb = plain.sh("while :; do sleep 600 & done", limits=Limits(processes=40))
    assert (bomb.verdict, bomb.limit) == (Verdict.KILLED_BY_LIMIT, "processes")


def test_what_a_command_leaves_behind_ends_with_it(plain: Any) -> None:
    outcome = plain.sh("(setsid sleep 600 & echo $!)")
    assert outcome.succeeded
    assert not boxes.is_alive(int(outcome.stdout))


def test_stop_ends_a_forking_tree_and_proves_it(plain: Any) -> None:
    going = Going(plain, FORKS)
    done = stop_now(plain.data_root)
    assert (done.ended, done.survivors, done.clean) == (1, (), True)
    assert tree.list_survivors(going.entry) == []
    assert going.outcome().verdict is Verdict.STOPPED_BY_OPERATOR
    assert plain.sh("true").code == "stopped"


def test_stop_finds_by_its_mark_what_lost_its_keeper(plain: Any) -> None:
    """An ordinary user's command can kill its own keeper; what it started is found all the same."""
    going = Going(plain, "(setsid sleep 600 &); echo up; sleep 600")
    keeper = going.entry.pid
    orphans = tree.list_survivors(going.entry)
    os.kill(keeper, signal.SIGSTOP)
    entry = going.entry
    os.kill(keeper, signal.SIGKILL)
    done = stop_now(plain.data_root)
    assert done.survivors == ()
    assert not [pid for pid in orphans if boxes.is_alive(pid)]
    assert tree.list_survivors(entry) == []
    going.outcome()


def test_one_run_can_be_ended_alone(plain: Any) -> None:
    going = Going(plain, FORKS)
    assert end_one(plain.data_root, going.entry.id)
    assert going.outcome().verdict is Verdict.STOPPED_BY_OPERATOR
    assert plain.sh("true").succeeded


def test_the_death_of_astra_ends_what_it_started(plain: Any) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(plain.data_root)], stdout=subprocess.PIPE
    ) as launcher:
        assert launcher.stdout is not None
        launcher.stdout.readline()
        (entry,) = boxes.list_registered(plain.data_root)[0]
        alive = tree.list_survivors(entry)
        assert len(alive) >= 3
        launcher.kill()
    with boxes.hold_process(entry) as keeper:
        assert keeper is None or boxes.wait_dead(keeper, 60)
    assert tree.list_survivors(entry) == []


def test_a_client_that_uses_the_proxy_is_held_to_its_domains_and_recorded(plain: Any) -> None:
    attempts: list[Attempt] = []
    nobody = Internet(resolve=lambda _host, _port: [], dial=lambda _address, _port: None)  # type: ignore[arg-type, return-value]
    outcome = plain.sh(
        "curl -s http://evil.net/; curl -s http://example.com/",
        manifest=Manifest(network_domains=("example.com",), write_paths=(str(plain.work),)),
        record=attempts.append,
        internet=nobody,
    )
    assert b"not_granted" in outcome.stdout
    assert [(a.host, a.reason) for a in attempts] == [
        ("evil.net", "not_granted"),
        ("example.com", "cannot_resolve"),
    ]
