"""A log that somebody follows while it is written to: no line is lost, none comes in two parts."""

from pathlib import Path

from astra.interfaces.cli.logs import Following


def test_a_line_that_is_being_written_comes_once_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "daemon.ndjson"
    path.write_bytes(b"one\ntw")
    following = Following(path)
    assert following.read_last(10, unfinished=False) == [b"one"]
    with path.open("ab") as log:
        log.write(b"o\nthree\n")
    assert following.read_new() == [b"two", b"three"]


def test_what_is_written_while_the_newest_lines_are_shown_comes_next(tmp_path: Path) -> None:
    path = tmp_path / "daemon.ndjson"
    path.write_bytes(b"one\n")
    log = path.open("ab", buffering=0)

    class WrittenMeanwhile(Following):
        def read_new(self) -> list[bytes]:
            lines = super().read_new()
            log.write(b"two\n")  # another process, before the reader has come back
            return lines

    with log:
        following = WrittenMeanwhile(path)
        assert following.read_last(10, unfinished=False) == [b"one"]
        assert following.read_new() == [b"two"]


def test_the_last_words_of_a_process_that_died_are_shown_without_their_newline(
    tmp_path: Path,
) -> None:
    path = tmp_path / "app.log"
    path.with_name("app.log.1").write_bytes(b"zero\n")
    path.write_bytes(b"one\nlast wor")
    assert Following(path).read_last(2, unfinished=True) == [b"one", b"last wor"]
    assert Following(path).read_last(10, unfinished=True) == [b"zero", b"one", b"last wor"]
    assert Following(path).read_last(0, unfinished=True) == []
