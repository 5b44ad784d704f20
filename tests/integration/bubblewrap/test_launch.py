import os
import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.policy.manifest import MIB, Limits, Manifest
from astra.trusted.sandbox import boxes, machine, staging, threshold
from astra.trusted.sandbox.grants import Withholding
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.sandbox.ports import Verdict
from astra.trusted.sandbox.supervision import Started
from astra.trusted.sandbox.toolchain import Toolchain

UNTIL_SEEN = "while [ ! -e go-on ]; do :; done"


def test_a_command_reads_and_writes_what_is_granted_and_succeeds(yard: Any) -> None:
    outcome = yard.sh(f"cat {yard.library}/page.txt; echo mine > note; id -u; pwd")
    assert outcome.verdict is Verdict.SUCCEEDED
    assert outcome.stdout.decode() == f"page1000\n{yard.work}\n"
    assert (yard.work / "note").read_text() == "mine\n"


def test_a_box_is_never_root_on_the_host(yard: Any) -> None:
    assert yard.sh("touch mine").succeeded
    assert (yard.work / "mine").stat().st_uid == machine.inspect_machine().identity.uid != 0


def test_an_exit_code_is_told_apart_from_a_command_that_never_ran(yard: Any) -> None:
    failed = yard.sh("exit 7")
    assert (failed.verdict, failed.exit_code) == (Verdict.FAILED, 7)
    missing = yard.run("no-such-program")
    assert missing.verdict is Verdict.NEVER_RAN
    assert missing.exit_code is None
    assert "no-such-program" in missing.reason


def test_a_refused_grant_means_never_ran_with_a_next_step(yard: Any) -> None:
    outcome = yard.sh("true", manifest=Manifest(read_paths=(str(yard.library / "gone"),)))
    assert outcome.verdict is Verdict.NEVER_RAN
    assert outcome.code == "unsafe_grant"
    assert outcome.next_step


def test_output_arrives_while_the_command_runs(yard: Any) -> None:
    """The box waits for a file that the host only makes once it has heard the first words."""
    heard: list[tuple[str, bytes]] = []

    def hear(stream: str, data: bytes) -> None:
        heard.append((stream, data))
        (yard.work / "go-on").touch()

    script = f"echo early; {UNTIL_SEEN}; echo late >&2"
    assert yard.sh(script, on_output=hear, limits=Limits(wall_seconds=120)).succeeded
    assert heard == [("stdout", b"early\n"), ("stderr", b"late\n")]


def test_a_command_that_takes_too_long_is_timed_out_with_its_children(yard: Any) -> None:
    script = "touch ticks; (setsid sh -c 'while :; do date >> ticks; done' &) ; sleep 60"
    outcome = yard.sh(script, limits=Limits(wall_seconds=4))
    assert outcome.verdict is Verdict.TIMED_OUT
    size = (yard.work / "ticks").stat().st_size
    assert (yard.work / "ticks").stat().st_size == size
    assert boxes.list_registered(yard.data_root) == ([], [])


def test_children_that_stay_behind_end_with_the_command(yard: Any) -> None:
    """The FIFO's reader would keep its writer alive, so a survivor would show as an open end."""
    outcome = yard.sh("mkfifo pipe; (setsid sh -c 'exec 3<>pipe; sleep 600' &); echo done")
    assert outcome.succeeded
    with pytest.raises(OSError, match="No such device"):
        os.open(yard.work / "pipe", os.O_WRONLY | os.O_NONBLOCK)


@pytest.mark.parametrize(
    ("script", "limits", "limit"),
    [
        ("head -c 3000000 /dev/zero", Limits(output_bytes=MIB), "output"),
        ("head -c 3000000 /dev/zero > big", Limits(file_bytes=MIB), "file size"),
        ("while :; do :; done", Limits(cpu_seconds=1), "cpu"),
        (
            "for n in 1 2 3 4 5 6; do head -c 1000000 /dev/zero > $n; done; sleep 20",
            Limits(disk_bytes=2 * MIB),
            "disk",
        ),
        (
            "n=0; while [ $n -lt 50 ]; do n=$((n+1)); : > f$n; done; sleep 20",
            Limits(disk_files=20),
            "files",
        ),
    ],
)
def test_each_limit_ends_the_box_and_is_named(
    yard: Any, script: str, limits: Limits, limit: str
) -> None:
    outcome = yard.sh(script, limits=limits)
    assert (outcome.verdict, outcome.limit) == (Verdict.KILLED_BY_LIMIT, limit)


def test_memory_is_limited_for_all_processes_together(yard: Any) -> None:
    hog = "x = b'x' * 60_000_000; import time; time.sleep(20)"
    script = "".join(f'/usr/bin/python3 -c "{hog}" & ' for _ in range(4)) + "wait"
    outcome = yard.sh(script, limits=Limits(memory_bytes=128 * MIB))
    assert (outcome.verdict, outcome.limit) == (Verdict.KILLED_BY_LIMIT, "memory")


def test_the_environment_is_empty_but_for_what_the_box_sets_and_the_manifest_names(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPERATOR_TOKEN", "secret")
    outcome = yard.sh("env", manifest=replace(yard.manifest, environment={"MODE": "fast"}))
    names = {line.partition("=")[0] for line in outcome.stdout.decode().splitlines()}
    assert names == {"PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "PWD", "MODE"}


def test_stdin_is_empty(yard: Any) -> None:
    assert yard.run("cat").stdout == b""


def test_nothing_of_the_box_shows_in_the_process_list_but_its_command(yard: Any) -> None:
    """The grants are in a descriptor, so another user's `ps` does not learn them."""
    seen: list[str] = []

    def look(_stream: str, _data: bytes) -> None:
        for entry in boxes.list_registered(yard.data_root)[0]:
            parent = boxes.read_parent(entry.pid)
            seen.append(Path(f"/proc/{parent}/cmdline").read_bytes().decode())
        (yard.work / "go-on").touch()

    assert yard.sh(f"echo ready; {UNTIL_SEEN}", on_output=look).succeeded
    assert seen
    assert str(yard.library) not in seen[0]


def test_a_callback_that_fails_ends_the_box_and_is_raised(yard: Any) -> None:
    def fail(_stream: str, _data: bytes) -> None:
        raise RuntimeError("the reader is gone")

    with pytest.raises(RuntimeError, match="the reader is gone"):
        yard.sh("echo x; sleep 60", on_output=fail)
    assert boxes.list_registered(yard.data_root) == ([], [])


def test_many_boxes_run_at_once_from_many_threads(yard: Any) -> None:
    outcomes: list[bytes] = []
    threads = [
        threading.Thread(target=lambda n=n: outcomes.append(yard.sh(f"echo {n}").stdout))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [f"{n}\n".encode() for n in range(8)]


def test_launching_leaves_no_descriptor_and_no_mount_behind(yard: Any) -> None:
    yard.sh("true")
    before = len(list(Path("/proc/self/fd").iterdir())), Path("/proc/self/mounts").read_text()
    for _ in range(3):
        yard.sh("true")
    assert (
        len(list(Path("/proc/self/fd").iterdir())),
        Path("/proc/self/mounts").read_text(),
    ) == before


def test_a_writable_folder_of_somebody_else_is_refused_with_the_command_that_fixes_it(
    yard: Any, tmp_path: Path
) -> None:
    if not machine.inspect_machine().identity.dropped:
        pytest.skip("boxes have the uid of this user")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    outcome = yard.sh("true", manifest=Manifest(write_paths=(str(foreign),)))
    assert outcome.verdict is Verdict.NEVER_RAN
    assert outcome.next_step.startswith("chown -R ")


def test_git_of_a_writable_folder_is_read_only_unless_it_is_granted(yard: Any) -> None:
    (yard.work / ".git").mkdir()
    script = "touch .git/x && echo written"
    own = {"withholding": Withholding(agent_folders=(str(yard.work),))}
    assert yard.sh(script, box=own).stdout == b""
    granted = Manifest(write_paths=(str(yard.work), f"{yard.work}/.git"))
    assert yard.sh(script, manifest=granted, box=own).stdout == b"written\n"


def test_protected_places_in_what_every_box_sees_are_covered(yard: Any) -> None:
    script = "ls /usr/share/doc | wc -l; cat /usr/bin/env | wc -c"
    outcome = yard.sh(script, box={"protected": ("/usr/share/doc", "/usr/bin/env")})
    assert outcome.stdout.split() == [b"0", b"0"]


@pytest.mark.parametrize(
    "box",
    [{"workdir": "/tmp\0--bind\0/\0/host"}, {"workdir": "tmp"}, {"command": ()}],
)
def test_words_that_would_be_read_as_options_are_refused(yard: Any, box: dict[str, Any]) -> None:
    command = box.pop("command", ("true",))
    outcome = yard.run(*command, box=box)
    assert outcome.verdict is Verdict.NEVER_RAN
    assert outcome.next_step


def test_a_nul_in_the_command_never_reaches_bwrap(yard: Any) -> None:
    assert yard.run("echo", "a\0b").verdict is Verdict.NEVER_RAN


def test_a_home_folder_cannot_be_granted_whole(yard: Any) -> None:
    for home in machine.home_folders():
        assert yard.sh("true", manifest=Manifest(read_paths=(home,))).code == "bad_manifest"


def test_a_toolchain_in_a_protected_place_is_refused(yard: Any) -> None:
    tools = Toolchain(read_paths=(str(yard.library),))
    outcome = yard.sh(
        "true", manifest=Manifest(), box={"toolchain": tools, "protected": (str(yard.library),)}
    )
    assert outcome.code == "unsafe_grant"


def test_a_box_that_cannot_be_registered_never_runs(yard: Any) -> None:
    (yard.data_root / "var" / "run").write_text("in the way")
    outcome = yard.sh("touch ran")
    assert outcome.verdict is Verdict.NEVER_RAN
    assert not (yard.work / "ran").exists()


def test_handing_a_folder_over_leaves_links_and_second_names_alone(tmp_path: Path) -> None:
    identity = machine.inspect_machine().identity
    if not identity.dropped:
        pytest.skip("nothing is handed over unless root")
    outside = tmp_path / "outside"
    outside.write_text("x")
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "own").write_text("x")
    (folder / "link").symlink_to(outside)
    os.link(outside, folder / "second")
    staging.hand_over(folder, identity)
    assert (folder / "sub" / "own").stat().st_uid == identity.uid
    assert outside.stat().st_uid == 0


def test_astra_itself_keeps_its_user_and_a_started_box_cannot_take_it_back(yard: Any) -> None:
    """While it starts bwrap, one thread is the boxes' user; what it starts has no other id left."""
    ids: list[list[str]] = []

    def look(_stream: str, _data: bytes) -> None:
        (entry,) = boxes.list_registered(yard.data_root)[0]
        for pid in (entry.pid, boxes.read_parent(entry.pid)):
            text = Path(f"/proc/{pid}/status").read_text()
            ids.append(text.split("Uid:")[1].split()[:4] + text.split("Gid:")[1].split()[:4])
        ids.append(["main", *Path("/proc/self/status").read_text().split("Uid:")[1].split()[:4]])
        (yard.work / "go-on").touch()

    assert yard.sh(f"echo x; {UNTIL_SEEN}", on_output=look).succeeded
    identity = machine.inspect_machine().identity
    box_ids = [str(identity.uid)] * 4 + [str(identity.gid)] * 4
    assert ids == [box_ids, box_ids, ["main", *[str(os.getuid())] * 4]]


def test_a_thread_that_was_the_boxes_user_is_whole_again_afterwards() -> None:
    def ids() -> list[str]:
        lines = Path("/proc/thread-self/status").read_text().splitlines()
        return [line for line in lines if line.startswith(("Uid:", "Gid:", "Groups:", "CapEff:"))]

    def work() -> tuple[list[str], list[str], list[str]]:
        before = ids()
        with threshold.act_as(machine.inspect_machine().identity):
            during = ids()
        return before, during, ids()

    before, during, after = threshold.run_in_own_thread(work)
    assert before == after
    assert machine.inspect_machine().identity.dropped == (during != before)


def test_the_working_folder_can_be_chosen(yard: Any) -> None:
    assert yard.sh("pwd", box={"workdir": "/tmp"}).stdout == b"/tmp\n"


def test_a_box_that_is_gone_before_its_command_began_never_ran() -> None:
    """What it was granted may have vanished while it was set up."""
    reading, writing = os.pipe()
    os.close(reading)
    words = ["sh", "-c", "echo it vanished >&2"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        started = Started(
            process=process,
            status=-1,
            gate=writing,
            init=process.pid,
            init_handle=-1,
            pid_namespace=0,
        )
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(SandboxUnavailable, match="it vanished"):
            started.open_gate()
    os.close(writing)
