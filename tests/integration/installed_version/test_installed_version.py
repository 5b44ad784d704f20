"""Another version's files in place of this one's: its index is built while this version serves."""

import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import astra
from astra.adapters.installed_version import InstalledVersion
from astra.bootstrap import PROJECTIONS
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.trusted.file_ledger import sqlite_index
from astra.trusted.kernel.errors import IndexUnavailable
from astra.trusted.settings import environment
from deploying import until
from driver import Astra, make_repository

PACKAGE = Path(astra.__file__).parent


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Runtime]:
    made = Astra(tmp_path)
    made.json("init", make_repository(tmp_path / "target"), "--throwaway")
    runtime = build_runtime(environment.load(made.environment))
    runtime.ledger.write_checkpoint()
    yield runtime
    runtime.close()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a copy of this version, whose files an installer may replace."""
    package = tmp_path / "site" / "astra"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "web"))
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nshift\nexport PYTHONPATH="{package.parent}"\nexec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    return package


def watch(runtime: Runtime, package: Path, *, worth_it: int = 1) -> InstalledVersion:
    sources = sqlite_index.list_sources(PROJECTIONS)
    return InstalledVersion(
        runtime.root.path,
        [package / path.relative_to(PACKAGE) for path in sources],
        count_records=lambda: runtime.ledger.head().sequence,
        worth_it=worth_it,
    )


def install(package: Path) -> None:
    """Put a file of another version in the place of one that shapes the tables."""
    (path,) = package.glob("spend/projection.py")
    new = path.with_suffix(".new")
    new.write_text(f"{path.read_text()}\n# another version\n")
    new.rename(path)


def list_indexes(runtime: Runtime) -> set[str]:
    return {path.name for path in (runtime.root.var / "index").glob("index-*.sqlite3")}


def test_the_index_of_a_version_that_was_installed_is_built_while_this_one_serves(
    serving: Runtime, installed: Path
) -> None:
    before = list_indexes(serving)
    version = watch(serving, installed)
    version.look()
    install(installed)
    version.look()
    assert list_indexes(serving) == before, "an installer may still be at work"
    version.look()
    (new,) = list_indexes(serving) - before
    assert "is built: restart" in version.state
    serving.switches.turn_off("ASTRA_CODE_WRITE_ENABLED", actor="operator")
    assert serving.ledger.compare_rebuilt() == []
    identity = (serving.root.var / "index" / new).stat().st_ino
    version.look()
    assert (serving.root.var / "index" / new).stat().st_ino == identity


def test_a_short_history_is_left_to_the_next_start(serving: Runtime, installed: Path) -> None:
    before = list_indexes(serving)
    version = watch(serving, installed, worth_it=100_000)
    install(installed)
    version.look()
    version.look()
    assert (list_indexes(serving), version.state) == (before, "")


def test_an_index_that_cannot_be_built_is_told_and_tried_again(
    serving: Runtime, installed: Path
) -> None:
    version = watch(serving, installed)
    install(installed)
    (installed / "bootstrap" / "__init__.py").write_text("raise SystemExit('half installed')\n")
    version.look()
    for _ in range(2):
        with pytest.raises(IndexUnavailable, match="half installed"):
            version.look()
    assert "could not be built" in version.state


def test_a_daemon_that_leaves_takes_the_builder_along(serving: Runtime, installed: Path) -> None:
    Path(sys.executable).write_text("#!/bin/sh\nexec sleep 600\n")
    version = watch(serving, installed)
    install(installed)
    version.look()
    thread = threading.Thread(target=version.look)
    thread.start()
    until(lambda: version.state)
    version.leave()
    thread.join(60)
    assert not thread.is_alive()
    install(installed)
    version.look()
    version.look()  # begins nothing more


def test_an_upgrade_under_a_running_process_does_not_name_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What this process builds is of the code that it runs, whatever lies on disk by now."""
    projections = tuple(PROJECTIONS)
    before = sqlite_index.index_file_name(projections)
    monkeypatch.setattr(sqlite_index.inspect, "getsource", lambda _module: "other code")
    assert sqlite_index.index_file_name(projections) == before
