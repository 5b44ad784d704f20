"""The examples of the README and the how-tos, typed in as they stand there.

Those of the tutorial are in `tests/browser/tutorial.test.mjs`: it goes through the dashboard.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import COMMAND, make_repository
from warm_start import warm

ROOT = Path(__file__).parents[2]
MARK = "\x1e\n"
SHOWN = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Give a home with a repository in it, and end the daemon that the examples start."""
    make_repository(tmp_path / "my-agent")
    make_command(tmp_path / "bin" / "astra")
    yield tmp_path
    for name in ("astra-trial", "agent-data"):
        if (tmp_path / name).exists():
            shell(f"astra down --data-root ~/{name}", tmp_path)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/SCHEDULE_SAFETY_TIERS.md",
        "docs/OPS_CODE_WRITE.md",
    ],
)
def test_an_example_does_what_the_page_says(page: str, home: Path) -> None:
    steps = [step for block in SHOWN.findall((ROOT / page).read_text()) for step in told(block)]
    assert len(steps) > 5, "the example is gone"
    done = shell(script([command for command, _ in steps]), home)
    answers = done.split(MARK)[1:]
    for (command, expected), answer in zip(steps, answers, strict=True):
        assert fits(expected, answer), f"{page}: {command}\n{answer}"


def test_a_backup_made_as_described_can_be_restored_as_described(home: Path) -> None:
    known = "export ASTRA_OPERATOR_PASSPHRASE='just trying'"
    shell(f"{known}; astra init ~/my-agent --throwaway", home)
    before = shell("astra ledger export", home)
    page = (ROOT / "docs/howto/back-up-and-restore.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    try:
        done = shell("\n".join(["set -e", known, *blocks]), home)
    finally:
        for name in ("agent-data.restored", "moved-data"):
            shell(f"astra down --data-root {name}", home)
    assert done.count("restored: ") == 2
    assert (home / "records.ndjson").read_text() == before
    assert shell("astra ledger export", home) == before


def test_the_script_that_verifies_an_export_finds_what_was_changed(home: Path) -> None:
    page = (ROOT / "docs/howto/verify-an-export.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (home / "check.py").write_text(program)
    shell("astra init ~/my-agent --throwaway", home)
    shell("astra flags set AGENT_PLANNING_ENABLED off; astra ledger export > records", home)
    head = shell("astra ledger verify", home).split()[-1]
    assert shell("python check.py < records", home) == f"ok, head {head}\n"
    for spoil, finding in (
        ("2s/operator/Operator/", "line 2 is not as written\n"),
        ("2d", "line 2 does not follow the line before it\n"),
    ):
        assert shell(f"sed '{spoil}' records | python check.py 2>&1", home) == finding


def make_command(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {shlex.join(warm(COMMAND))} "$@"\n')
    path.chmod(0o755)


def told(block: str) -> Iterator[tuple[str, str]]:
    """Split a console block into commands and what they print."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = step.partition("\n")
        yield command, printed


def script(commands: list[str]) -> str:
    return "\n".join(f"printf {MARK!r}\n{command} 2>&1" for command in commands)


def shell(text: str, home: Path) -> str:
    """Run a script as a person without any settings would."""
    environment = {
        "HOME": str(home),
        "PATH": os.pathsep.join(
            [str(home / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash"], input=text, cwd=home, env=environment, capture_output=True, text=True, check=False
    )
    assert not done.stderr, done.stderr
    return done.stdout


def fits(expected: str, printed: str) -> bool:
    """Compare; `…` stands for anything, and alone on a line for any number of lines."""
    lines = f"{expected.rstrip()}\n".splitlines(keepends=True)
    pattern = "".join(
        r"(?:.*\n)*" if line == "…\n" else ".*".join(map(re.escape, line.split("…")))
        for line in lines
    )
    return re.fullmatch(pattern, f"{printed.rstrip()}\n") is not None
