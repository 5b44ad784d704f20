"""The demo is the first thing a new user runs: it must tell its story on any machine."""

import signal
import subprocess
from collections.abc import Iterator

import pytest

from driver import COMMAND, Astra
from leftovers import list_processes
from terminal import Terminal
from warm_start import warm


def test_the_demo_tells_its_story_and_ends_with_a_verified_ledger(empty: Astra) -> None:
    done = empty.run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(", 0 lost") == 2
    assert "rolled_back" in done.stdout
    assert "edited at record" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].lstrip().startswith("ok: ")


@pytest.fixture
def hangup() -> Iterator[None]:
    """Let a closed terminal be heard, also where these tests were started with nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("when", ["the agent sees", "serves and stayed healthy"])
def test_a_demo_that_is_ended_leaves_nothing_running_and_nothing_behind(
    empty: Astra, when: str
) -> None:
    """While the agent talks, that is finished first: its relay would start a daemon again."""
    command = warm(COMMAND, "demo")
    surroundings = {**empty.environment, "TMPDIR": str(empty.folder), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, env=surroundings, cwd=empty.folder, stdout=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        signals_sent = 0
        for line in demo.stdout:  # to its end: a closed pipe would end it for another reason
            if when in line and not signals_sent:
                demo.send_signal(signal.SIGHUP)
                signals_sent += 1
    assert signals_sent == 1
    assert demo.returncode == 128 + signal.SIGHUP
    assert not list(empty.folder.glob("astra-demo-*"))
    assert not list_processes(empty.folder)


def test_on_a_terminal_it_ends_with_something_to_decide_and_the_decision_works(
    empty: Astra,
) -> None:
    """What it prints is pasted into a second terminal, as it stands there."""
    environment = {**empty.environment, "TMPDIR": str(empty.folder)}
    with Terminal("demo", environment=environment, folder=empty.folder, columns=400) as demo:
        demo.wait_for("In a second terminal")
        pasted = demo.wait_for("astra passkeys enroll")
        demo.wait_for("/login#")
        lines = [line.strip() for line in pasted.splitlines()]
        exports = [line for line in lines if line.startswith("export ")]
        (review,) = [line for line in lines if line.startswith("astra review ")]
        change = review.split()[-1]
        decided = run_pasted(
            empty,
            *exports,
            f"astra changes approve {change}",
            f"astra changes show {change} --json",
        )
        assert '"state":"executed"' in decided.replace(" ", ""), decided
        demo.press("\x03")
        assert demo.wait_until_over() == 0, demo.text
    assert not list(empty.folder.glob("astra-demo-*"))
    assert not list_processes(empty.folder)


def run_pasted(astra: Astra, *lines: str) -> str:
    """Run lines in a shell that knows nothing but what they say."""
    done = subprocess.run(
        ["bash"],
        input="\n".join(lines),
        env={"PATH": astra.environment["PATH"], "HOME": str(astra.folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr
