"""A command that is started warm is the command: see `warm_start`."""

import os
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deploying import until
from driver import COMMAND, Astra, wait_for_end
from warm_start import cold, warm


@pytest.mark.parametrize("words", [["--version"], ["nonsense"], ["status"]], ids=" ".join)
def test_it_answers_as_the_cold_one_does(empty: Astra, words: list[str]) -> None:
    answers = [
        subprocess.run(
            start(COMMAND, *words),
            env=empty.environment,
            cwd=empty.folder,
            capture_output=True,
            check=False,
        )
        for start in (warm, cold)
    ]
    assert answers[0].returncode == answers[1].returncode
    assert answers[0].stdout == answers[1].stdout
    assert answers[0].stderr == answers[1].stderr


@pytest.mark.parametrize("words", [["--version"], ["nonsense"], ["status"]], ids=" ".join)
def test_asked_for_directly_it_answers_as_the_cold_one_does(empty: Astra, words: list[str]) -> None:
    direct, empty.start = empty.run(*words), cold
    answer = empty.run(*words)
    assert direct.returncode == answer.returncode
    assert direct.stdout == answer.stdout
    assert direct.stderr == answer.stderr


def test_asked_for_directly_its_death_by_a_signal_is_handed_back(astra: Astra) -> None:
    daemon = astra.daemon_pid()
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(astra.run, "ledger", "tail", "--follow", "--count", "1")
        (command,) = until(lambda: find_warm_processes(astra) - {daemon})
        os.kill(command, signal.SIGKILL)
        ended = following.result(timeout=120)
    assert ended.returncode == -signal.SIGKILL


def test_what_it_stands_for_ends_with_it(astra: Astra) -> None:
    daemon = warm("astra.interfaces.daemon.server", "--stay", "--data-root", astra.root)
    with subprocess.Popen(daemon, env=astra.environment, stderr=subprocess.DEVNULL) as process:
        until((astra.root / "var" / "run" / "astra.sock").exists)
        first = astra.daemon_pid()
        process.kill()
    wait_for_end(first)
    assert astra.daemon_pid() != first


def test_a_signal_reaches_it_and_its_end_is_handed_back(astra: Astra) -> None:
    with subprocess.Popen(
        warm(COMMAND, "ledger", "tail", "--follow", "--count", "1"),
        env=astra.environment,
        stdout=subprocess.PIPE,
    ) as following:
        assert following.stdout is not None
        following.stdout.readline()
        following.terminate()
    assert following.returncode == -signal.SIGTERM


def test_whoever_is_ended_before_it_asked_leaves_the_others_served(empty: Astra) -> None:
    command = warm(COMMAND, "--version")
    with socket.socket(socket.AF_UNIX) as early:
        early.connect(command[command.index(COMMAND) - 2])
    for _ in range(5):
        with subprocess.Popen(command, env=empty.environment, stdout=subprocess.DEVNULL) as ended:
            ended.terminate()
    assert empty.run("--version").returncode == 0


def find_warm_processes(astra: Astra) -> set[int]:
    """Find what a nursery forked and what works in the folder of a test."""
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if is_warm_there(path, astra)}


def is_warm_there(process: Path, astra: Astra) -> bool:
    try:
        is_warm = b"warm_nursery.py" in (process / "cmdline").read_bytes()
        return is_warm and (process / "cwd").readlink() == astra.folder
    except OSError:
        return False  # it has ended
