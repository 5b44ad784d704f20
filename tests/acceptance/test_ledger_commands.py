"""What a person can ask of the record, and what they are told when somebody touched it."""

import json
import subprocess
from pathlib import Path

from driver import COMMAND, Astra
from warm_start import warm

WRITE = "ASTRA_CODE_WRITE_ENABLED"


def chain_file(astra: Astra) -> Path:
    (segment,) = (astra.root / "var" / "ledger").glob("*.ndjson")
    return segment


def test_one_changed_byte_is_told_with_its_record(astra: Astra) -> None:
    for state in ("on", "off", "on"):
        astra.json("flags", "set", WRITE, state)
    astra.run("down")
    assert astra.json("ledger", "verify")["ok"]
    lines = chain_file(astra).read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"on":false', b'"on":true ')
    chain_file(astra).write_bytes(b"".join(lines))
    found = astra.json("ledger", "verify", code=1)
    assert [(p["kind"], p["sequence"]) for p in found["problems"]] == [("edited", 4)]
    assert "record 4" in astra.run("ledger", "verify").stdout


def test_verify_works_beside_a_running_daemon_and_without_one(astra: Astra) -> None:
    astra.daemon_pid()
    running = astra.json("ledger", "verify")
    astra.run("down")
    assert astra.json("ledger", "verify") == running


def test_an_export_is_the_chain_byte_for_byte(astra: Astra) -> None:
    astra.json("flags", "set", WRITE, "on")
    assert astra.run("ledger", "export").stdout == chain_file(astra).read_text()
    part = astra.run("ledger", "export", "--from", "2", "--to", "2").stdout
    assert json.loads(part)["sequence"] == 2
    assert astra.json("ledger", "export", "--from", "3", "--to", "2", code=2)["code"] == "bad_input"


def test_a_story_follows_an_id(astra: Astra) -> None:
    created = astra.json("ledger", "tail")["items"][0]
    story = astra.json("ledger", "story", created["data"]["root_id"])
    assert created["sequence"] in [record["sequence"] for record in story["items"]]
    assert astra.json("ledger", "story", "des_ffffffff")["items"] == []
    assert "nothing mentions" in astra.run("ledger", "story", "des_ffffffff").stdout


def test_tail_follows_what_is_appended(astra: Astra) -> None:
    astra.daemon_pid()
    command = warm(COMMAND, "ledger", "tail", "--follow", "--json")
    with subprocess.Popen(
        command, env=astra.environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = [json.loads(process.stdout.readline())["type"] for _ in range(2)]
        assert first == ["data_root_created", "config_signed"]
        astra.json("flags", "set", WRITE, "off")
        assert json.loads(process.stdout.readline())["type"] == "flag_set"
        astra.run("down")
        assert process.stdout.read() == ""
        process.wait(timeout=240)


def test_rebuild_and_check(astra: Astra) -> None:
    assert astra.json("ledger", "rebuild", "--check") == {"same": True, "differences": []}
    assert astra.json("ledger", "rebuild") == {"records": 2}
    assert astra.json("status")["ledger"]["records"] == 2


def test_hostile_text_reaches_the_terminal_escaped(astra: Astra) -> None:
    with (astra.root / "astra.toml").open("a") as file:
        file.write("test_command = 'x\u202e\u009b31m'\n")
    astra.json("config", "sign")
    for words in (["ledger", "tail"], ["config", "show"]):
        shown = astra.run(*words).stdout
        assert "\u202e" not in shown
        assert "\u009b" not in shown


def test_doctor_says_what_is_broken_and_how_to_mend_it(astra: Astra) -> None:
    checks = {check["name"]: check for check in astra.json("doctor")["items"]}
    assert checks["ledger"]["state"] == "ok"
    (astra.root / "var").chmod(0o755)
    broken = astra.json("doctor", code=1)
    (check,) = [check for check in broken["items"] if check["state"] == "broken"]
    assert check["name"] == "var"
    assert "chmod" in check["fix"]
    (astra.root / "var").chmod(0o700)
