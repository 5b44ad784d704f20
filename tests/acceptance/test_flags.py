"""The operator turns code writing on by signature; anybody may turn it off; no more counts."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from driver import COMMAND, PASSPHRASE, Astra
from warm_start import cold

WRITE = "ASTRA_CODE_WRITE_ENABLED"


def test_on_is_a_signed_record_and_off_is_free(astra: Astra) -> None:
    on = astra.json("flags", "set", WRITE, "on")
    assert (on["on"], on["source"]) == (True, "operator")
    assert astra.json("status")["code_access"] == "write"
    off = astra.json("flags", "set", WRITE, "off", ASTRA_OPERATOR_PASSPHRASE="")
    assert off["on"] is False
    assert astra.json("status")["code_access"] == "read"


def test_a_wrong_passphrase_turns_nothing_on(shared: Astra) -> None:
    refused = shared.json("flags", "set", WRITE, "on", code=1, ASTRA_OPERATOR_PASSPHRASE="guess")
    assert refused["code"] == "wrong_passphrase"
    assert shared.json("ledger", "tail")["items"][-1]["type"] == "config_signed"


def test_the_environment_only_narrows(astra: Astra) -> None:
    astra.json("status")
    flag = astra.json("status", **{WRITE: "true"})["flags"][WRITE]
    assert flag["on"] is False
    assert f"astra flags set {WRITE} on" in flag["note"], "also when the daemon runs already"
    astra.json("flags", "set", WRITE, "on")
    narrowed = astra.json("status", **{WRITE: "false"})
    assert (narrowed["flags"][WRITE]["on"], narrowed["code_access"]) == (False, "read")
    assert astra.json("status")["flags"][WRITE]["on"] is True
    signed_in_vain = astra.run("flags", "set", WRITE, "on", **{WRITE: "off"}).stdout
    assert f"{WRITE} is off there, which no signature turns on" in signed_in_vain


def test_asking_by_environment_names_the_command_that_turns_it_on(astra: Astra) -> None:
    astra.extra[WRITE] = "true"
    note = astra.json("status")["flags"][WRITE]["note"]
    assert f"astra flags set {WRITE} on" in note


def test_with_persona_mode_off_there_is_no_code_access(astra: Astra) -> None:
    astra.json("flags", "set", WRITE, "on")
    astra.json("flags", "set", "PERSONA_MODE_ENABLED", "off")
    assert astra.json("status")["code_access"] == "off"


@pytest.mark.parametrize(
    "words", [["flags", "set", "NOPE", "on"], ["flags", "set", WRITE, "maybe"]]
)
def test_bad_usage_is_exit_code_2(shared: Astra, words: list[str]) -> None:
    assert shared.json(*words, code=2)["code"] == "bad_usage"


def on_a_terminal(astra: Astra, *words: str, answers: list[str]) -> str:
    """Run a command on a pseudo-terminal and type the answers."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(
            sys.executable,
            cold(COMMAND, *words),
            {**astra.environment, "ASTRA_OPERATOR_PASSPHRASE": "not this one"},
        )
    shown = b""
    for answer in answers:
        while not shown.endswith(b": "):
            shown += os.read(terminal, 1024)
        os.write(terminal, f"{answer}\n".encode())
        shown += b"\n"
    try:
        while chunk := os.read(terminal, 1024):
            shown += chunk
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode()


@pytest.mark.filterwarnings("ignore:.*use of forkpty:DeprecationWarning")
def test_a_real_root_asks_on_the_terminal_and_ignores_the_environment(
    empty: Astra, target: Path
) -> None:
    shown = on_a_terminal(empty, "init", str(target), answers=[PASSPHRASE, PASSPHRASE])
    assert "Recovery key" in shown
    assert PASSPHRASE not in shown
    unready = empty.json("flags", "set", WRITE, "on", code=1)
    assert unready["code"] == "refused"
    refused = empty.json("flags", "set", WRITE, "on", "--yes", code=1)
    assert refused["code"] == "no_terminal"
    shown = on_a_terminal(empty, "flags", "set", WRITE, "on", "--yes", answers=["wrong"])
    assert "does not open" in shown
    on_a_terminal(empty, "flags", "set", WRITE, "on", "--yes", answers=[PASSPHRASE])
    assert empty.json("status")["flags"][WRITE]["on"] is True


def test_the_passphrase_is_in_no_argument_list_record_or_log(astra: Astra) -> None:
    astra.json("flags", "set", WRITE, "on")
    found = subprocess.run(["grep", "-rqaF", "--", PASSPHRASE, astra.root], check=False)
    assert found.returncode == 1


def test_a_recovery_key_brings_a_lost_operator_back(empty: Astra, target: Path) -> None:
    made = empty.json("init", target, "--throwaway")
    Path(made["operator_key"]).unlink()
    refused = empty.json("flags", "set", WRITE, "on", code=1)
    assert refused["code"] == "no_operator_key"
    shown = on_a_terminal(
        empty,
        "operator",
        "rotate",
        "--recovery",
        answers=[made["recovery_key"]],
    )
    assert "new key in force" in shown
    extra = {"ASTRA_OPERATOR_PASSPHRASE": "not this one"}
    assert empty.json("flags", "set", WRITE, "on", **extra)["on"] is True


def test_an_edited_configuration_counts_only_once_it_is_signed(astra: Astra) -> None:
    with (astra.root / "astra.toml").open("a") as file:
        file.write("max_file_kb = 7\n")
    assert astra.json("status")["configuration"] == "changed since signed"
    assert "max_file_kb" not in astra.json("config", "show")["text"]
    astra.json("config", "sign")
    assert "max_file_kb = 7" in astra.json("config", "show")["text"]
    assert astra.json("status")["configuration"] == "signed"


def test_a_configuration_with_a_mistake_is_not_signed(astra: Astra) -> None:
    with (astra.root / "astra.toml").open("a") as file:
        file.write("max_fil_kb = 7\n")
    refused = astra.json("config", "sign", code=2)
    assert "did you mean max_file_kb" in refused["detail"]
