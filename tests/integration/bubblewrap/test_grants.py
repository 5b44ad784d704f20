import os
import socket
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox.ports import Verdict


def test_a_link_on_the_way_to_a_grant_is_refused(yard: Any, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(yard.library)
    for path in (tmp_path / "way", tmp_path / "way" / "page.txt"):
        outcome = yard.sh("true", manifest=Manifest(read_paths=(str(path),)))
        assert outcome.verdict is Verdict.NEVER_RAN
        assert "symbolic link" in outcome.reason


def test_a_single_file_can_be_granted(yard: Any) -> None:
    (yard.library / "other.txt").write_text("other")
    manifest = Manifest(read_paths=(str(yard.library / "page.txt"),))
    outcome = yard.sh(f"cat {yard.library}/*", manifest=manifest)
    assert outcome.stdout == b"page"


def test_a_hard_link_out_of_a_writable_folder_is_refused(yard: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    os.link(outside, yard.work / "inside")
    outcome = yard.sh("echo spoiled > inside")
    assert outcome.verdict is Verdict.NEVER_RAN
    assert "another name outside" in outcome.reason
    assert outside.read_text() == "precious"


def test_hard_links_within_writable_folders_are_fine(yard: Any) -> None:
    (yard.work / "a").write_text("x")
    os.link(yard.work / "a", yard.work / "b")
    assert yard.sh("true").succeeded


@pytest.mark.parametrize("place", ["work", "library"])
def test_a_socket_that_somebody_listens_on_is_refused(yard: Any, place: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        path = getattr(yard, place) / "s"
        _bind(listener, path)
        listener.listen()
        outcome = yard.sh("true")
    assert outcome.verdict is Verdict.NEVER_RAN
    assert "listens" in outcome.reason


@pytest.mark.parametrize("kind", ["read_paths", "write_paths"])
def test_a_socket_named_by_itself_is_refused_like_one_in_a_folder(yard: Any, kind: str) -> None:
    """A grant to read would let the box talk to the program behind it: an ssh-agent, a daemon."""
    path = yard.library / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        _bind(listener, path)
        path.chmod(0o777)
        listener.listen()
        outcome = yard.sh("true", manifest=Manifest(**{kind: (str(path),)}))
    assert outcome.verdict is Verdict.NEVER_RAN
    assert "listens" in outcome.reason


def test_a_pipe_and_a_hard_link_named_by_themselves_are_refused_too(yard: Any) -> None:
    os.mkfifo(yard.library / "pipe")
    piped = yard.sh("true", manifest=Manifest(read_paths=(str(yard.library / "pipe"),)))
    assert "pipe into another program" in piped.reason
    inside = yard.work / "inside"
    os.link(yard.library / "page.txt", inside)
    inside.chmod(0o666)
    linked = yard.sh("true", manifest=Manifest(write_paths=(str(inside),)))
    assert "another name outside" in linked.reason


def test_a_socket_nobody_listens_on_any_more_is_harmless(yard: Any) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        _bind(listener, yard.work / "s")
        listener.listen()
    assert yard.sh("test -S s").succeeded


def test_a_fifo_in_a_readable_folder_is_refused_and_in_a_writable_one_is_not(yard: Any) -> None:
    os.mkfifo(yard.work / "pipe")
    assert yard.sh("true").succeeded
    os.mkfifo(yard.library / "pipe")
    assert "pipe into another program" in yard.sh("true").reason


def test_secrets_in_granted_folders_are_empty_inside_and_whole_outside(yard: Any) -> None:
    for path in (yard.work / ".env", yard.library / "deep" / "id_rsa", yard.work / ".env.example"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("secret")
    outcome = yard.sh(f"cat .env {yard.library}/deep/id_rsa; echo; cat .env.example")
    assert outcome.stdout == b"\nsecret"
    assert (yard.work / ".env").read_text() == "secret"


def test_a_folder_nested_without_end_is_refused(yard: Any) -> None:
    path = yard.work
    for _ in range(140):
        path = path / "d"
        path.mkdir()
    assert "nested deeper" in yard.sh("true").reason


def test_a_read_grant_inside_a_write_grant_stays_read_only_and_the_other_way_round(
    yard: Any,
) -> None:
    for place in (yard.work / "fixed", yard.library / "open"):
        place.mkdir()
        place.chmod(0o777)
    manifest = Manifest(
        read_paths=(str(yard.library), str(yard.work / "fixed")),
        write_paths=(str(yard.work), str(yard.library / "open")),
    )
    script = f"touch fixed/x; touch {yard.library}/x; touch {yard.library}/open/x x; ls . fixed"
    outcome = yard.sh(script, manifest=manifest, box={"workdir": str(yard.work)})
    assert outcome.stderr.count(b"Read-only file system") == 2
    assert (yard.library / "open" / "x").exists()
    assert (yard.work / "x").exists()


def _bind(listener: socket.socket, path: Path) -> None:
    """Bind by a short name: the path of a temporary folder may be too long for a socket."""
    held = os.open(path.parent, os.O_PATH)
    listener.bind(f"/proc/self/fd/{held}/{path.name}")
    os.close(held)
