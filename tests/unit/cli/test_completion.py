"""The scripts know every command, and real shells take them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from astra.interfaces.cli import completion
from astra.interfaces.cli.main import COMMANDS


@pytest.fixture(scope="module")
def completions() -> list[completion.Completion]:
    return list(completion.read_completions())


def test_every_command_action_option_and_choice_is_known(
    completions: list[completion.Completion],
) -> None:
    by_path = {one.path: one for one in completions}
    assert [name for name, _ in by_path[()].actions] == list(COMMANDS)
    assert ("set", "turn a flag on (signed) or off (free)") in by_path["flags",].actions
    assert {"ASTRA_CODE_WRITE_ENABLED", "on", "off", "--yes"} <= {*by_path["flags", "set"].words}
    assert by_path["changes", "approve"].takes_id
    assert not by_path["status",].takes_id


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("fl", "flags"), ("flags s", "set"), ("flags set ASTRA_C", "ASTRA_CODE_WRITE_ENABLED")],
)
def test_bash_completes(
    completions: list[completion.Completion], tmp_path: Path, typed: str, expected: str
) -> None:
    script = tmp_path / "astra.bash"
    script.write_text(completion.write_bash(completions))
    words = typed.split()
    program = (
        f"source {script}; COMP_WORDS=(astra {typed}); COMP_CWORD={len(words)};"
        ' _astra; echo "${COMPREPLY[@]}"'
    )
    assert run_shell("bash", program) == expected


def test_zsh_reads_its_script(completions: list[completion.Completion], tmp_path: Path) -> None:
    script = tmp_path / "astra.zsh"
    script.write_text(completion.write_zsh(completions))
    program = f"autoload -U compinit; compinit -D -u; source {script}; echo $_comps[astra]"
    assert run_shell("zsh", program) == "_astra"


def test_fish_completes(completions: list[completion.Completion], tmp_path: Path) -> None:
    script = tmp_path / "astra.fish"
    script.write_text(completion.write_fish(completions))
    program = f"source {script}; complete -C 'astra flags set ASTRA_C'"
    assert run_shell("fish", program).startswith("ASTRA_CODE_WRITE_ENABLED")


def run_shell(shell: str, program: str) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}: the Debian package {shell} has it")
    no_rc = {"bash": "--norc", "zsh": "-f", "fish": "--no-config"}[shell]
    done = subprocess.run(
        [shell, no_rc, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()
