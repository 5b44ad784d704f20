"""Planning: the same input gives the same graph, whatever the methods, and bad input says where."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra.goals.graph import Graph, bind_arguments, read_graph
from astra.goals.kinds import KINDS
from astra.goals.method_files import (
    BadMethod,
    check_signable,
    combine,
    read_built_in,
    read_methods,
)
from astra.goals.methods import MethodSet
from astra.goals.planner import MOST_NODES, NoPlan, Situation, plan_goal
from astra.trusted.kernel.text import json_text

GOAL = "goal_00c0ffee"
BRINGS = {"text": "make it faster", "goal": GOAL, "category": "user_requested"}
BUILT_IN_TASKS = (
    *("implement_feature", "fix_bug", "refactor_code", "add_tests", "update_documents"),
    *("investigate_topic", "investigate_question", "raise_coverage"),
    *("keep_dependencies_current", "repair_after_rollback", "achieve"),
)


def situation(methods: MethodSet, *facts: str, **beliefs: float) -> Situation:
    return Situation(methods=methods, facts=dict.fromkeys(facts, True), beliefs=beliefs)


def plan(text: str, task: str = "top", *facts: str, **beliefs: float) -> Graph:
    methods = combine(read_methods(text))
    return plan_goal(GOAL, task, BRINGS, situation(methods, *facts, **beliefs))


def method(name: str, task: str, *subtasks: str, extra: str = "") -> str:
    rows = ", ".join(subtasks)
    return f'[[methods]]\nname = "{name}"\ntask = "{task}"\n{extra}\nsubtasks = [{rows}]\n'


ASK = '{id = "ask", task = "ASK_OPERATOR", arguments = {question = "${text}"}}'
ASK_PLAINLY = ASK.replace("${text}", "x")
TAKING = (
    '{id = "take", task = "RUN_PLAN", after = ["go"], arguments = {description = "${go.colour}"}}'
)


def step(task: str) -> str:
    return f'{{id = "go", task = "{task}"}}'


@pytest.mark.parametrize("task", BUILT_IN_TASKS)
@pytest.mark.parametrize("facts", [("code_write", "has_tests", "app", "research"), ()])
def test_every_built_in_task_is_planned_or_says_what_it_needs(
    task: str, facts: tuple[str, ...]
) -> None:
    try:
        graph = plan_goal(GOAL, task, BRINGS, situation(read_built_in(), *facts))
    except NoPlan as refusal:
        assert "code_write" in refusal.detail
        assert not facts
    else:
        assert graph.nodes
        check_graph(graph)


# Whatever the methods are


@st.composite
def method_sets(draw: st.DrawFn) -> MethodSet:
    """Methods for tasks a0 … a4; each may decompose into any of them, also into itself."""
    texts = [draw(methods_of(number, name)) for number in range(5) for name in ("x", "y")]
    return combine(read_methods("\n".join(texts)))


@st.composite
def methods_of(draw: st.DrawFn, number: int, name: str) -> str:
    count = draw(st.integers(1, 4))
    rows = [draw(subtask_rows(index)) for index in range(count)]
    last = count - 1
    extra = f'cost = {draw(st.integers(1, 9))}\ngives = {{notes = "${{s{last}.notes}}"}}'
    if draw(st.booleans()):
        extra += '\nwhen = ["sunny"]'
    return method(f"m{number}{name}", f"a{number}", *rows, extra=extra)


@st.composite
def subtask_rows(draw: st.DrawFn, index: int) -> str:
    after = sorted(draw(st.sets(st.integers(0, index - 1)))) if index else []
    task = draw(st.sampled_from(["ASK_OPERATOR", "ASK_OPERATOR", "a0", "a1", "a2", "a3", "a4"]))
    text = "${text}" + (f" ${{s{after[-1]}.notes}}" if after else "")
    field = "question" if task == "ASK_OPERATOR" else "text"
    ids = ", ".join(f'"s{step}"' for step in after)
    return (
        f'{{id = "s{index}", task = "{task}", after = [{ids}], arguments = {{{field} = "{text}"}}}}'
    )


@settings(max_examples=40)
@given(method_sets(), st.booleans())
def test_the_same_input_gives_the_same_sound_graph(methods: MethodSet, sunny: bool) -> None:
    facts = ("sunny",) if sunny else ()
    try:
        graph = plan_goal(GOAL, "a0", BRINGS, situation(methods, *facts))
    except NoPlan:
        with pytest.raises(NoPlan):
            plan_goal(GOAL, "a0", BRINGS, situation(methods, *facts))
        return
    again = plan_goal(GOAL, "a0", BRINGS, situation(MethodSet(methods.methods), *facts))
    assert again == graph
    check_graph(graph)


def check_graph(graph: Graph) -> None:
    assert read_graph(graph.as_dict()) == graph
    assert len({node.id for node in graph.nodes}) == len(graph.nodes)
    earlier: dict[str, set[str]] = {}
    for node in graph.nodes:  # each behind those it waits for: there is no cycle
        earlier[node.id] = set(node.after).union(*(earlier[step] for step in node.after))
        for giver, output in node.needs():
            assert giver in earlier[node.id]
            source = graph.node(giver)
            assert source is not None
            assert output in source.gives
    called = {tool for node in graph.nodes for tool in (node.tool, *KINDS[node.kind].tools)}
    assert set(graph.manifest()["tools"]) <= called


@settings(max_examples=40)
@given(method_sets(), st.randoms(use_true_random=False))
def test_the_order_in_which_methods_are_written_changes_nothing(
    methods: MethodSet, chance: Random
) -> None:
    shuffled = list(methods.methods)
    chance.shuffle(shuffled)
    again = combine(shuffled)
    assert again.digest == methods.digest
    try:
        graph = plan_goal(GOAL, "a0", BRINGS, situation(methods, "sunny"))
    except NoPlan:
        with pytest.raises(NoPlan):
            plan_goal(GOAL, "a0", BRINGS, situation(again, "sunny"))
        return
    assert plan_goal(GOAL, "a0", BRINGS, situation(again, "sunny")) == graph


@settings(max_examples=40)
@given(method_sets())
def test_a_manifest_is_exactly_what_its_tasks_call(methods: MethodSet) -> None:
    try:
        graph = plan_goal(GOAL, "a0", BRINGS, situation(methods, "sunny"))
    except NoPlan:
        return
    manifest = graph.manifest()
    assert set(manifest["tools"]) == {tool for node in graph.nodes for tool in node.tools}
    assert set(manifest["kinds"]) == {str(node.kind) for node in graph.nodes}
    for node in graph.nodes:
        rest = replace(graph, nodes=tuple(other for other in graph.nodes if other is not node))
        assert set(rest.manifest()["tools"]) <= set(manifest["tools"])


@pytest.mark.parametrize("task", BUILT_IN_TASKS)
def test_every_built_in_graph_calls_only_what_its_kinds_call(task: str) -> None:
    facts = ("code_write", "has_tests", "app", "research", "model")
    graph = plan_goal(GOAL, task, BRINGS, situation(read_built_in(), *facts))
    tools = {tool for node in graph.nodes for tool in (node.tool, *KINDS[node.kind].tools) if tool}
    assert set(graph.manifest()["tools"]) <= tools


# How a method is chosen


def test_the_cheapest_complete_way_is_taken() -> None:
    cheap = method("cheap", "top", '{id = "a", task = "dear"}', extra="cost = 1")
    dear = method("dear", "dear", ASK.replace("${text}", "x"), extra="cost = 90")
    plain = method("plain", "top", ASK, extra="cost = 50")
    assert plan(cheap + dear + plain).method == "plain"


def test_a_way_that_leads_nowhere_is_left_for_another() -> None:
    first = method("first", "top", '{id = "a", task = "impossible"}', extra="cost = 1")
    never = method("never", "impossible", ASK, extra='when = ["not code"]')
    second = method("second", "top", ASK, extra="cost = 2")
    assert plan(first + never + second, "top", "code").method == "second"


def test_a_belief_counts_by_its_lower_bound() -> None:
    sure = method("sure", "top", ASK, extra='when = ["belief this works >= 0.8"]')
    usual = method("usual", "top", ASK, extra="cost = 9")
    assert plan(sure + usual, **{"this works": 0.79}).method == "usual"
    assert plan(sure + usual, **{"this works": 0.8}).method == "sure"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("file = setup.py", True),
        ("file = setup.cfg", False),
        ("not file = setup.cfg", True),
        ("language = python", True),
        ("language = rust", False),
        ("flag = ASTRA_CODE_WRITE_ENABLED", True),
        ("not flag = ASTRA_CODE_WRITE_ENABLED", False),
    ],
)
def test_conditions_ask_for_files_languages_and_flags(condition: str, holds: bool) -> None:
    text = method("asked", "top", ASK, extra=f'when = ["{condition}"]')
    check_signable(text)
    methods = combine(read_methods(text + method("other", "top", ASK, extra="cost = 9")))
    facts = {
        "file": frozenset({"setup.py"}),
        "language": frozenset({"python"}),
        "flag": frozenset({"ASTRA_CODE_WRITE_ENABLED"}),
    }
    known = Situation(methods=methods, facts=facts, beliefs={})
    graph = plan_goal(GOAL, "top", BRINGS, known)
    assert graph.method == ("asked" if holds else "other")


def test_a_task_is_titled_by_its_words_as_they_will_be_read() -> None:
    graph = plan(method("m", "top", ASK.replace("${text}", "Shall it ${text}?")))
    assert graph.nodes[0].title == "ask (ASK_OPERATOR): Shall it make it faster?"


def test_text_of_a_goal_is_never_read_for_references() -> None:
    later = '{id = "b", task = "ASK_OPERATOR", after = ["ask"], arguments = {question = "${text}"}}'
    hostile = {**BRINGS, "text": "${ask.answer} ${goal}"}
    methods = combine(read_methods(method("m", "top", ASK, later)))
    graph = plan_goal(GOAL, "top", hostile, situation(methods))
    outputs = {(graph.nodes[0].id, "answer"): "SECRET"}
    assert bind_arguments(graph.nodes[1], outputs) == {"question": "${ask.answer} ${goal}"}


def test_outputs_are_put_where_a_method_said() -> None:
    taking = (
        '{id = "b", task = "RUN_PLAN", after = ["ask"],'
        ' arguments = {description = "so: ${ask.answer}!"}}'
    )
    graph = plan(method("m", "top", ASK, taking))
    assert bind_arguments(graph.nodes[1], {(graph.nodes[0].id, "answer"): "yes"}) == {
        "description": "so: yes!"
    }


# Bad input


def test_methods_that_only_lead_to_themselves_are_no_plan() -> None:
    ring = method("a", "top", '{id = "x", task = "other"}')
    ring += method("b", "other", '{id = "x", task = "top"}')
    with pytest.raises(NoPlan, match="no method for 'top' fits"):
        plan(ring)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            method("m", "top", ASK.replace("text}", "colour}")),
            r"m refers to \$\{colour\}, and its task was given category, goal, text$",
        ),
        (
            method("m", "top", '{id = "a", task = "low"}') + method("n", "low", ASK),
            r"m: no method for 'low' fits: n refers to \$\{text\}, .* given no arguments$",
        ),
        (
            method("m", "top", step("low")) + method("n", "low", ASK_PLAINLY, extra="when = ['x']"),
            "m: no method for 'low' fits: n needs x$",
        ),
        (
            method("m", "top", step("low"), TAKING)
            + method("n", "low", ASK_PLAINLY, extra='gives = {notes = "${ask.notes}"}'),
            "m: no method for 'low' fits: n does not give colour$",
        ),
        (
            method("m", "top", step("low")) + method("n", "low", step("top")),
            "m: no method for 'low' fits: n: no method for 'top' fits: m needs 'low', for which",
        ),
    ],
)
def test_what_no_plan_lacks_is_named(text: str, words: str) -> None:
    with pytest.raises(NoPlan, match=words):
        plan(text)


def test_an_unknown_task_is_no_plan() -> None:
    with pytest.raises(NoPlan, match="no method decomposes 'nonsense'"):
        plan(method("m", "top", ASK), "nonsense")


def test_a_graph_over_its_size_is_refused() -> None:
    levels = ""
    for level in range(4):
        rows = [f'{{id = "s{n}", task = "t{level + 1}"}}' for n in range(10)]
        levels += method(f"m{level}", f"t{level}", *rows)
    levels += method("leaf", "t4", ASK.replace("${text}", "x"))
    with pytest.raises(NoPlan, match=f"more than {MOST_NODES} nodes") as refusal:
        plan(levels, "t0")
    assert refusal.value.reason == "graph_too_large"


def test_methods_that_repeat_their_text_at_each_level_are_refused_before_it_fills_the_memory() -> (
    None
):
    levels = "".join(
        method(
            f"m{level}",
            f"t{level}",
            f'{{id = "a", task = "t{level + 1}", arguments = {{text = "${{text}}${{text}}"}}}}',
        )
        for level in range(60)
    )
    with pytest.raises(NoPlan, match="over 8,000,000 characters") as refusal:
        plan(levels + method("leaf", "t60", ASK), "t0")
    assert refusal.value.reason == "graph_too_large"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[methods]]\nname = 3", r"methods\[0\] \(line 1\), name: give a name"),
        ("\n\n[[methods]]\nname = 'A'", r"\(line 3\), name"),
        ("[[methods]]\ncolour = 1", "colour: no such field; there are name, task"),
        ("methods = 3", "methods is no list"),
        ("[[methods]", "not TOML"),
        (method("m", "top"), "subtasks: give 1 to 100 subtasks"),
        (method("m", "top", ASK, extra="cost = 0"), "cost: give a whole number from 1"),
        (method("m", "top", ASK, extra="cost = true"), "cost: give a whole number"),
        (method("m", "top", ASK, extra='when = ["x >> 3"]'), "when: 'x >> 3' is no condition"),
        (method("m", "top", ASK, ASK), "subtask ask: there is another subtask of this id"),
        (method("m", "top", '{id = "a", task = "b"}'), "no method decomposes the task b"),
        (method("m", "top", ASK) * 2, "name: there is another method of this name"),
        (
            method("m", "top", '{id = "a", task = "CHECK", arguments = {}}'),
            r"subtasks\[0\], arguments: CHECK needs a command or a file",
        ),
        (
            method("m", "top", '{id = "a", task = "RUN_TOOL"}'),
            "tool: a RUN_TOOL names its tool",
        ),
        (
            method("m", "top", '{id = "a", task = "RESEARCH", arguments = {}}'),
            "arguments: RESEARCH needs question",
        ),
        (
            method("m", "top", ASK.replace("}}", '}, after = ["nobody"]}')),
            "subtask ask, after: there is no subtask 'nobody'",
        ),
        (
            method(
                "m",
                "top",
                *(f'{{id = "{a}", task = "top", after = ["{b}"]}}' for a, b in ("ab", "ba")),
            ),
            "after: the subtasks wait for each other",
        ),
        (
            method("m", "top", ASK.replace("${text}", "${other.notes}")),
            r"\$\{other.notes\} is not of a subtask before it",
        ),
        (
            method("m", "top", ASK, extra='gives = {notes = "${ask.colour}"}'),
            "ASK_OPERATOR gives answer, notes, no colour",
        ),
        (
            "# first\n" + method("m", "top", ASK) + method("n", "top", "3"),
            r"methods\[1\] \(line 7\) n, subtasks\[0\]: write it as a table",
        ),
        (
            method("m", "top", ASK, extra='gives = {notes = "all of it"}'),
            r"gives.notes: write it as \$\{subtask.output\}",
        ),
        (
            method("m", "top", ASK, extra='gives = {notes = "${nobody.notes}"}'),
            "gives.notes: there is no subtask 'nobody'",
        ),
        (
            method("m", "top", ASK.replace("}}", "}, attempts = 99}")),
            "attempts: give a whole number from 1 to 10",
        ),
        (
            method("m", "top", ASK.replace("question", "colour")),
            "arguments: ASK_OPERATOR needs question",
        ),
        (
            method("m", "top", ASK.replace("}}", '}, on_failure = "shrug"}')),
            "on_failure: give abort, skip, continue_if_any",
        ),
    ],
)
def test_a_bad_method_is_named_with_its_place(text: str, words: str) -> None:
    with pytest.raises(BadMethod, match=words):
        combine(read_methods(text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
)


@given(
    st.dictionaries(st.sampled_from(["name", "task", "when", "subtasks", "gives", "cost"]), JSON)
)
def test_no_table_breaks_the_reader(table: dict[str, Any]) -> None:
    text = "[[methods]]\n" + "\n".join(
        f"{name} = {json_text(value)}"
        for name, value in table.items()
        if not isinstance(value, dict)
    )
    with pytest.raises(BadMethod):
        combine(read_methods(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (method("m", "top", step("top")), r"\(line 1\) m, subtask go, task: .*: top → top$"),
        (
            method("first", "a", step("b")) + method("second", "b", step("a")),
            r"\(line 1\) first, subtask go, task: .*: b → a → b$",
        ),
        (
            method("m", "top", ASK, step("a")) + method("n", "a", step("a")),
            r"no methods bring it to an end, it comes back to itself: a → a$",
        ),
    ],
)
def test_methods_that_never_come_to_an_end_are_not_signed(text: str, words: str) -> None:
    with pytest.raises(BadMethod, match=words):
        check_signable(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            method("m", "top", ASK.replace("text}", "colour}")),
            r"subtask ask, arguments: \$\{colour\} is given to top by nobody; .* goal, text$",
        ),
        (
            method("m", "top", step("low"), TAKING) + method("n", "low", ASK),
            r"\(line 1\) m, subtask go, task: no method of low gives colour$",
        ),
    ],
)
def test_what_refers_to_nothing_is_not_signed(text: str, words: str) -> None:
    with pytest.raises(BadMethod, match=words):
        check_signable(text)


ASK_WELL = method("m", "top", ASK)
CALL = '{id = "call", task = "RUN_TOOL", tool = "paint", arguments = {%s}}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ASK_WELL.replace("${text}", "${Text}"), r"arguments.question: \$\{Text\} is no reference"),
        (ASK_WELL.replace("${text}", "${a.b.c}"), r"\$\{a.b.c\} is no reference"),
        (ASK_WELL.replace("${text}", "so ${text"), r"\$\{text is no reference"),
        (
            "\n" + method("m", "top", ASK, CALL % 'size = {of = ["${text}"]}'),
            r"\(line 2\) m, subtasks\[1\], arguments.size: \$\{text\} is no reference",
        ),
        (method("m", "top", CALL % 'x = {"${text}" = 1}'), "arguments.x: .* is no reference"),
        (method("m", "top", CALL % "size = nan"), "arguments.size: not a JSON value"),
        (method("m", "top", CALL % "day = [2026-01-01]"), "arguments.day: not a JSON value"),
        (method("m", "top", CALL.replace("paint", r"\u001b[2J") % ""), "tool: give printable"),
        (
            method("m", "top", ASK, extra='when = ["not has_test"]'),
            "when: 'not has_test': the facts are app, code_write, has_tests, .* file = …",
        ),
        (method("m", "top", ASK, extra='when = ["language"]'), "when: 'language': the facts"),
        (method("m", "top", ASK, extra='when = ["app = yes"]'), "when: 'app = yes': the facts"),
    ],
)
def test_what_would_be_read_as_something_else_is_not_signed(text: str, words: str) -> None:
    combine(read_methods(text))
    """What was signed before goes on working."""
    with pytest.raises(BadMethod, match=words):
        check_signable(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('x = """\n[[methods]]\n"""\n[[methods]]\nname = 3', " (line 4)"),
        ("x = 1\n[['methods']]\nname = 3", " (line 2)"),
        ("methods = [{name = 3}]", ""),
    ],
)
def test_a_line_is_named_where_the_method_is_written_and_never_another(
    text: str, line: str
) -> None:
    with pytest.raises(BadMethod) as refusal:
        read_methods(text)
    assert refusal.value.detail.startswith(f"methods[0]{line}, name: give a name")


def test_an_argument_that_another_method_gives_is_signed() -> None:
    giving = '{id = "go", task = "low", arguments = {colour = "blue"}}'
    low = method("n", "low", ASK.replace("text}", "colour}"))
    check_signable(method("m", "top", giving) + low)


def test_methods_that_come_back_to_themselves_and_have_another_way_are_signed() -> None:
    check_signable(method("again", "top", ASK, step("top")) + method("once", "top", ASK))


@settings(max_examples=40)
@given(method_sets())
def test_what_may_be_signed_has_a_way_to_an_end_for_every_task(methods: MethodSet) -> None:
    """A task whose methods all pass has a plan, unless its conditions, size or arguments differ."""
    try:
        check_signable_set(methods)
    except BadMethod:
        return
    tasks = {method.task for method in methods.methods}
    ends = {task for task in tasks if has_end(methods, task, frozenset())}
    assert ends == tasks


def check_signable_set(methods: MethodSet) -> None:
    check_signable("\n".join(write_method(one) for one in methods.methods))


def write_method(one: Any) -> str:
    rows = [
        ASK.replace('"ask"', f'"{subtask.id}"', 1)
        if subtask.kind
        else f'{{id = "{subtask.id}", task = "{subtask.task}"}}'
        for subtask in one.subtasks
    ]
    return method(one.name, one.task, *rows)


def has_end(methods: MethodSet, task: str, above: frozenset[str]) -> bool:
    """Look for a way to an end by trying every one."""
    return task not in above and any(
        all(s.kind or has_end(methods, s.task, above | {task}) for s in one.subtasks)
        for one in methods.methods
        if one.task == task
    )
