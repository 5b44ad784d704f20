"""Things planted in a folder the agent can write to: links, pipes, devices, sockets, folders."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.files.guarded_files import FileProblem, FileRefused, GuardedFolder
from astra.trusted.kernel.errors import AstraError, NotFound, Refused
from astra.trusted.policy.paths import parse_relative
from astra.trusted.policy.reads import ReadProblem, ReadRefused, ReadScope


def plant_chain(folder: Path, target: Path) -> str:
    """A link to a link to a folder of links: five steps to the target."""
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("three/four")
    (folder / "three").mkdir()
    (folder / "three/four").symlink_to("../five")
    (folder / "five").symlink_to(target)
    return "one"


@pytest.mark.parametrize(
    "target",
    [
        "{outside}/canary.txt",
        "../../outside/canary.txt",
        "../var/ledger.ndjson",
        "../astra.toml",
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/dev/zero",
        "loop",
    ],
)
def test_a_symlink_opens_nothing_outside(world: Any, target: str) -> None:
    for folder in (world.persona, world.sandbox):
        (folder / "loop").symlink_to(target.format(outside=world.outside))
    for attempt in (
        lambda: world.space.read("loop"),
        lambda: world.space.write("loop", "planted"),
        lambda: world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/loop"),
    ):
        with pytest.raises(Refused):
            attempt()
    assert (world.outside / "canary.txt").read_text().startswith("the canary")


def test_a_chain_of_symlinks_opens_nothing_outside(world: Any) -> None:
    name = plant_chain(world.persona, world.outside / "canary.txt")
    plant_chain(world.sandbox, world.outside / "canary.txt")
    with pytest.raises(FileRefused):
        world.space.read(name)
    with pytest.raises(ReadRefused) as refused:
        world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/{name}")
    assert refused.value.problem is ReadProblem.OUTSIDE


def test_a_symlinked_folder_opens_nothing_outside(world: Any) -> None:
    for folder in (world.persona, world.sandbox):
        (folder / "sub").symlink_to(world.outside)
    for attempt in (
        lambda: world.space.read("sub/canary.txt"),
        lambda: world.space.list("sub"),
        lambda: world.space.write("sub/new.txt", "planted"),
        lambda: world.space.write("sub/deep/new.txt", "planted"),
        lambda: world.space.delete("sub/canary.txt"),
        lambda: world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/sub/canary.txt"),
        lambda: world.reads(ReadScope.SOURCE).list(f"{world.sandbox}/sub"),
    ):
        with pytest.raises(Refused):
            attempt()
    assert list(world.outside_files()) == ["canary.txt"]


def test_a_symlink_within_the_scope_is_resolved_and_read(world: Any) -> None:
    (world.sandbox / "real.txt").write_text("mine")
    (world.sandbox / "alias").symlink_to("real.txt")
    assert world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/alias").text == "mine"


def test_a_link_with_an_innocent_name_to_a_secret_is_a_secret(world: Any) -> None:
    (world.sandbox / ".env").write_text("K=1")
    (world.sandbox / "notes.txt").symlink_to(".env")
    (world.sandbox / ".netrc").symlink_to("plain.txt")
    (world.sandbox / "plain.txt").write_text("plain")
    for name in ("notes.txt", ".netrc"):
        with pytest.raises(ReadRefused) as refused:
            world.reads(ReadScope.ALL).read(f"{world.sandbox}/{name}")
        assert refused.value.problem is ReadProblem.SECRET


def test_a_grant_of_a_symlink_is_not_a_grant_of_its_target(world: Any) -> None:
    (world.root / "granted").symlink_to(world.outside)
    granted = world.grants(f"{world.root}/granted")
    with pytest.raises(ReadRefused):
        world.reads(ReadScope.GRANTED, granted).read(f"{world.root}/granted/canary.txt")


def test_a_link_out_of_a_granted_folder_opens_nothing(world: Any) -> None:
    (world.root / "granted").mkdir()
    (world.root / "granted/link").symlink_to(world.outside / "canary.txt")
    granted = world.grants(f"{world.root}/granted")
    with pytest.raises(ReadRefused):
        world.reads(ReadScope.GRANTED, granted).read(f"{world.root}/granted/link")


def test_a_hard_link_is_neither_read_nor_written(world: Any) -> None:
    for folder in (world.persona, world.sandbox):
        os.link(world.outside / "canary.txt", folder / "hard.txt")
    for attempt in (
        lambda: world.space.read("hard.txt"),
        lambda: world.space.write("hard.txt", "planted"),
        lambda: world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/hard.txt"),
        lambda: world.reads(ReadScope.ALL).read(f"{world.outside}/canary.txt"),
    ):
        with pytest.raises(FileRefused) as refused:
            attempt()
        assert refused.value.problem is FileProblem.HARD_LINKED
    assert (world.outside / "canary.txt").read_text().startswith("the canary")
    world.space.delete("hard.txt")
    assert (world.outside / "canary.txt").exists()


def test_a_fifo_neither_blocks_nor_is_used(world: Any) -> None:
    for folder in (world.persona, world.sandbox):
        os.mkfifo(folder / "pipe")
    for attempt in (
        lambda: world.space.read("pipe"),
        lambda: world.space.write("pipe", "x"),
        lambda: world.space.delete("pipe"),
        lambda: world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/pipe"),
    ):
        with pytest.raises(FileRefused) as refused:
            attempt()
        assert refused.value.problem is FileProblem.NOT_REGULAR


def test_a_socket_is_not_a_file(world: Any) -> None:
    os.mknod(world.persona / "socket", stat.S_IFSOCK | 0o600)
    with pytest.raises(FileRefused) as refused:
        world.space.read("socket")
    assert refused.value.problem is FileProblem.NOT_REGULAR


@pytest.mark.parametrize("name", ["null", "zero", "tty"])
def test_a_device_is_not_a_file(name: str) -> None:
    with GuardedFolder(Path("/dev")) as devices, pytest.raises(FileRefused):
        devices.read(parse_relative(name), most_bytes=10)


@pytest.mark.parametrize("name", ["self/environ", "self/status", "self/root/etc/passwd", "1/mem"])
def test_files_of_the_kernel_are_not_files_wherever_they_are_mounted(name: str) -> None:
    with GuardedFolder(Path("/proc")) as kernel, pytest.raises((FileRefused, NotFound)):
        kernel.read(parse_relative(name.replace("self", str(os.getpid()))), most_bytes=1 << 20)


def test_a_folder_is_not_a_file(world: Any) -> None:
    (world.persona / "folder").mkdir()
    for attempt in (
        lambda: world.space.read("folder"),
        lambda: world.space.write("folder", "x"),
        lambda: world.space.delete("folder"),
        lambda: world.reads(ReadScope.SOURCE).read(str(world.sandbox)),
    ):
        with pytest.raises(FileRefused) as refused:
            attempt()
        assert refused.value.problem is FileProblem.IS_FOLDER


@pytest.mark.parametrize("name", ["-rf", "--help", "-e", "-", "--"])
def test_a_file_named_like_an_option_is_only_a_file(world: Any, name: str) -> None:
    world.space.write(name, "text")
    assert world.space.read(name).text == "text"
    assert parse_relative(name).argument == f"./{name}"
    with pytest.raises(NotFound):
        world.source.read(name)
    world.space.delete(name)


def test_a_git_folder_in_the_agents_clone_is_closed(world: Any) -> None:
    repository = world.data_root / "code-repo"
    for name in (".git", ".GIT"):
        (repository / name).mkdir()
        (repository / name / "config").write_text("token")
        for scope in ReadScope:
            with pytest.raises(AstraError):
                world.reads(scope).read(f"{repository}/{name}/config")
    (repository / "alias").symlink_to(".git/config")
    with pytest.raises(ReadRefused):
        world.reads(ReadScope.SOURCE).read(f"{repository}/alias")
