"""Symlinks swapped in while files are used. Rounds are counted, so a slow machine changes nothing.

Each test makes sure the race is on: it goes on until both faces of the swap were met.
"""

import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.files import open_beneath
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.reads import ReadScope

READS, WRITES = 1500, 200
MOST_ROUNDS = 30_000
EXCHANGE = 2


@pytest.fixture(params=["openat2", "step by step"])
def opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "step by step":
        monkeypatch.setattr(open_beneath, "has_openat2", lambda: False)
    return str(request.param)


@contextmanager
def swapped_file(world: Any, name: Path) -> Generator[None]:
    """Put a file and a link to the canary under one name by turns."""

    def swap(number: int) -> None:
        fresh = name.with_name("next")
        if number % 2:
            fresh.write_text("inside")
        else:
            fresh.symlink_to(world.outside / "canary.txt")
        fresh.rename(name)

    with _racing(swap):
        yield


@contextmanager
def swapped_folder(world: Any, name: Path) -> Generator[None]:
    """Exchange a folder with a link to the outside, atomically, and keep a note in the folder."""
    other = name.with_name("other")
    name.mkdir()
    other.symlink_to(world.outside)

    def swap(number: int) -> None:
        exchange(name, other)
        if number % 2:
            (other / "note.txt").write_text("inside")

    with _racing(swap):
        yield


@contextmanager
def _racing(swap: Callable[[int], None]) -> Generator[None]:
    stop = threading.Event()

    def race() -> None:
        for number in itertools.count(1):
            if stop.is_set():
                return
            swap(number)

    thread = threading.Thread(target=race)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def exchange(one: Path, other: Path) -> None:
    here = ctypes.c_int(-100)
    names = [ctypes.c_char_p(os.fsencode(path)) for path in (one, other)]
    code = ctypes.CDLL(None).renameat2(here, names[0], here, names[1], ctypes.c_uint(EXCHANGE))
    assert code == 0, "this file system cannot exchange two names"


def attempts(attempt: Callable[[], Any], rounds: int) -> Iterator[Any]:
    """Yield what each attempt returned or raised, until both happened and the rounds are over."""
    seen: set[bool] = set()
    for number in range(MOST_ROUNDS):
        try:
            outcome = attempt()
        except AstraError as error:
            outcome = error
        seen.add(isinstance(outcome, AstraError))
        yield outcome
        if number >= rounds and len(seen) == 2:
            return


def texts_of(attempt: Callable[[], Any]) -> set[str]:
    outcomes = list(attempts(attempt, READS))
    return {outcome.text for outcome in outcomes if not isinstance(outcome, AstraError)}


def test_a_swapped_file_is_read_from_inside_or_not_at_all(world: Any, opening: str) -> None:
    with swapped_file(world, world.persona / "note.txt"):
        texts = texts_of(lambda: world.space.read("note.txt"))
    assert texts == {"inside"}


def test_a_swapped_file_never_leaves_the_read_scope(world: Any, opening: str) -> None:
    reads = world.reads(ReadScope.SOURCE)
    with swapped_file(world, world.sandbox / "note.txt"):
        texts = texts_of(lambda: reads.read(f"{world.sandbox}/note.txt"))
    assert texts == {"inside"}


def test_a_swapped_folder_is_read_from_inside_or_not_at_all(world: Any, opening: str) -> None:
    (world.outside / "note.txt").write_text("outside")
    with swapped_folder(world, world.persona / "sub"):
        texts = texts_of(lambda: world.space.read("sub/note.txt"))
    assert texts <= {"inside", ""}


def test_a_swapped_folder_never_leaves_the_read_scope(world: Any, opening: str) -> None:
    (world.outside / "note.txt").write_text("outside")
    reads = world.reads(ReadScope.SOURCE)
    with swapped_folder(world, world.sandbox / "sub"):
        texts = texts_of(lambda: reads.read(f"{world.sandbox}/sub/note.txt"))
    assert texts <= {"inside", ""}


def test_a_write_never_lands_behind_a_swapped_folder(world: Any, opening: str) -> None:
    before = world.outside_files()
    with swapped_folder(world, world.persona / "sub"):
        list(attempts(lambda: world.space.write("sub/planted.txt", "planted"), WRITES))
    assert world.outside_files() == before


def test_a_write_never_goes_through_a_swapped_file(world: Any, opening: str) -> None:
    before = world.outside_files()
    with swapped_file(world, world.persona / "note.txt"):
        list(attempts(lambda: world.space.write("note.txt", "planted"), WRITES))
    assert world.outside_files() == before


def test_a_delete_never_reaches_behind_a_swapped_folder(world: Any, opening: str) -> None:
    (world.outside / "note.txt").write_text("outside")
    with swapped_folder(world, world.persona / "sub"):
        list(attempts(lambda: world.space.delete("sub/note.txt"), WRITES))
    assert (world.outside / "note.txt").read_text() == "outside"


def test_a_list_never_shows_a_swapped_folder(world: Any, opening: str) -> None:
    with swapped_folder(world, world.persona / "sub"):
        outcomes = list(attempts(lambda: world.space.list("sub"), READS))
    pages = [outcome for outcome in outcomes if not isinstance(outcome, AstraError)]
    assert {item.path for page in pages for item in page.items} <= {"sub/note.txt"}
