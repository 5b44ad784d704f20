import json
import sys
from pathlib import Path

import pytest
from agent_server.reloading import REQUEST, DoesNotFit, take_over

OLD = """
class Counter:
    def __init__(self):
        self.count = 41

    def add(self):
        self.count += 1
        return self.count

def hello():
    return "old"
"""


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that runs from the old release, in a process with its own idea of sys.path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path / "old"), *sys.path])
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "counted.py").write_text(OLD)
    yield tmp_path
    sys.modules.pop("counted", None)


def ask(folder: Path, source: str) -> tuple[str, Path]:
    (folder / "new").mkdir()
    (folder / "new" / "counted.py").write_text(source)
    request = {"release": "two", "folder": str(folder / "new"), "changed": ["counted.py"]}
    (folder / REQUEST).write_text(json.dumps(request))
    return take_over(folder, folder / "old")


def test_new_bodies_run_in_the_objects_that_are_there(old: Path) -> None:
    import counted

    counter = counted.Counter()
    kept = counted.hello
    release, folder = ask(old, OLD.replace("+= 1", "+= 100").replace("old", "new"))
    assert (release, folder.name) == ("two", "new")
    assert kept() == "new"
    assert counter.add() == 141
    assert str(old / "new") in sys.path


def test_what_does_not_fit_leaves_the_old_code(old: Path) -> None:
    import counted

    with pytest.raises(DoesNotFit):
        ask(old, OLD.replace("def hello", "def goodbye").replace("+= 1", "+= 100"))
    assert counted.hello() == "old"
    assert counted.Counter().add() == 42


def test_what_cannot_be_compiled_leaves_the_old_code(old: Path) -> None:
    import counted

    with pytest.raises(SyntaxError):
        ask(old, "def hello(:\n")
    assert counted.hello() == "old"
