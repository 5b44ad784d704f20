"""What `make autonomy` makes of a copy of QuixBugs, and the page that it writes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "autonomy"))

import report
from quixbugs import list_bugs
from report import Outcome, keep_outcome, read_outcomes, write_report


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
