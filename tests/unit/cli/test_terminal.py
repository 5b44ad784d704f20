"""On a real terminal: colours and paging; neither in a pipe, nor where somebody wants none."""

import os
import shutil
from pathlib import Path

import pytest

from astra.interfaces.cli.paging import show_paged
from terminal import Terminal

BARE = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
COLOUR = "\x1b[1m"


def test_long_help_is_paged_by_the_pager_of_whoever_reads(tmp_path: Path) -> None:
    pager = tmp_path / "my-pager"
    pager.write_text("#!/bin/sh\necho PAGED; cat\n")
    pager.chmod(0o700)
    with Terminal("help", environment={**BARE, "PAGER": str(pager)}, folder=tmp_path) as terminal:
        assert terminal.wait_until_over() == 0
    assert terminal.shown.startswith("PAGED")
    assert "usage: astra" in terminal.shown


def test_what_fits_is_not_paged(tmp_path: Path) -> None:
    environment = {**BARE, "PAGER": "false"}
    with Terminal("help", environment=environment, folder=tmp_path, rows=200) as terminal:
        assert terminal.wait_until_over() == 0
    assert "usage: astra" in terminal.shown


@pytest.mark.parametrize("more", [{"NO_PAGER": "1"}, {"PAGER": ""}, {"PAGER": "/no/such/pager"}])
def test_without_a_pager_it_is_shown_all_the_same(tmp_path: Path, more: dict[str, str]) -> None:
    with Terminal("help", environment={**BARE, **more}, folder=tmp_path) as terminal:
        assert terminal.wait_until_over() == 0
    assert "usage: astra" in terminal.shown


def test_a_pager_that_is_left_early_is_no_error() -> None:
    assert show_paged([str(shutil.which("true"))], "a line\n" * 100_000)


@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_of_people_who_want_them(
    tmp_path: Path, more: dict[str, str], *, coloured: bool
) -> None:
    with Terminal(environment={**BARE, **more}, folder=tmp_path) as terminal:
        assert terminal.wait_until_over() == 0
    assert (COLOUR in terminal.shown) is coloured
    assert "there is no data root here yet" in terminal.text
