"""The repository through which commits travel needs no trust: it is written by anybody."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from astra.adapters.git_objects import (
    ARRIVED,
    SHARED,
    ObjectExchange,
    ObjectMissing,
    ObjectsUnreachable,
    ObjectWrong,
)
from astra.trusted.kernel.errors import AstraError
from changing import IDENTITY, git
from driver import make_repository


@dataclass(frozen=True)
class Exchange:
    """Two machines, and the folder between them."""

    folder: Path
    maker: ObjectExchange
    taker: ObjectExchange
    commit: str

    def point_at(self, commit: str) -> None:
        git(self.folder, "update-ref", f"{SHARED}/{self.commit}", commit)


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    source = make_repository(tmp_path / "source")
    for name in ("maker.git", "taker.git"):
        git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / name))
    (source / "agent.py").write_text("def answer() -> int:\n    return 43\n")
    git(source, *IDENTITY, "commit", "-qam", "two")
    git(source, "push", "-q", str(tmp_path / "maker.git"), "HEAD:refs/heads/change")
    folder = tmp_path / "exchange.git"
    git(tmp_path, "init", "-q", "--bare", str(folder))
    return Exchange(
        folder,
        open_side(tmp_path / "maker.git", folder),
        open_side(tmp_path / "taker.git", folder),
        git(source, "rev-parse", "HEAD"),
    )


def open_side(repository: Path, folder: Path) -> ObjectExchange:
    return ObjectExchange(
        repository=repository,
        read_setting=lambda: str(folder),
        ssh_key=repository.parent / "no-key",
    )


def test_a_commit_travels_and_is_whole(exchange: Exchange) -> None:
    exchange.maker.publish([exchange.commit])
    assert not exchange.taker.has(exchange.commit)
    exchange.taker.ensure([exchange.commit])
    text = git(exchange.taker.repository, "show", f"{exchange.commit}:agent.py")
    assert "43" in text
    exchange.maker.publish([exchange.commit])
    exchange.taker.ensure([exchange.commit])


def test_another_commit_under_the_id_is_not_taken(exchange: Exchange, tmp_path: Path) -> None:
    exchange.maker.publish([exchange.commit])
    source = tmp_path / "source"
    (source / "agent.py").write_text("import os\n")
    git(source, *IDENTITY, "commit", "-qam", "evil")
    git(source, "reset", "-q", "--soft", "HEAD~2")
    git(source, *IDENTITY, "commit", "-qm", "evil, without the real one behind it")
    git(source, "push", "-q", str(exchange.folder), "HEAD:refs/heads/evil")
    exchange.point_at(git(source, "rev-parse", "HEAD"))
    with pytest.raises(ObjectWrong):
        exchange.taker.ensure([exchange.commit])
    assert not exchange.taker.has(exchange.commit)
    refs = git(exchange.taker.repository, "for-each-ref", ARRIVED)
    assert refs == ""


def test_a_commit_that_nobody_pushed_is_named(exchange: Exchange) -> None:
    with pytest.raises(ObjectMissing) as caught:
        exchange.taker.ensure([exchange.commit])
    assert exchange.commit[:12] in caught.value.detail


def test_changed_content_of_an_object_is_found(exchange: Exchange) -> None:
    exchange.maker.publish([exchange.commit])
    blob = git(exchange.maker.repository, "rev-parse", f"{exchange.commit}:agent.py")
    unpack(exchange.folder)
    place = exchange.folder / "objects" / blob[:2] / blob[2:]
    other = git(exchange.maker.repository, "rev-parse", f"{exchange.commit}~1:agent.py")
    place.chmod(0o644)
    shutil.copyfile(exchange.folder / "objects" / other[:2] / other[2:], place)
    with pytest.raises(AstraError) as caught:
        exchange.taker.ensure([exchange.commit])
    assert caught.value.code in {"objects_unreachable", "object_wrong"}
    assert not exchange.taker.has(exchange.commit)


def test_an_object_that_is_left_out_is_found(exchange: Exchange) -> None:
    exchange.maker.publish([exchange.commit])
    blob = git(exchange.maker.repository, "rev-parse", f"{exchange.commit}:agent.py")
    unpack(exchange.folder)
    (exchange.folder / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(ObjectsUnreachable):
        exchange.taker.ensure([exchange.commit])
    assert not exchange.taker.has(exchange.commit)


def test_no_hook_and_no_program_of_the_folder_runs(exchange: Exchange, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    hooks = exchange.folder / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    git(exchange.folder, "config", "core.alternateRefsCommand", f"touch {mark}; true")
    git(exchange.folder, "config", "uploadpack.packObjectsHook", f"touch {mark}; false")
    exchange.maker.publish([exchange.commit])
    exchange.taker.ensure([exchange.commit])
    assert not mark.exists()


def test_what_is_no_id_reaches_no_command(exchange: Exchange) -> None:
    for text in ("--upload-pack=touch x", "HEAD", "refs/heads/x", exchange.commit[:39]):
        with pytest.raises(ObjectMissing):
            exchange.taker.ensure([text])
        with pytest.raises(ObjectMissing):
            exchange.maker.publish([text])


def test_a_folder_that_is_not_there_is_named_without_credentials(
    exchange: Exchange, tmp_path: Path
) -> None:
    lost = open_side(exchange.taker.repository, tmp_path / "nowhere")
    with pytest.raises(ObjectsUnreachable) as caught:
        lost.ensure([exchange.commit])
    assert "nowhere" in caught.value.detail


def unpack(folder: Path) -> None:
    """Put every object of a repository into a file of its own, where it can be tampered with."""
    for pack in (folder / "objects" / "pack").glob("*.pack"):
        moved = folder / pack.name
        pack.rename(moved)
        pack.with_suffix(".idx").unlink()
        with moved.open("rb") as stream:
            subprocess.run(["git", "-C", folder, "unpack-objects", "-q"], stdin=stream, check=True)
