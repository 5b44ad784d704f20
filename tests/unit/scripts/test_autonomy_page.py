"""What `make autonomy` makes of a copy of QuixBugs, and the page that it writes."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "autonomy"))

import report
from coders import CODERS, find_command, write_plan, write_settings
from quixbugs import list_bugs
from report import Outcome, keep_outcome, name_run, read_outcomes, write_report
from stories import GREETING

import run


@pytest.fixture
def copy_of_quixbugs(tmp_path: Path) -> Path:
    files = {
        "conftest.py": "",
        "python_programs/twice.py": "def twice(x):\n    return x * 3\n",
        "python_programs/twice_test.py": "print('no program')\n",
        "python_programs/node.py": "class Node: ...\n",
        "python_testcases/test_twice.py": "def test_twice(): ...\n",
        "python_testcases/load_testdata.py": "",
        "json_testcases/twice.json": "[[1], 2]\n",
        "json_testcases/other.json": "[[1], 2]\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_each_program_with_tests_is_a_story_with_its_own_files(copy_of_quixbugs: Path) -> None:
    (story,) = list_bugs(copy_of_quixbugs)
    assert story.name == "quixbugs-twice"
    assert "The function twice in python_programs/twice.py" in story.wish
    assert story.may_touch == "python_programs/twice.py"
    assert sorted(story.list_files()) == [
        "conftest.py",
        "json_testcases/twice.json",
        "python_programs/twice.py",
        "python_testcases/load_testdata.py",
        "python_testcases/test_twice.py",
    ]


def test_the_page_says_what_passed_where_others_stopped_and_how_often_somebody_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "REPORT", tmp_path / "page.md")
    file = tmp_path / "outcomes.json"
    greeting = Outcome(
        story="greeting", wish="Say hi", passed=True, signatures=2, ledger=["a", "a"]
    )
    keep_outcome(file, "small", Outcome(story="greeting", wish="Say hi", why="an earlier run"))
    keep_outcome(file, "small", greeting)
    bug = Outcome(story="quixbugs-gcd", wish="Mend it", stopped_at="change", why="a | b", tries=3)
    keep_outcome(file, "small", bug)
    keep_outcome(file, "large", Outcome(story="greeting", wish="Say hi"))
    assert list(read_outcomes(file, "small")) == ["greeting", "quixbugs-gcd"]
    write_report(file, "small")
    page = (tmp_path / "page.md").read_text()
    assert "**1 of 1 passed**; harmful effects: 0; signatures: ≤2." in page
    assert "**0 of 1 passed**" in page
    assert "| gcd | stopped at change: a / b | 3 |" in page
    assert "a (2 times)." in page
    assert "an earlier run" not in page
    assert "side by side" not in page, "one coder is compared with nobody"


def test_the_page_puts_coding_agents_of_others_beside_the_built_in_coder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "REPORT", tmp_path / "page.md")
    file = tmp_path / "outcomes.json"
    keep_outcome(file, "small", Outcome(story="greeting", wish="Hi", passed=True, calls=2))
    keep_outcome(file, "small", Outcome(story="pause", wish="Wait", passed=True))
    by_aider = Outcome(story="greeting", wish="Hi", stopped_at="change", why="too long", calls=3)
    keep_outcome(file, name_run("small", "aider"), by_aider)
    keep_outcome(file, name_run("smaller", "aider"), Outcome(story="greeting", wish="Hi"))
    write_report(file, "small")
    lines = (tmp_path / "page.md").read_text().splitlines()
    assert "| story | built-in coder | aider |" in lines
    (greeting,) = [line for line in lines if line.startswith("| greeting | passed; 2 calls")]
    assert "stopped at change: too long; 3 calls, 0 tokens" in greeting
    assert any(line.startswith("| pause |") and "| not measured |" in line for line in lines)


@pytest.mark.parametrize("name", CODERS)
def test_the_command_of_an_agent_survives_the_configuration_and_its_shell(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / f".venv-{name}").mkdir()
    (tmp_path / f".venv-{name}" / ".ready").touch()
    files = ["agent_server/api.py", "a b.py"]
    command = find_command(name, tmp_path, files)
    settings = tomllib.loads(write_settings(command))
    assert settings["coder"] == {"command": command, "offer_model": True}
    shell, option, script = shlex.split(command)
    assert (shell, option) == ("sh", "-c")
    assert subprocess.run(["sh", "-n", "-c", script], check=False).returncode == 0
    assert f"{tmp_path}/.venv-{name}/bin/" in script
    requirements = Path(run.PROJECT / "requirements" / f"{name}.txt").read_text()
    assert "--hash=sha256:" in requirements


def test_an_agent_that_is_unknown_or_not_installed_is_said_before_anything_runs(
    tmp_path: Path,
) -> None:
    with pytest.raises(SystemExit, match="none of mini-swe-agent, aider"):
        find_command("other", tmp_path, [])
    with pytest.raises(SystemExit, match="CODER=aider make autonomy"):
        find_command("aider", tmp_path, [])


def test_an_agents_plan_may_write_the_package_and_no_test() -> None:
    plan = write_plan(GREETING.wish, run.list_writable(GREETING))
    assert plan["checkpoints"][0]["skills_needed"] == ["coder"]
    writable = plan["manifest"]["write_paths"]
    assert "agent_server/api.py" in writable
    assert all(path.startswith("agent_server/") for path in writable)
