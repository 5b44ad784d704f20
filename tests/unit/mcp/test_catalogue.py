"""The list of tools as a model pays for it: short, described, and true."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from astra.goals.model import CATEGORIES
from astra.interfaces.mcp.catalogue import Catalogue
from astra.interfaces.mcp.lines import LONGEST_LINE
from astra.interfaces.mcp.toolsets import TOOLSETS, Selection, find_toolset
from astra.tools.catalogue import make_registry
from astra.trusted.kernel.errors import BadInput
from astra.trusted.settings.environment import FLAGS

EVERYTHING_ON = dict.fromkeys(FLAGS, True)
CHARACTERS_A_TOKEN = 4  # measured: o200k and cl100k count four to eight per cent fewer tokens


def list_shown(*, operator: bool = False, **options: Any) -> list[dict[str, Any]]:
    catalogue = Catalogue(make_registry())
    tools = catalogue.list_tools(EVERYTHING_ON, operator=operator, dotted=False, **options)
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def count_tokens(shown: list[dict[str, Any]]) -> int:
    text = json.dumps({"tools": shown}, ensure_ascii=False, separators=(",", ":"))
    return len(text) // CHARACTERS_A_TOKEN


def list_members(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, member in schema.get("properties", {}).items():
        yield f"{path}{name}", member
        yield from list_members(member.get("items", {}), f"{path}{name}.")


def test_the_list_costs_at_most_7000_tokens_with_code_writing_on() -> None:
    shown = list_shown()
    assert "schedule_code_modification" in {tool["name"] for tool in shown}
    assert count_tokens(shown) <= 7_000


def test_a_toolset_costs_a_part_of_it_and_reading_only_less() -> None:
    changes = list_shown(selection=Selection.parse("source,changes"))
    assert {"read_source_code", "schedule_code_modification", "astra_health"} <= {
        tool["name"] for tool in changes
    }
    assert "astra_plans_draft" not in {tool["name"] for tool in changes}
    assert count_tokens(changes) <= 2_200
    reading = list_shown(selection=Selection(read_only=True))
    assert all(tool["annotations"]["readOnlyHint"] for tool in reading)
    assert count_tokens(list_shown(plain=True)) < count_tokens(list_shown())


def test_every_tool_is_in_one_toolset_and_every_toolset_has_tools() -> None:
    members = {name: [] for name in TOOLSETS}
    for tool in make_registry().list_all():
        members[find_toolset(tool.name)].append(tool.name)
    assert sorted(members["health"]) == ["astra.health", "astra.smoke"]
    imported = {"servers"}  # tools of other servers, where the configuration names any
    assert {name for name, tools in members.items() if not tools} == imported


def test_an_unknown_toolset_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match="there is no toolset 'sauce'") as refused:
        Selection.parse("source,sauce")
    assert "source" in refused.value.next_step
    assert Selection.parse("all").names == frozenset()


@pytest.mark.parametrize("tool", list_shown(operator=True), ids=lambda tool: tool["name"])
def test_every_parameter_is_described_and_nothing_is_titled_or_copied(tool: dict[str, Any]) -> None:
    for name, member in list_members(tool["inputSchema"]):
        assert member.get("description"), f"{tool['name']}.{name}"
        assert "title" not in member or name == "title"
        assert member.get("maxLength", 0) * 6 <= LONGEST_LINE, "JSON may escape a letter in six"
    text = json.dumps(tool)
    assert "$defs" not in text
    assert "next_step" not in text, "the form of a refusal is not repeated for every tool"


def test_what_does_not_exist_yet_is_not_listed() -> None:
    absent = {tool.underscored for tool in make_registry().list_all() if not tool.available}
    assert not absent & {tool["name"] for tool in list_shown(operator=True)}


@pytest.mark.parametrize(
    ("tool", "member", "expected"),
    [
        ("astra_schedule_create", "overlap", ["skip", "queue", "cancel-previous"]),
        ("astra_schedule_list", "state", ["active", "paused", "deleted"]),
        ("astra_flags_set", "name", list(FLAGS)),
        ("astra_goals_create", "category", list(CATEGORIES)),
    ],
)
def test_a_choice_is_an_enum(tool: str, member: str, expected: list[str]) -> None:
    (shown,) = [shown for shown in list_shown(operator=True) if shown["name"] == tool]
    assert shown["inputSchema"]["properties"][member]["enum"] == expected


@pytest.mark.parametrize(
    ("tool", "destructive", "idempotent", "open_world"),
    [
        ("write_file", True, True, False),
        ("delete_file", True, True, False),
        ("run_in_sandbox", True, False, False),
        ("fetch_url", False, True, True),
        ("schedule_code_modification", False, False, False),
        ("astra_schedule_create", False, True, False),
        ("astra_schedule_modify", True, True, False),
        ("deploy_agent_code", True, False, True),
        ("astra_approvals_reject", True, True, False),
        ("astra_stop", True, True, False),
    ],
)
def test_hints_say_what_a_tool_does(
    tool: str, destructive: bool, idempotent: bool, open_world: bool
) -> None:
    (shown,) = [shown for shown in list_shown(operator=True) if shown["name"] == tool]
    hints = {"idempotentHint": False, **shown["annotations"]}  # what the protocol takes for granted
    assert (hints["destructiveHint"], hints["idempotentHint"], hints["openWorldHint"]) == (
        destructive,
        idempotent,
        open_world,
    )


@pytest.mark.parametrize(
    ("tool", "member"),
    [
        ("tasks_list", "state"),
        ("tasks_list", "source"),
        ("propose_belief", "claim"),
        ("propose_belief", "scope_kind"),
        ("research_and_summarize", "sources"),
    ],
)
def test_what_takes_one_of_a_few_words_is_an_enum(tool: str, member: str) -> None:
    (shown,) = [shown for shown in list_shown() if shown["name"] == tool]
    schema = shown["inputSchema"]["properties"][member]
    assert len(schema.get("items", schema)["enum"]) > 1
