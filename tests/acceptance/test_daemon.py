"""One daemon owns a data root: started on demand, alone, and gone when nobody needs it."""

import shutil
import signal
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from driver import COMMAND, Astra, kill_process, wait_for_end
from warm_start import cold, warm


def test_a_command_starts_it_and_the_next_one_finds_it(astra: Astra) -> None:
    assert astra.daemon_pid() == astra.daemon_pid()


def test_down_ends_it_and_says_when_there_is_none(astra: Astra) -> None:
    pid = astra.daemon_pid()
    assert astra.json("down") == {"ended": True, "pid": pid}
    wait_for_end(pid)
    assert astra.json("down") == {"ended": False}


def test_many_commands_at_once_share_one(astra: Astra) -> None:
    pids: list[int] = []
    threads = [threading.Thread(target=lambda: pids.append(astra.daemon_pid())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 6
    assert len(set(pids)) == 1


def test_a_second_one_is_refused_with_the_holders_pid(astra: Astra) -> None:
    pid = astra.daemon_pid()
    command = warm("astra.interfaces.daemon.server", "--data-root", astra.root)
    second = subprocess.run(
        command, env=astra.environment, capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    assert f"process {pid}" in second.stderr


def test_a_second_up_says_so_kindly(astra: Astra) -> None:
    with _run_up(astra) as process:
        refused = astra.json("up", code=1)
        assert (refused["code"], refused["pid"]) == ("ledger_locked", process.pid)


def test_after_kill_9_the_stale_socket_and_lock_are_no_obstacle(astra: Astra) -> None:
    pid = astra.daemon_pid()
    kill_process(pid)
    assert (astra.root / "var" / "run" / "astra.sock").exists()
    assert astra.daemon_pid() != pid


def test_it_leaves_by_itself_when_nobody_comes(astra: Astra) -> None:
    astra.extra["ASTRA_DAEMON_IDLE_MINUTES"] = "0.01"
    wait_for_end(astra.daemon_pid())
    assert not (astra.root / "var" / "run" / "astra.sock").exists()
    assert astra.json("ledger", "verify")["ok"]


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "moved"])
def test_it_leaves_when_its_data_root_is_not_there_any_more(astra: Astra, *, removed: bool) -> None:
    pid = astra.daemon_pid()
    elsewhere = astra.root.rename(astra.folder / "elsewhere")
    if removed:
        shutil.rmtree(elsewhere)
    else:
        astra.root.mkdir()  # another one, at the same place
    wait_for_end(pid)
    if elsewhere.exists():
        astra.root.rmdir()  # nothing was written there any more
        elsewhere.rename(astra.root)
        assert astra.daemon_pid() != pid
        assert astra.json("ledger", "verify")["ok"]


def test_up_runs_in_the_foreground_until_it_is_told_to_end(astra: Astra) -> None:
    with _run_up(astra) as process:
        assert astra.daemon_pid() == process.pid
        environment = Path(f"/proc/{process.pid}/environ").read_text()
        assert "ASTRA_OPERATOR_PASSPHRASE" not in environment


@contextmanager
def _run_up(astra: Astra) -> Generator[subprocess.Popen[str]]:
    with subprocess.Popen(
        cold(COMMAND, "up", "--port", "0"), env=astra.environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "serving" in line)
        assert str(astra.root) in line
        yield process
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait(timeout=240) == 0


def test_its_environment_carries_neither_the_passphrase_nor_what_loads_code(astra: Astra) -> None:
    astra.start = cold
    astra.extra |= {"PYTHONPATH": "/tmp", "LD_DEBUG_OUTPUT": "/tmp/x", "PYTHONSTARTUP": "/tmp/x"}
    astra.extra["ASTRA_BACKUP_PASSPHRASE"] = "of the backups"
    environment = Path(f"/proc/{astra.daemon_pid()}/environ").read_text()
    for name in ("PASSPHRASE", "PYTHONPATH", "LD_DEBUG_OUTPUT", "PYTHONSTARTUP"):
        assert name not in environment


def test_the_socket_is_its_owners_alone(astra: Astra) -> None:
    astra.daemon_pid()
    socket = astra.root / "var" / "run" / "astra.sock"
    assert socket.stat().st_mode & 0o077 == 0


def test_a_very_deep_data_root_has_a_socket_too(empty: Astra, target: Path) -> None:
    deep = empty.folder.joinpath(*["deeper"] * 20)
    empty.extra["AGENT_DATA_ROOT"] = str(deep)
    empty.json("init", target, "--throwaway")
    assert empty.json("status")["data_root"] == str(deep)
    empty.run("down")


def test_a_missing_data_root_is_named_with_the_next_step(empty: Astra) -> None:
    refused = empty.json("status", code=1)
    assert refused["code"] == "no_data_root"
    assert "astra init" in refused["next_step"]


def test_a_cut_chain_keeps_it_from_starting_and_the_command_says_why(astra: Astra) -> None:
    astra.run("down")
    (segment,) = (astra.root / "var" / "ledger").glob("*.ndjson")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(lines[0])
    refused = astra.json("status", code=1)
    assert refused["code"] == "ledger_cut"
    problems = astra.json("ledger", "verify", code=1)["problems"]
    assert [(problem["kind"], problem["sequence"]) for problem in problems] == [("truncated", 2)]
