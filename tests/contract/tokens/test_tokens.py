"""What every shelf of token files promises."""

from pathlib import Path

import pytest

from astra.adapters.approval_tokens import TokenFiles
from astra.schedules.ports import Tokens
from astra.testing import MemoryTokens

NAME = "sch_0123abcd"


@pytest.fixture(params=["memory", "files"])
def tokens(request: pytest.FixtureRequest, tmp_path: Path) -> Tokens:
    return MemoryTokens() if request.param == "memory" else TokenFiles(tmp_path / "approvals")


def test_a_token_is_written_read_and_removed(tokens: Tokens) -> None:
    assert tokens.read(NAME) is None
    tokens.write(NAME, "one\n")
    tokens.write(NAME, "two\n")
    assert tokens.read(NAME) == "two\n"
    assert tokens.list_pending() == [NAME]
    tokens.remove(NAME)
    tokens.remove(NAME)
    assert tokens.read(NAME) is None
    assert tokens.list_pending() == []


def test_the_log_grows_line_by_line(tokens: Tokens) -> None:
    assert tokens.read_log() == ""
    tokens.log("a\n")
    tokens.log("b\n")
    assert tokens.read_log() == "a\nb\n"


def test_files_are_their_owners_alone_and_links_are_not_followed(tmp_path: Path) -> None:
    tokens = TokenFiles(tmp_path / "approvals")
    tokens.write(NAME, "secret\n")
    path = tmp_path / "approvals" / "pending" / f"{NAME}.token"
    assert path.stat().st_mode & 0o077 == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("planted\n")
    path.unlink()
    path.symlink_to(elsewhere)
    assert tokens.read(NAME) == ""
    path.unlink()
    path.mkdir()
    assert tokens.read(NAME) == ""
