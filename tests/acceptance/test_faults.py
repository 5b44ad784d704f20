"""What goes wrong around a data root: processes killed at the wrong moment, bad settings."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from astra.interfaces import socket_path
from astra.trusted.sandbox import boxes
from driver import Astra, past

UNREGISTERED = """
import sys
import threading
from pathlib import Path
import pytest

from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.launch import Box, run
boxes.register = lambda *_words: None
run(Box(command=("sh", "-c", "echo up; sleep 600")), data_root=Path(sys.argv[1]),
    on_output=lambda stream, data: print(data, flush=True))
"""


def test_down_and_the_next_start_end_boxes_that_nobody_registered(astra: Astra) -> None:
    with unregistered_box(astra.root) as launcher:
        assert astra.json("down") == {"ended": False, "boxes_ended": 1}
        assert boxes.list_marked(astra.root) == []
        launcher.wait(240)
    with unregistered_box(astra.root) as launcher:
        astra.json("status")
        assert boxes.list_marked(astra.root) == []
        launcher.wait(240)


def unregistered_box(data_root: Path) -> "subprocess.Popen[bytes]":
    launcher = subprocess.Popen(
        [sys.executable, "-c", UNREGISTERED, str(data_root)], stdout=subprocess.PIPE
    )
    assert launcher.stdout
    assert launcher.stdout.readline()
    return launcher


def test_status_says_that_a_data_root_cannot_be_written_to_and_not_that_there_is_none(
    astra: Astra,
) -> None:
    """A folder in place of the log stands for a read-only disk, which not every machine allows."""
    (astra.root / "logs" / "daemon.log").unlink(missing_ok=True)
    (astra.root / "logs" / "daemon.log").mkdir()
    refused = astra.json("status", code=1)
    assert (refused["code"], refused["next_step"]) == ("data_root_unwritable", "astra doctor")
    (astra.root / "logs" / "daemon.log").rmdir()


UNKNOWN = {"ASTRA_NO_SUCH_SETTING": "1"}


def spoil(astra: Astra) -> None:
    (astra.root / ".env").write_bytes(b"# fine\nASTRA_MODEL=\xff\xfe\n")


@pytest.mark.parametrize("bad", ["unknown variable", "not UTF-8"])
def test_stop_down_status_and_doctor_work_with_a_bad_setting(astra: Astra, bad: str) -> None:
    astra.json("status")
    environment = UNKNOWN if bad == "unknown variable" else {}
    word = "ASTRA_NO_SUCH_SETTING" if environment else ".env line 2 is not UTF-8"
    if not environment:
        spoil(astra)
    assert word in astra.json("status", **environment)["settings_trouble"]["detail"]
    assert astra.json("stop", "--now", **environment)["clean"]
    assert astra.json("down", **environment)["ended"]
    told = astra.json("status", code=1, **environment)
    assert (told["daemon"], told["stopped"]) == (None, True)
    assert word in told["settings_trouble"]["detail"]
    checks = astra.json("doctor", code=1, **environment)["items"]
    assert [check for check in checks if check["name"] == "settings" and word in check["detail"]]
    assert astra.json("down", **environment) == {"ended": False}


def test_stop_says_what_it_ended_also_when_the_daemon_dies_in_the_middle_of_its_answer(
    astra: Astra,
) -> None:
    astra.run("down")
    with socket_path.listen(astra.root / "var" / "run") as listener:

        def say_half() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b'HTTP/1.0 200 OK\r\n\r\n{"recorded": tr')

        daemon = threading.Thread(target=say_half)
        daemon.start()
        stopped = astra.json("stop", "--now")
        daemon.join()
    assert (stopped["clean"], stopped["recorded"]) == (True, False)


def test_stop_needs_neither_a_readable_ledger_nor_its_key(astra: Astra) -> None:
    for path in (astra.root / "var" / "ledger").glob("*.ndjson"):
        path.write_bytes(b"\xff broken\n")
    (astra.root / "var" / "keys" / "ledger.key").unlink()
    assert astra.json("stop", "--now")["clean"]


def test_a_chain_whose_beginning_cannot_be_read_is_not_said_to_be_no_data_root(
    astra: Astra,
) -> None:
    astra.run("down")
    for path in (astra.root / "var" / "ledger").glob("*.ndjson"):
        path.write_bytes(b"\xff broken\n")
    refused = astra.json("status", code=1)
    assert refused["code"] == "ledger_damaged"
    assert "restore a backup" in refused["next_step"]
    (check,) = [
        check for check in astra.json("doctor", code=1)["items"] if check["state"] == "broken"
    ]
    assert "the first record of its chain cannot be read" in check["detail"]


def test_doctor_says_in_words_what_is_missing(astra: Astra) -> None:
    (astra.root / "var" / "git").rename(astra.folder / "git")
    (astra.root / "var" / "keys" / "ledger.key").write_text("no key at all")
    checks = {check["name"]: check for check in astra.json("doctor", code=1)["items"]}
    assert "no git repository" in checks["repository"]["detail"]
    assert "cannot be read: it is not a key" in checks["ledger"]["detail"]
    refused = astra.json("status", code=1)
    assert refused["code"] == "ledger_key_unreadable"


def test_a_file_in_place_of_the_folder_of_sockets_is_named_and_keeps_nothing_from_stopping(
    astra: Astra,
) -> None:
    astra.run("down")
    run = astra.root / "var" / "run"
    run.rename(astra.folder / "run")
    run.write_text("no folder")
    stopped = astra.json("stop", "--now", code=1)
    assert (stopped["frozen"], stopped["survivors"], stopped["unreadable"]) == (True, [], ["boxes"])
    assert astra.json("down") == {"ended": False}
    checks = {check["name"]: check for check in astra.json("doctor", code=1)["items"]}
    assert f"{run} is no folder" in checks["writable"]["detail"]


def test_doctor_sees_what_a_killed_git_left(astra: Astra) -> None:
    (astra.root / "var" / "git" / "refs" / "heads" / "trunk.lock").touch()
    checks = {check["name"]: check for check in astra.json("doctor")["items"]}
    assert "refs/heads/trunk.lock" in checks["repository"]["detail"]
    astra.json("status")
    assert not (astra.root / "var" / "git" / "refs" / "heads" / "trunk.lock").exists()


def test_records_from_the_future_are_an_alarm_in_status_and_doctor(astra: Astra) -> None:
    """A clock that was a year ahead for a moment: the record stays, and somebody has to know."""
    assert astra.json("status")["ledger"]["clock"] == ""
    astra.json("down")
    with past(astra, days=-365) as runtime:
        runtime.switches.turn_off("PERSONA_MODE_ENABLED", actor="operator")
    assert "days ahead of the clock" in astra.json("status")["ledger"]["clock"]
    assert "CLOCK" in astra.run("status").stdout
    checks = {check["name"]: check for check in astra.json("doctor", code=1)["items"]}
    assert "days ahead of the clock" in checks["clock"]["detail"]
