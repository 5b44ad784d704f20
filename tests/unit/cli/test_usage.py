"""How the command line reads its own words: bad usage is a sentence and exit code 2."""

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
        (["--json", "--data-root", "somewhere"], "the following arguments are required: COMMAND"),
        (["nonsense"], "invalid choice: 'nonsense'"),
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
