"""Environments are listed with what they take, and go only where nothing uses them."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from astra.adapters import environment_store
from astra.adapters.environment_mark import write_mark
from astra.adapters.environment_orders import Purpose
from astra.adapters.environment_store import EnvironmentStore
from astra.adapters.environments import Environment, Environments
from astra.testing import MemoryLedger, SetClock
from astra.trusted.kernel.errors import Conflict, NotFound, Refused
from astra.trusted.settings import configuration

PURPOSE = Purpose(actor="operator", correlation="cor_0123456789abcdef")
SETTINGS = configuration.Target(
    environment="command",
    environment_command="sh -ec 'mkdir $ENVIRONMENT_FOLDER/bin; cp lock.txt $ENVIRONMENT_FOLDER'",
)
Build = Callable[[str], Environment]


@pytest.fixture
def store(target: Any) -> EnvironmentStore:
    environments = Environments(
        boxes=target.sandbox,
        workspaces=target.workspaces,
        repository=target.root.git,
        folder=target.root.path / "environments",
    )
    return EnvironmentStore(
        environments=environments,
        deployments=target.root.path / "deployments",
        ledger=MemoryLedger(),
        clock=SetClock(datetime.now(UTC) + timedelta(days=1)),
        needed=dict,
        busy_for=timedelta(hours=1),
    )


@pytest.fixture
def build(target: Any, store: EnvironmentStore) -> Build:
    def build_environment(lock: str) -> Environment:
        commit = target.commit({"lock.txt": lock, "requirements.txt": lock})
        return store.environments.provide(commit, SETTINGS, PURPOSE)

    return build_environment


def list_names(store: EnvironmentStore) -> list[str]:
    return [stored.name for stored in store.list_environments()]


def test_the_largest_comes_first_with_its_size(store: EnvironmentStore, build: Build) -> None:
    small, large = build("one\n"), build("two\n" * 1000)
    assert list_names(store) == [large.name, small.name]
    assert [stored.bytes for stored in store.list_environments()] == [4000, 4]
    assert [stored.used_by for stored in store.list_environments()] == [(), ()]


def test_what_nothing_uses_is_removed_and_recorded(store: EnvironmentStore, build: Build) -> None:
    unused, needed = build("one\n"), build("two\n")
    store = replace(store, needed=lambda: {needed.name: "the target's branch"})
    assert [stored.name for stored in store.remove_unused()] == [unused.name]
    assert list_names(store) == [needed.name]
    assert not unused.folder.exists()
    assert [path.name for path in store.environments.folder.glob("*.json")] == [
        f"{needed.name}.json"
    ]
    (record,) = store.ledger.records(environment_store.REMOVED)
    assert record.data == {"name": unused.name, "bytes": 4}
    assert build("one\n").digest == unused.digest


@pytest.mark.parametrize(
    "place", ["releases/r1", "releases/.r2.partial", "backups/b", "check-1/releases/r3"]
)
def test_one_that_a_release_is_sealed_with_stays(
    store: EnvironmentStore, build: Build, place: str
) -> None:
    environment = build("one\n")
    release = store.deployments / place
    release.mkdir(parents=True)
    write_mark(release, environment)
    assert store.remove_unused() == []
    with pytest.raises(Conflict, match=release.name.replace(".", r"\.")):
        store.remove(environment.name)
    assert environment.folder.exists()


def test_a_release_and_its_backup_are_one_user(store: EnvironmentStore, build: Build) -> None:
    environment = build("one\n")
    for place in ("releases/20260101T000000Z-aa", "backups/20260101T000000Z-aa"):
        (store.deployments / place).mkdir(parents=True)
        write_mark(store.deployments / place, environment)
    (stored,) = store.list_environments()
    assert stored.used_by == ("20260101T000000Z-aa",)


def test_one_that_was_just_asked_for_stays(store: EnvironmentStore, build: Build) -> None:
    environment = build("one\n")
    store = replace(store, clock=SetClock(datetime.now(UTC)))
    with pytest.raises(Conflict, match="run of tests"):
        store.remove(environment.name)
    hours_ago = datetime.now(UTC).timestamp() - 7200
    os.utime(store.environments.note_path(environment.name), (hours_ago, hours_ago))
    build("one\n")
    with pytest.raises(Conflict, match="run of tests"):
        store.remove(environment.name)


def test_nothing_is_removed_while_a_mark_cannot_be_read(
    store: EnvironmentStore, build: Build
) -> None:
    environment = build("one\n")
    release = store.deployments / "releases" / "r1"
    release.mkdir(parents=True)
    (release / ".astra-environment").write_text("[]")
    with pytest.raises(Refused, match="r1"):
        store.remove_unused()
    assert environment.folder.exists()


def test_a_removal_that_a_crash_ended_half_way_is_finished(
    store: EnvironmentStore, build: Build
) -> None:
    environment = build("one\n")
    store.environments.note_path(environment.name).unlink()
    assert store.list_environments()[0].bytes == 4
    assert [stored.name for stored in store.remove_unused()] == [environment.name]
    assert list(store.environments.folder.iterdir()) == []


def test_what_a_build_left_that_was_killed_is_removed_whatever_it_holds(
    store: EnvironmentStore, build: Build, tmp_path: Path
) -> None:
    build("one\n")
    outside = tmp_path / "outside"
    outside.write_text("stays")
    half_made = store.environments.folder / "half-made"
    half_made.mkdir()
    os.mkfifo(half_made / "pipe")
    (half_made / "link").symlink_to(outside)
    assert "half-made" in [stored.name for stored in store.remove_unused()]
    assert not half_made.exists()
    assert outside.read_text() == "stays"


@pytest.mark.parametrize("name", ["..", "../var", "nowhere", ""])
def test_only_an_environment_can_be_named(
    store: EnvironmentStore, build: Build, name: str, tmp_path: Path
) -> None:
    build("one\n")
    with pytest.raises(NotFound):
        store.remove(name)
    assert tmp_path.exists()
