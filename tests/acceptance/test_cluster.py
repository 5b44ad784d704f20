"""Several machines on this one: what `make cluster` shows, and that it leaves nothing behind."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from driver import Astra
from leftovers import list_processes
from warm_start import warm_children
from worker_process import eventually

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "cluster.py"
PATIENCE = 1500


def start_cluster(astra: Astra) -> subprocess.Popen[str]:
    return subprocess.Popen(
        # A test run in the background ignores SIGINT, and so would whatever it starts.
        ["env", "--default-signal=INT", *warm_children(SCRIPT)],
        env={**astra.environment, "PYTHONUNBUFFERED": "1"},
        cwd=astra.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def list_left(output: str) -> list[str]:
    """Name what is left: the folders that the first line names, and processes that know them."""
    folders = [Path(name) for name in re.findall(r"/\S*astra-cluster-\S+", output.splitlines()[0])]
    assert len(folders) == 2, output
    present = [str(folder) for folder in folders if folder.exists()]
    return [*present, *list_processes(*folders)]


@pytest.mark.timeout(1800)
def test_a_cluster_on_one_machine_releases_in_waves_and_takes_itself_back(empty: Astra) -> None:
    process = start_cluster(empty)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "its tests ran on web-" in output
    assert output.count("0 lost") == 2
    for label in ("web-1", "web-2", "web-3"):
        assert f"{label} says: Hello from the agent" in output
        assert output.count(f"{label} says: Hello from three machines") == 2
    assert "web-3 failed, try 2" in output
    assert "the release was taken back everywhere: web-3 failed 2 times" in output
    assert "was deployed before and failed" in output
    assert "led " in output
    assert output.count("ok: ") == 3
    assert list_left(output) == []


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cluster_that_is_interrupted_leaves_nothing_behind(
    empty: Astra, number: signal.Signals
) -> None:
    output = ""
    with start_cluster(empty) as process:
        assert process.stdout is not None
        for line in process.stdout:
            output += line
            if line.startswith("5. "):
                process.send_signal(number)
    assert process.returncode == 128 + number, output
    eventually(lambda: list_left(output) == [])
