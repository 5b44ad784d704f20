"""Environments are built once in a box, sealed, and there for every run of their lock files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.environment_mark import read_mark, write_mark
from astra.adapters.environment_orders import EnvironmentFailed, Purpose
from astra.adapters.environments import Environment, Environments
from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.test_runs import BoxedTests
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.sandbox.ports import BoxRequest, Outcome
from astra.trusted.settings import configuration

PURPOSE = Purpose(actor="operator", correlation="cor_0123456789abcdef")
MAKE = (
    "mkdir -p $ENVIRONMENT_FOLDER/bin $ENVIRONMENT_FOLDER/node_modules/pkg;"
    " printf '#!/bin/sh\\necho tool of $(cat requirements.txt)\\n' > $ENVIRONMENT_FOLDER/bin/tool;"
    " chmod +x $ENVIRONMENT_FOLDER/bin/tool; cat requirements.txt > $ENVIRONMENT_FOLDER/lock"
)
FILES = {"requirements.txt": "one\n", "app.py": ""}


def settings(command: str = MAKE, test_command: str = "tool") -> configuration.Target:
    return configuration.Target(
        environment="command",
        environment_command=f'sh -e -c "{command.replace("$", "$")}"'.replace("\\n", "\\\\n"),
        test_command=test_command,
    )


@pytest.fixture
def environments(target: Any) -> Environments:
    return Environments(
        boxes=target.sandbox,
        workspaces=target.workspaces,
        repository=target.root.git,
        folder=target.root.path / "environments",
    )


def run_tests(target: Any, environment: Environment, commit: str, command: str) -> str:
    runs = BoxedTests(
        boxes=target.sandbox,
        workspaces=target.workspaces,
        test_command=command,
        test_paths=(),
        environment=lambda _commit, _purpose: environment,
        variables={"GREETING": "hello"},
    )
    report = runs.run(
        commit=commit,
        tests_from=None,
        label="chg_0123456789abcdef",
        actor="agent",
        correlation=PURPOSE.correlation,
        show=lambda _data: None,
    )
    assert report.verdict in {TestVerdict.UNKNOWN, TestVerdict.FAILED}
    return report.output_tail


def test_it_is_built_once_for_one_state_of_the_lock_files(
    target: Any, environments: Environments
) -> None:
    first = environments.provide(target.commit(FILES), settings(), PURPOSE)
    same_lock = target.commit({"app.py": "x = 1\n"})
    assert environments.find(same_lock, settings()) == first
    other_lock = target.commit({"requirements.txt": "two\n"})
    assert environments.find(other_lock, settings()).name == ""
    second = environments.provide(other_lock, settings(), PURPOSE)
    assert second.name != first.name
    assert (second.folder / "lock").read_text() == "two\n"


def test_it_is_sealed_and_a_half_made_one_is_made_again(
    target: Any, environments: Environments
) -> None:
    commit = target.commit(FILES)
    built = environments.provide(commit, settings(), PURPOSE)
    paths = [built.folder, *built.folder.rglob("*")]
    assert {path.stat().st_mode & 0o222 for path in paths} == {0}
    (environments.folder / f"{built.name}.json").unlink()
    assert environments.find(commit, settings()).name == ""
    assert environments.provide(commit, settings(), PURPOSE).digest == built.digest


def test_runs_start_its_programs_see_its_modules_and_cannot_write_it(
    target: Any, environments: Environments
) -> None:
    commit = target.commit(FILES)
    built = environments.provide(commit, settings(), PURPOSE)
    script = "tool; echo $GREETING; ls node_modules; touch $NODE_PATH/x"
    output = run_tests(target, built, commit, f"sh -c '{script}'")
    assert "tool of one" in output
    assert "hello" in output
    assert "pkg" in output
    assert "Read-only file system" in output


def test_a_failed_build_says_why_and_leaves_nothing(
    target: Any, environments: Environments
) -> None:
    commit = target.commit(FILES)
    broken = settings("echo no such package >&2; exit 3")
    with pytest.raises(EnvironmentFailed, match="no such package"):
        environments.provide(commit, broken, PURPOSE)
    assert list(environments.folder.iterdir()) == []


def test_a_release_is_sealed_with_its_environment_and_is_not_intact_without_it(
    target: Any, environments: Environments
) -> None:
    commit = target.commit(FILES)
    releases = ReleaseFolders(
        base=target.root.path / "deployments",
        repository=target.root.git,
        steps=tuple,
        run=_never_run,
        environment=lambda name, purpose: environments.provide(name, settings(), purpose),
    )
    built = releases.build("r1", commit, correlation=PURPOSE.correlation)
    mark = read_mark(Path(built.folder))
    assert mark.find_program("tool") == environments.folder / mark.name / "bin" / "tool"
    assert releases.is_intact("r1", built.digest)
    lock = environments.folder / mark.name / "lock"
    lock.chmod(0o644)
    lock.write_text("three\n")
    assert not releases.is_intact("r1", built.digest)


def test_a_release_imports_the_project_from_its_own_folder(
    target: Any, environments: Environments
) -> None:
    """The pointer to the project leads to the code under test, which no release can see."""
    built = environments.provide(target.commit(FILES), settings(), PURPOSE)
    release = target.root.path / "release"
    (release / "src").mkdir(parents=True)
    write_mark(release, replace(built, has_project=True))
    assert read_mark(release).toolchain.environment["PYTHONPATH"] == f"{release}/src:{release}"
    write_mark(release, built)
    assert "PYTHONPATH" not in read_mark(release).toolchain.environment


def test_the_difference_between_two_environments_is_named(
    target: Any, environments: Environments
) -> None:
    make = (
        "mkdir -p $ENVIRONMENT_FOLDER/node_modules/$(cat requirements.txt)"
        " $ENVIRONMENT_FOLDER/node_modules/common"
    )
    before, after = target.commit(FILES), target.commit({"requirements.txt": "two\n"})
    for commit in (before, after):
        environments.provide(commit, settings(make), PURPOSE)
    assert environments.compare(before, after, settings(make)) == (
        "it has an environment of its own: +two, -one",
    )
    assert environments.compare(after, after, settings(make)) == ()


def _never_run(_step: tuple[str, ...], _folder: Path, _story: str) -> Outcome:
    raise AssertionError(BoxRequest)
