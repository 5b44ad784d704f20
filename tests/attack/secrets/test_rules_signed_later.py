"""A pattern that is signed later takes effect in a clone that was made before."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.trusted.sandbox import machine, staging
from changing import IDENTITY, git
from driver import Astra
from forking import run_in_sandbox
from secret_target import CANARY, PATTERNED, TOML, make_target

pytestmark = pytest.mark.xdist_group("sandbox")
LOOK = f"""cd ../code-repo; export HOME=/tmp; git config --global safe.directory '*'
git cat-file --batch-all-objects --batch | grep -ac {CANARY}
cat {PATTERNED}; git show HEAD:{PATTERNED}; git log --oneline own | head -1; git status --short"""


@pytest.fixture
def astra(tmp_path: Path) -> Iterator[Astra]:
    made = Astra(tmp_path)
    made.json("init", make_target(tmp_path / "target"), "--throwaway")
    yield made
    made.end()


def sign(astra: Astra, patterns: list[str]) -> None:
    agent = f"[agent]\nsecret_patterns = {json.dumps(patterns)}\n"
    (astra.root / "astra.toml").write_text(TOML + agent)
    astra.json("config", "sign")


def test_a_clone_made_before_loses_what_a_new_pattern_makes_a_secret(astra: Astra) -> None:
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    clone = astra.root / "code-repo"
    (clone / "own.py").write_text("x = 1\n")
    for words in (("checkout", "-q", "-b", "own"), ("add", "own.py"), ("commit", "-qm", "mine")):
        git(clone, "-c", "safe.directory=*", *IDENTITY, *words)
    staging.hand_over(clone, machine.choose_identity())
    assert run_in_sandbox(astra, LOOK)["stdout"].splitlines()[0] == "1"
    sign(astra, ["internal/*.csv"])
    done = run_in_sandbox(astra, LOOK)
    assert done["stdout"].splitlines()[0] == "0", done
    assert f"{CANARY} {PATTERNED}" not in done["stdout"]
    assert done["stdout"].splitlines()[-1].endswith(" mine")
    assert not (clone / PATTERNED).exists()
    assert (clone / "own.py").exists()


def test_a_clone_that_an_older_astra_made_is_cleared_before_the_next_box(astra: Astra) -> None:
    marker = astra.root / "var" / "clone-rules"
    marker.unlink()
    sign(astra, ["internal/**"])
    assert run_in_sandbox(astra, LOOK)["stdout"].splitlines() == ["0"]
    assert run_in_sandbox(astra, "ls ../code-repo/.git/HEAD")["exit_code"] == 0
    assert marker.read_text()


def test_a_clone_that_cannot_be_cleared_shows_no_git_directory(astra: Astra) -> None:
    config = astra.root / "code-repo" / ".git" / "config"
    config.write_text("[core\n")
    sign(astra, ["internal/**"])
    done = run_in_sandbox(astra, "ls -A ../code-repo/.git | wc -l; cat ../code-repo/agent.py")
    assert done["stdout"] == "0\nanswer = 42\n"
