"""The demo is the first thing a new user runs: it must tell its story on any machine."""

import signal
import subprocess
import sys

from driver import Astra


def test_the_demo_tells_its_story_and_ends_with_a_verified_ledger(empty: Astra) -> None:
    done = empty.run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(", 0 lost") == 2
    assert "rolled_back" in done.stdout
    assert "edited at record" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].lstrip().startswith("ok: ")


def test_a_demo_that_is_ended_leaves_nothing_running_and_nothing_behind(empty: Astra) -> None:
    command = [sys.executable, "-m", "astra.interfaces.cli.main", "demo"]
    surroundings = {**empty.environment, "TMPDIR": str(empty.folder), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, env=surroundings, cwd=empty.folder, stdout=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        serving = any("serves and stayed healthy" in line for line in demo.stdout)
        demo.send_signal(signal.SIGHUP)
    assert serving
    assert demo.returncode == 128 + signal.SIGHUP
    assert not list(empty.folder.glob("astra-demo-*"))
    assert not [line for line in command_lines() if str(empty.folder) in line]


def command_lines() -> list[str]:
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
