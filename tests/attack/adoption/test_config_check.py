"""`config check` runs a text that nobody signed: what it could open, and what it opens."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.boxes.unsigned_places import list_unsigned_places
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.trusted.sandbox import machine
from astra.trusted.settings import configuration, environment
from driver import Astra, make_repository

CANARY = "canary-93ab17"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the operator's, with a program in it and a secret beside that."""
    place = tmp_path / "private"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "tool").write_text("#!/bin/sh\ncat " + str(place / "bin" / "token") + "\n")
    (place / "bin" / "tool").chmod(0o755)
    (place / "bin" / "token").write_text(CANARY)
    return place


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    astra = Astra(tmp_path)
    astra.json("init", make_repository(tmp_path / "target"), "--throwaway")
    opened = build_runtime(environment.load(astra.environment))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "text",
    [
        '[target]\ntoolchain = ["{tool}"]\ntest_command = "/usr/bin/env tool"',
        '[target]\ntest_command = "{tool}"',
        "[target]\ntest_command = \"sh -c 'exec {tool}'\"",
        '[target]\nenvironment = "{place}"\ntest_command = "cat {place}/bin/token"',
        '[target]\nenvironment = "command"\nenvironment_command = "{tool}"',
        '[app]\ncommand = "{tool}"\nport = 8000',
        '[app]\ncommand = "true"\nclient_build = "{tool}"',
        '[app]\ncommand = "true"\nbefore_start = "{tool}"',
    ],
)
def test_an_unsigned_text_opens_no_folder_of_this_machine(
    runtime: Runtime, folder: Path, text: str
) -> None:
    unsigned = text.format(tool=folder / "bin" / "tool", place=folder)
    runtime.root.configuration.write_text(unsigned)
    items = runtime.config_check.run()
    assert [(item.name, item.ok) for item in items] == [("configuration", True), ("places", False)]
    assert "config sign" in items[-1].fix
    assert CANARY not in repr(items)
    assert runtime.ledger.newest("box_ended") is None


def test_what_the_signed_text_names_may_be_used(folder: Path) -> None:
    text = f'[target]\ntoolchain = ["{folder / "bin" / "tool"}"]\nenvironment = "{folder}"'
    named = configuration.parse(text)
    nothing = configuration.parse("")
    assert list_unsigned_places(named, named) == ()
    assert list_unsigned_places(named, nothing) == (f"{folder}/bin/tool", str(folder))
    usual = configuration.parse('[target]\ntest_command = "/usr/bin/python3 -m pytest"')
    assert list_unsigned_places(usual, nothing) == ()


def test_a_secret_file_that_only_the_unsigned_text_names_stays_out(
    tmp_path: Path, runtime: Runtime
) -> None:
    assert machine.inspect_machine()
    runtime.root.configuration.write_text(
        '[app]\ncommand = "cat .env"\n[app.permissions]\nsecret_files = [".env"]\n'
    )
    checked = runtime.config_check._read_configuration()
    assert checked.app.permissions.secret_files == ()
    assert checked.app.permissions.secrets == ()
    assert checked.app.permissions.network == ()
