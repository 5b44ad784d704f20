"""Why a box was ended from outside: a note that several may write while its launcher reads it."""

import os
import threading
from pathlib import Path

from astra.trusted.sandbox import boxes

WHY = "its change was decided on before it ended"


def make_box(data_root: Path) -> boxes.RunningBox:
    box = boxes.describe(os.getpid(), pid_namespace=0, kind=boxes.RUN, label="chg_1")
    assert box is not None
    boxes.register(data_root, box)
    return box


def list_files(data_root: Path) -> list[Path]:
    return list((data_root / "var/run/boxes").iterdir())


def test_a_reason_is_read_whole_while_others_write_it(tmp_path: Path) -> None:
    box = make_box(tmp_path)
    boxes.mark_ended(tmp_path, box, WHY)
    over = threading.Event()

    def write_again() -> None:
        while not over.is_set():
            boxes.mark_ended(tmp_path, box, WHY)

    writers = [threading.Thread(target=write_again) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        reasons = {boxes.why_ended(tmp_path, box) for _ in range(2_000)}
    finally:
        over.set()
        for writer in writers:
            writer.join()
    assert reasons == {WHY}


def test_whoever_comes_after_the_launcher_leaves_nothing(tmp_path: Path) -> None:
    box = make_box(tmp_path)
    boxes.mark_ended(tmp_path, box, WHY)
    boxes.unregister(tmp_path, box)
    boxes.mark_ended(tmp_path, box, WHY)
    assert list_files(tmp_path) == []


def test_a_note_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    box = make_box(tmp_path)
    boxes.unregister(tmp_path, box)
    (tmp_path / "var/run/boxes").rmdir()
    boxes.mark_ended(tmp_path, box, WHY)
    assert boxes.why_ended(tmp_path, box) == ""
