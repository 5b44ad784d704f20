"""Chat shows a core of tools and what the talk is about; it hides and never forbids."""

import json
from typing import Any

import pytest

from astra.adapters.chat_door import CounterForChat
from astra.persona.conversations import PERSON, PERSONA, Message
from astra.persona.speech import Offered
from astra.persona.tool_choice import (
    CORE_TOOLS,
    MORE_TOOLS,
    SET_WORDS,
    SETS_BY_ID,
    ToolChoice,
    choose_tools,
)
from astra.testing import CounterInMemory
from astra.tools.catalogue import make_registry
from astra.tools.toolsets import TOOLSETS
from astra.trusted.settings.environment import FLAGS

CHARACTERS_A_TOKEN = 4


@pytest.fixture(scope="module")
def every_tool() -> list[Offered]:
    flags = dict.fromkeys(FLAGS, True)
    counter = CounterInMemory(*make_registry().list_visible(flags, operator=False)).counter
    door = CounterForChat(counter=counter, flags=flags, correlation="cor_1", off=frozenset())
    return door.list_offered()


def make_message(text: str, *, who: str = PERSON, calls: Any = ()) -> Message:
    return Message(sequence=1, time="", who=who, text=text, facts={"calls": list(calls)})


def count_tokens(tools: list[Offered]) -> int:
    documents = [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}
        for tool in tools
    ]
    return len(json.dumps(documents)) // CHARACTERS_A_TOKEN


def test_a_greeting_is_shown_the_core_and_the_way_to_the_rest(every_tool: list[Offered]) -> None:
    shown = choose_tools(every_tool, [make_message("Good morning!")]).list_shown()
    names = {tool.name for tool in shown}
    assert names >= CORE_TOOLS | {MORE_TOOLS, "astra_health"}
    assert len(shown) < 12
    assert count_tokens(shown) < 1_500


def test_questions_cost_less_than_half_of_what_every_tool_costs(every_tool: list[Offered]) -> None:
    questions = (
        "What would you like to work on?",
        "Fix the bug in the greeting",
        "Every night, look at what failed",
        "Draft a plan for the documentation",
        "Research how cron handles summer time",
        "What do you believe about my tests?",
    )
    costs = [
        count_tokens(choose_tools(every_tool, [make_message(question)]).list_shown())
        for question in questions
    ]
    assert sum(costs) / len(costs) < count_tokens(every_tool) / 2


@pytest.mark.parametrize(
    ("question", "toolset"),
    [
        ("Please FIX the greeting", "changes"),
        ("run it in the sandbox", "sandbox"),
        ("remind me every Monday", "schedules"),
        ("which goals do you have?", "goals"),
        ("draft a plan", "plans"),
        ("what do you believe?", "beliefs"),
        ("Schreib eine Notiz", "notes"),
        ("research that", "research"),
    ],
)
def test_words_of_a_question_open_sets(
    every_tool: list[Offered], question: str, toolset: str
) -> None:
    assert toolset in choose_tools(every_tool, [make_message(question)]).opened


def test_what_the_last_answer_used_or_named_stays_open(every_tool: list[Offered]) -> None:
    used = {"tool": "astra_goals_list", "arguments": {}}
    asked = {"tool": MORE_TOOLS, "arguments": {"set": "beliefs"}}
    answer = make_message("that is sch_00112233", who=PERSONA, calls=[used, asked])
    choice = choose_tools(every_tool, [answer, make_message("and the second one?")])
    assert choice.opened == {"goals", "schedules", "beliefs"}


def test_what_was_talked_about_long_ago_is_closed_again(every_tool: list[Offered]) -> None:
    messages = [make_message("draft a plan"), *[make_message("hm")] * 5]
    assert choose_tools(every_tool, messages).opened == set()


def test_a_server_of_somebody_else_is_opened_by_its_name() -> None:
    tool = Offered(name="mcp_tickets_find", description="", schema={}, toolset="servers")
    assert choose_tools([tool], [make_message("look into my tickets")]).opened == {"servers"}
    assert choose_tools([tool], [make_message("look into my letters")]).opened == set()


def test_a_set_that_does_not_exist_opens_nothing(every_tool: list[Offered]) -> None:
    choice = ToolChoice(tools=every_tool)
    assert choice.open_set("everything") == []
    assert choice.open_set("") == []
    assert choice.opened == set()


def test_with_every_set_open_nothing_more_is_offered(every_tool: list[Offered]) -> None:
    choice = ToolChoice(tools=every_tool)
    for toolset in TOOLSETS:
        choice.open_set(toolset)
    assert [tool.name for tool in choice.list_shown()] == [tool.name for tool in every_tool]


def test_every_set_that_is_chosen_exists_and_the_core_too(every_tool: list[Offered]) -> None:
    assert set(SET_WORDS) | set(SETS_BY_ID.values()) <= TOOLSETS.keys()
    assert {tool.name for tool in every_tool} >= CORE_TOOLS
