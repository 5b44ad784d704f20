"""What a relay says without a daemon is what the daemon says: word for word, for every session."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from astra.interfaces.mcp.catalogue import list_rows
from astra.interfaces.mcp.first_answers import (
    TABLE,
    FirstAnswers,
    Standing,
    forget_standing,
    from_row,
    read_standing,
    write_standing,
)
from astra.interfaces.mcp.session import Opening
from astra.interfaces.mcp.tool_server import ToolServer
from astra.testing import CounterInMemory
from astra.tools.catalogue import make_registry
from astra.trusted.settings.environment import FLAGS

ROOT = Path(__file__).parents[3]
VERSIONS = (*sorted(HANDSHAKE_PROTOCOL_VERSIONS), *sorted(MODERN_PROTOCOL_VERSIONS))
DEFAULTS = {name: on for name, (on, _) in FLAGS.items()}
OPENINGS = {
    "agent": Opening(names="underscore"),
    "operator": Opening(names="underscore", operator=True),
    "dotted": Opening(names="dotted"),
    "narrowed": Opening(names="underscore", toolsets="source,changes", calls=3),
    "reading": Opening(names="underscore", read_only=True, plain=True),
    "without the persona": Opening(names="underscore", off=frozenset({"PERSONA_MODE_ENABLED"})),
}
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def generator() -> ModuleType:
    """Load the script that writes the table, which belongs to no package."""
    place = ROOT / "scripts" / "first_answers.py"
    spec = importlib.util.spec_from_file_location("write_first_answers", place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = generator()


def make_server(flags: dict[str, bool]) -> ToolServer:
    inside = CounterInMemory(*make_registry().list_all())
    return ToolServer(
        counter=lambda: inside.counter,
        ledger=inside.gate.root.ledger,
        flags=lambda off: {name: on and name not in off for name, on in flags.items()},
    )


def test_the_table_is_what_the_code_says_now() -> None:
    kept = TABLE.read_text() == SCRIPT.make_text()
    assert kept, "run `make docs` and commit what it writes"


@pytest.mark.parametrize("name", OPENINGS)
@pytest.mark.parametrize("write", [False, True])
async def test_the_relay_answers_as_the_daemon_would(name: str, *, write: bool) -> None:
    flags = {**DEFAULTS, "ASTRA_CODE_WRITE_ENABLED": write}
    server, opening = make_server(flags), OPENINGS[name]
    answers = FirstAnswers(standing=Standing(flags=flags), opening=opening)
    for version in VERSIONS:
        session = opening.make_session("test", dotted=False)
        expected = await SCRIPT.ask_first(server, session, version)
        for method, params in SCRIPT.list_first_requests(version):
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            assert answers.find(message, version) == expected[method], (version, method)


def find_names(standing: Standing, **opening: Any) -> set[str]:
    answers = FirstAnswers(standing=standing, opening=Opening(names="dotted", **opening))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = answers.find(message, "2025-11-25")
    assert answer is not None
    return {tool["name"] for tool in answer["tools"]}


def test_imported_tools_are_told_as_they_were_left(tmp_path: Path) -> None:
    row, *_ = list_rows(make_registry())
    imported = replace(from_row(row), name="mcp.git.status", flags=("PERSONA_MODE_ENABLED",))
    write_standing(tmp_path, Standing(flags=DEFAULTS, imported=(imported,)))
    standing = read_standing(tmp_path)
    assert standing is not None
    assert "mcp.git.status" in find_names(standing)
    assert "mcp.git.status" not in find_names(standing, off=frozenset({"PERSONA_MODE_ENABLED"}))


def test_what_cannot_be_answered_for_sure_waits_for_the_daemon() -> None:
    answers = FirstAnswers(standing=Standing(flags=DEFAULTS), opening=Opening())
    hello = {"id": 1, "method": "initialize", "params": {"protocolVersion": "1999-01-01"}}
    for message in (hello, {"id": 2, "method": "tools/call"}, {"id": 3, "method": "prompts/list"}):
        assert answers.find({"jsonrpc": "2.0", **message}, "1999-01-01") is None
    assert answers.find({"jsonrpc": "2.0", "id": 4, "method": "ping"}, "") == {}


def test_what_another_version_or_nobody_wrote_is_not_used(tmp_path: Path) -> None:
    write_standing(tmp_path, Standing(flags=DEFAULTS))
    place = tmp_path / "mcp-standing.json"
    for text in ("", "[]", '{"version": 1}', place.read_text().replace('n": "', 'n": "9')):
        place.write_text(text)
        assert read_standing(tmp_path) is None
    forget_standing(tmp_path)
    assert read_standing(tmp_path) is None
