"""A log that cannot grow without end, however often somebody makes the daemon complain."""

import json
import logging
import os
from pathlib import Path

from astra.adapters.bounded_log import KEPT, turn_over
from astra.interfaces.daemon.logs import (
    LONGEST_MESSAGE,
    MOST_DIFFERENT,
    REPEAT_SECONDS,
    Repetitions,
    StructuredLog,
)


def record(words: str, *facts: object) -> logging.LogRecord:
    return logging.LogRecord("astra", logging.WARNING, "", 0, words, facts, None)


def test_a_log_is_turned_over_by_size_and_a_few_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    with log.open("ab", buffering=0) as file:
        for number in range(10):
            file.write(f"{number}".encode() * 100)
            turn_over(log, file.fileno(), largest=50)
            assert os.fstat(file.fileno()).st_size == 0
        file.write(b"after")
    assert log.read_bytes() == b"after"
    assert len([*tmp_path.iterdir()]) == KEPT + 1
    assert (tmp_path / "daemon.log.1").read_bytes() == b"9" * 100


def test_a_small_log_and_one_that_is_no_file_are_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    with log.open("ab", buffering=0) as file:
        file.write(b"x" * 50)
        turn_over(log, file.fileno(), largest=50)
    reading, writing = os.pipe()
    try:
        turn_over(log, writing, largest=0)
    finally:
        os.close(reading)
        os.close(writing)
    assert [path.name for path in tmp_path.iterdir()] == ["daemon.log"]


def test_a_message_that_repeats_is_said_once_a_minute_with_a_count() -> None:
    now = [0.0]
    repetitions = Repetitions(lambda: now[0])
    assert repetitions.filter(record("%s left", "a client"))
    assert not repetitions.filter(record("%s left", "another"))
    assert repetitions.filter(record("something else"))
    now[0] = REPEAT_SECONDS
    again = record("%s left", "a third")
    assert repetitions.filter(again)
    assert again.getMessage() == "a third left (and 1 more like it)"


def test_words_that_a_stranger_chose_do_not_make_a_message_a_new_one() -> None:
    now = [0.0]
    repetitions = Repetitions(lambda: now[0])
    passed = [repetitions.filter(record(f"no such host: {number}")) for number in range(1000)]
    assert sum(passed) == MOST_DIFFERENT
    now[0] = REPEAT_SECONDS
    again = record("no such host: x")
    assert repetitions.filter(again)
    assert again.getMessage() == f"no such host: x (and {1000 - MOST_DIFFERENT} more like it)"


def test_a_long_message_is_cut() -> None:
    long = record("no such host: %s", "x" * 100_000)
    assert Repetitions().filter(long)
    assert len(long.getMessage()) < LONGEST_MESSAGE + 100


def test_the_structured_log_has_an_object_a_line_without_secrets(tmp_path: Path) -> None:
    log = StructuredLog(tmp_path / "daemon.ndjson", largest=400)
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    for number in range(20):
        log.write(record("try %s with %s\nand a line", number, secret))
    lines = (tmp_path / "daemon.ndjson").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert entries[-1]["message"] == "try 19 with [masked]\nand a line"
    assert (entries[-1]["level"], entries[-1]["logger"]) == ("warning", "astra")
    assert (tmp_path / "daemon.ndjson.1").exists()
    assert (tmp_path / "daemon.ndjson").stat().st_mode & 0o077 == 0


def test_a_structured_log_that_cannot_be_written_costs_lines_and_nothing_else(
    tmp_path: Path,
) -> None:
    (tmp_path / "daemon.ndjson").symlink_to(tmp_path / "elsewhere")
    StructuredLog(tmp_path / "daemon.ndjson").write(record("lost"))
    assert not (tmp_path / "elsewhere").exists()
