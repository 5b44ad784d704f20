"""How the command line reads its own words: bad usage is a sentence and exit code 2."""

import json
from pathlib import Path

import pytest

from astra.interfaces.cli import main as cli


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--data-root", "flags", "status"], "--data-root needs a folder; 'flags' is a command"),
        (["--data-r", "flags", "status"], "--data-root needs a folder; 'flags' is a command"),
        (["--data-root"], "argument --data-root: expected one argument"),
        (["flags", "--data-root"], "argument --data-root: expected one argument"),
        (["changes"], "the following arguments are required: ACTION"),
        (["nonsense"], "invalid command 'nonsense'"),
        (["stauts"], "did you mean astra status"),
        (["flags", "sett"], "did you mean astra flags set?"),
        (["flags", "set", "ASTRA_CODE_WRITE", "on"], "did you mean ASTRA_CODE_WRITE_ENABLED?"),
        (["tokens", "create", "x", "--role", "king"], "use one of agent, viewer, operator"),
        (["help", "stauts"], "did you mean astra status"),
        (["rollback", "--keep-sate"], "did you mean --keep-state?"),
        (["changes", "list", "--file=x"], "astra changes list takes no option '--file'"),
        (["changes", "list", "--file=x"], "next: astra changes list --help"),
        (["status", "now"], "astra status takes no argument 'now'"),
    ],
)
def test_bad_usage_is_a_clear_error_with_exit_code_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    printed = capsys.readouterr()
    assert sentence in printed.out + printed.err


def test_a_folder_that_is_named_like_a_command_can_be_the_data_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flags").mkdir()
    monkeypatch.chdir(tmp_path)
    arguments = cli.parse(["--data-root", "flags", "status"])
    assert (arguments.data_root, cli.find_command(["--data-root=x", "flags"])) == ("flags", "flags")


@pytest.mark.parametrize("words", [["help", "flags", "set"], ["flags", "set", "--help"]])
def test_help_is_what_the_option_shows(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: astra flags set")
    assert "turn a flag on (signed) or off (free)" in shown


def test_help_is_one_document_with_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", "flags", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["command"] == "astra flags"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in cli.COMMANDS if f"\n    {name}" not in shown] == []


def test_astra_alone_greets_and_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--data-root", str(tmp_path / "none")]) == 0
    assert "astra init REPOSITORY" in capsys.readouterr().out
    (tmp_path / "some/var/ledger").mkdir(parents=True)
    assert cli.main(["--data-root", str(tmp_path / "some"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["state"] == "no_daemon"
    assert [step["command"] for step in document["next"]] == ["astra up", "astra status"]
    assert list((tmp_path / "some/var").iterdir()) == [tmp_path / "some/var/ledger"]


def test_the_data_root_may_refer_to_another_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTRA_STATE", "/state")
    monkeypatch.setenv("AGENT_DATA_ROOT", "${ASTRA_STATE}/data")
    assert cli.find_data_root(None) == Path("/state/data")
    assert cli.find_data_root("/elsewhere") == Path("/elsewhere")
    monkeypatch.delenv("AGENT_DATA_ROOT")
    assert cli.find_data_root(None) == Path.cwd() / "agent-data"
