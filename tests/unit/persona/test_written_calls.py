"""A call that a model wrote as text is one, however it spells a tool that it was offered."""

import json

import pytest

from astra.persona.speech import FromPerson
from astra.persona.written_calls import find_calls

OFFERED = {"astra_desires_list", "read_file"}


@pytest.mark.parametrize("name", ["astra_desires_list", "astra.desires.list"])
def test_a_tool_is_known_by_its_name_and_by_the_one_with_dots(name: str) -> None:
    text = f"```json\n{json.dumps({'name': name, 'arguments': {'limit': 3}})}\n```"
    (call,) = find_calls(text, OFFERED, []).calls
    assert (call.tool, call.arguments) == ("astra_desires_list", {"limit": 3})


@pytest.mark.parametrize("name", ["read.file", "astra.desires_list"])
def test_a_name_with_dots_is_no_way_to_a_tool_that_was_not_offered(name: str) -> None:
    text = json.dumps({"name": f"{name}s", "arguments": {}})
    written = find_calls(text, OFFERED, [])
    assert (written.calls, written.text) == ((), text)


def test_a_call_with_dots_that_was_only_quoted_is_not_run() -> None:
    text = json.dumps({"name": "astra.desires.list", "arguments": {}})
    assert find_calls(text, OFFERED, [FromPerson(f"what does {text} do?")]).calls == ()
