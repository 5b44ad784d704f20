import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.policy.manifest import Limits
from astra.trusted.sandbox import boxes, supervision, threshold
from astra.trusted.sandbox.boxes import RunningBox
from astra.trusted.sandbox.ports import Outcome, Verdict
from astra.trusted.stop.stop import end_one, stop_now
from deploying import until

HERE = Path(__file__).parent
FORKS = (
    "f() { (setsid sh -c 'while :; do sleep 100; done' &) ; }; for n in 1 2 3 4 5 6 7 8; do f; done"
)

LAUNCHER = """
import sys
from pathlib import Path
from astra.trusted.sandbox.launch import Box, run
run(Box(command=("sh", "-c", "echo up; sleep 600")), data_root=Path(sys.argv[1]),
    on_output=lambda stream, data: print(data, flush=True))
"""


class Started:
    """A box that runs in a thread and has said that it is up."""

    def __init__(self, yard: Any, script: str, **box: Any) -> None:
        self.outcome: list[Outcome] = []
        up = threading.Event()

        def work() -> None:
            self.outcome.append(
                yard.sh(
                    script,
                    on_output=lambda _s, _d: up.set(),
                    limits=Limits(wall_seconds=60),
                    box=box,
                )
            )

        self.thread = threading.Thread(target=work)
        self.thread.start()
        assert up.wait(300)

    def ending(self) -> Outcome:
        self.thread.join(120)
        return self.outcome[0]


@pytest.fixture
def start(yard: Any) -> Callable[..., Started]:
    return lambda script, **box: Started(yard, script, **box)


def test_stop_ends_a_program_that_forks_and_daemonises_and_leaves_nobody(
    yard: Any, start: Any
) -> None:
    running = start(f"{FORKS}; echo up; while :; do (sleep 0.01 &) ; done")
    (entry,) = boxes.list_registered(yard.data_root)[0]
    assert len(boxes.list_members(entry.pid_namespace)) > 8
    report = stop_now(yard.data_root)
    assert (report.frozen, report.ended, report.survivors) == (True, 1, ())
    assert boxes.list_members(entry.pid_namespace) == []
    assert running.ending().verdict is Verdict.STOPPED_BY_OPERATOR


def test_stop_works_from_another_process_while_the_launcher_is_stopped(
    yard: Any,
) -> None:
    """The launcher stands for a daemon that hangs: it is halted, and cannot help or hinder."""
    words = [sys.executable, "-c", LAUNCHER, str(yard.data_root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout
        assert launcher.stdout.readline()
        (entry,) = boxes.list_registered(yard.data_root)[0]
        launcher.send_signal(signal.SIGSTOP)
        report = _stop_elsewhere(yard.data_root)
        assert (report["ended"], report["survivors"]) == (1, [])
        assert boxes.list_members(entry.pid_namespace) == []
        launcher.kill()


def test_killing_the_launcher_ends_its_boxes_too(yard: Any) -> None:
    words = [sys.executable, "-c", LAUNCHER, str(yard.data_root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout
        assert launcher.stdout.readline()
        (entry,) = boxes.list_registered(yard.data_root)[0]
        with boxes.hold_process(entry) as process:
            assert process is not None
            launcher.kill()
            assert boxes.wait_dead(process, 60)
    assert stop_now(yard.data_root).already_gone == 1
    assert boxes.list_registered(yard.data_root) == ([], [])


def test_after_stop_nothing_new_runs(yard: Any) -> None:
    stop_now(yard.data_root)
    outcome = yard.sh("true")
    assert (outcome.verdict, outcome.code) == (Verdict.NEVER_RAN, "stopped")


def test_a_box_that_registers_after_stop_was_created_never_starts_its_command(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop falls between registering and the last look; the gate is never opened."""
    register = boxes.register

    def register_and_stop(data_root: Path, box: RunningBox) -> None:
        register(data_root, box)
        boxes.stop_file(data_root).touch()

    monkeypatch.setattr(boxes, "register", register_and_stop)
    outcome = yard.sh("touch ran")
    assert outcome.verdict is Verdict.NEVER_RAN
    assert not (yard.work / "ran").exists()
    assert boxes.list_registered(yard.data_root) == ([], [])


def test_the_app_can_be_kept(yard: Any, start: Any) -> None:
    app = start("echo up; sleep 50", kind=boxes.APP)
    worker = start("echo up; sleep 50")
    report = stop_now(yard.data_root, keep_app=True)
    assert (report.ended, report.kept_apps) == (1, 1)
    assert worker.ending().verdict is Verdict.STOPPED_BY_OPERATOR
    assert app.thread.is_alive()
    assert stop_now(yard.data_root).ended == 1
    app.ending()


def test_one_box_can_be_ended_on_an_operators_word(yard: Any, start: Any) -> None:
    running = start("echo up; sleep 50")
    (entry,) = boxes.list_registered(yard.data_root)[0]
    assert end_one(yard.data_root, entry.id)
    assert running.ending().verdict is Verdict.STOPPED_BY_OPERATOR
    assert not end_one(yard.data_root, entry.id)
    assert yard.sh("true").succeeded


def test_a_pid_that_belongs_to_somebody_else_by_now_is_left_alone(yard: Any) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        entry = boxes.describe(bystander.pid, pid_namespace=1, kind=boxes.RUN, label="old")
        assert entry
        boxes.register(yard.data_root, replace(entry, started=entry.started - 1))
        boxes.register(yard.data_root, replace(entry, id="box_22222222", boot="another"))
        report = stop_now(yard.data_root)
        assert (report.ended, report.already_gone, report.survivors) == (0, 2, ())
        assert bystander.poll() is None
        bystander.kill()


def test_a_damaged_registry_entry_is_reported_and_hides_no_other(yard: Any, start: Any) -> None:
    running = start("echo up; sleep 50")
    folder = yard.data_root / "var" / "run" / "boxes"
    (folder / "aaa").write_text("{")
    (folder / "bbb").write_text('{"id": 1}')
    report = stop_now(yard.data_root)
    assert report.ended == 1
    assert set(report.unreadable) == {"aaa", "bbb"}
    running.ending()


def test_stop_on_an_empty_data_root_freezes_it(tmp_path: Path) -> None:
    report = stop_now(tmp_path)
    assert report.clean
    assert boxes.is_stopped(tmp_path)


def _stop_elsewhere(data_root: Path) -> dict[str, Any]:
    script = (
        "import json, sys; from dataclasses import asdict; from pathlib import Path;"
        "from astra.trusted.stop.stop import end_one, stop_now;"
        "print(json.dumps(asdict(stop_now(Path(sys.argv[1])))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(data_root)], capture_output=True, check=True, timeout=60
    )
    return dict(json.loads(done.stdout))


DIES = """
import os, signal, sys
from pathlib import Path
from astra.trusted.sandbox import boxes, supervision, launch
place, name = {"register": (boxes, "register"), "status": (supervision, "await_init"),
               "limits": (launch, "enter_box_group")}[sys.argv[2]]
setattr(place, name, lambda *_words, **_named: os.kill(os.getpid(), signal.SIGKILL))
launch.run(launch.Box(command=("sh", "-c", "touch ran; sleep 600")), data_root=Path(sys.argv[1]))
"""


@pytest.mark.parametrize("where", ["status", "limits", "register"])
def test_a_launcher_killed_before_it_registers_leaves_no_command_and_nothing_for_long(
    yard: Any, where: str
) -> None:
    """The command waits for a line that nobody can write any more, and does not run.

    bwrap's monitor is killed with the launcher. If that is before it let its init go on, the init
    stays, alone in its namespace, until something looks for marks, as a stop does.
    """
    words = [sys.executable, "-c", DIES, str(yard.data_root), where]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert boxes.list_registered(yard.data_root) == ([], [])
    until(lambda: all(alone(process) for process in boxes.list_marked(yard.data_root)))
    assert not (yard.work / "ran").exists()
    assert stop_now(yard.data_root).clean
    until(lambda: not boxes.list_marked(yard.data_root))


HELD_UP = """
import os, signal, socket, sys
from pathlib import Path
from astra.trusted.sandbox import supervision, launch
from test_stop import fill_status, await_monitor
fill_status()
def die(process, **_ends):
    await_monitor(process.pid)
    os.kill(os.getpid(), signal.SIGKILL)
supervision.await_init = die
launch.run(launch.Box(command=("sh", "-c", "touch ran; sleep 600")), data_root=Path(sys.argv[1]))
"""


def fill_status() -> None:
    """Keep bwrap's monitor from saying its first word: its end of the status takes nothing more.

    So it stays where it will die with its launcher, and has not let its init go on yet.
    """
    make_pair = socket.socketpair
    pairs: list[tuple[socket.socket, socket.socket]] = []

    def make_full_pair() -> tuple[socket.socket, socket.socket]:
        pair = make_pair()
        if not pairs:
            pair[1].setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    pair[1].send(b"x" * 4096)
            pair[1].setblocking(True)
        pairs.append(pair)
        return pair

    threshold.socket.socketpair = make_full_pair


def await_monitor(monitor: int) -> None:
    """Wait until the monitor has an init and waits in its write, not only for a processor."""
    looks: list[str] = []

    def is_held_up() -> bool:
        state = Path(f"/proc/{monitor}/stat").read_text().rpartition(")")[2].split()[0]
        children = Path(f"/proc/{monitor}/task/{monitor}/children").read_text()
        looks.append(state if children.split() else "")
        return looks[-3:] == ["S", "S", "S"]

    until(is_held_up)


def test_an_init_that_was_never_let_go_on_has_no_command_and_a_stop_ends_it(yard: Any) -> None:
    """The one moment in which nothing of the kernel ends a box with its launcher.

    bwrap's monitor has asked to die with the launcher and does, before it lets its init go on.
    """
    environment = {**os.environ, "PYTHONPATH": f"{HERE}:{HERE.parents[1]}"}
    words = [sys.executable, "-c", HELD_UP, str(yard.data_root)]
    assert subprocess.run(words, check=False, env=environment).returncode == -signal.SIGKILL
    until(lambda: len(boxes.list_marked(yard.data_root)) == 1)
    (left,) = boxes.list_marked(yard.data_root)
    assert alone(left)
    assert not (yard.work / "ran").exists()
    report = stop_now(yard.data_root)
    assert (report.ended, report.clean) == (1, True)
    until(lambda: not boxes.list_marked(yard.data_root))


def test_a_monitor_killed_before_it_says_a_word_leaves_no_init_and_is_told(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threshold.socket, "socketpair", socket.socketpair)
    fill_status()
    await_init = supervision.await_init

    def kill_first(process: "subprocess.Popen[bytes]", **ends: int) -> supervision.Started:
        await_monitor(process.pid)
        process.kill()
        return await_init(process, **ends)

    monkeypatch.setattr(supervision, "await_init", kill_first)
    outcome = yard.sh("touch ran")
    assert outcome.verdict is Verdict.NEVER_RAN
    assert boxes.list_marked(yard.data_root) == []
    assert not (yard.work / "ran").exists()


def test_a_box_whose_monitor_is_killed_at_the_gate_ends_at_once(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its init asks to die with the monitor only after the gate, so the launcher has to end it."""
    open_gate = supervision.Started.open_gate

    def kill_first(started: supervision.Started) -> None:
        started.process.kill()
        started.process.wait()
        open_gate(started)

    monkeypatch.setattr(supervision.Started, "open_gate", kill_first)
    outcome = yard.sh("sleep 600", limits=Limits(wall_seconds=3600))
    assert outcome.verdict is not Verdict.SUCCEEDED
    assert boxes.list_marked(yard.data_root) == []


def test_looking_for_the_processes_of_a_box_loads_no_codec() -> None:
    """It is done as the boxes' user, who may not be able to read Python's library.

    A codec that was looked for in vain counts as unknown until the process ends.
    """
    script = (
        "import os, sys; from astra.trusted.sandbox.watch import list_process_tree;"
        "before = set(sys.modules); list_process_tree(os.getpid());"
        "sys.exit(bool(set(sys.modules) - before))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def alone(process: boxes.MarkedProcess) -> bool:
    """Tell whether an init is all there is of its box, or is gone meanwhile."""
    try:
        namespace = Path(f"/proc/{process.pid}/ns/pid").stat().st_ino
    except OSError:
        return True
    return process.is_init and boxes.list_members(namespace) == [process.pid]


def test_stop_ends_and_counts_a_box_that_nobody_registered(yard: Any, start: Any) -> None:
    running = start("echo up; sleep 50")
    (entry,) = boxes.list_registered(yard.data_root)[0]
    boxes.forget(yard.data_root, entry)
    report = stop_now(yard.data_root)
    assert (report.ended, report.survivors, report.clean) == (1, (), True)
    assert boxes.list_members(entry.pid_namespace) == []
    running.ending()


def test_a_box_of_another_data_root_is_left_alone(yard: Any, start: Any, tmp_path: Path) -> None:
    running = start("echo up; sleep 50")
    (tmp_path / "other" / "var").mkdir(parents=True)
    assert stop_now(tmp_path / "other").ended == 0
    assert running.thread.is_alive()
    stop_now(yard.data_root)
    running.ending()


@pytest.mark.parametrize("milliseconds", range(0, 60, 4))
def test_whenever_a_launcher_is_killed_a_stop_leaves_nothing(yard: Any, milliseconds: int) -> None:
    words = [sys.executable, "-c", SLOWLY, str(yard.data_root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout
        assert launcher.stdout.readline()
        time.sleep(milliseconds / 1000)  # any moment will do; none is waited for
        launcher.kill()
    assert stop_now(yard.data_root).clean
    until(lambda: not boxes.list_marked(yard.data_root))


SLOWLY = """
import sys
from pathlib import Path
from astra.trusted.sandbox.launch import Box, run
print("now", flush=True)
run(Box(command=("sleep", "600")), data_root=Path(sys.argv[1]))
"""


def test_something_else_in_place_of_the_registry_keeps_no_box_alive(yard: Any, start: Any) -> None:
    running = start("echo up; sleep 600")
    folder = yard.data_root / "var" / "run" / "boxes"
    shutil.rmtree(folder)
    folder.write_text("no folder")
    report = stop_now(yard.data_root)
    assert (report.ended, report.survivors) == (1, ())
    assert report.unreadable == ("boxes",)
    assert boxes.list_marked(yard.data_root) == []
    assert running.ending().verdict is Verdict.STOPPED_BY_OPERATOR
