r"""Methods read from TOML: the built-in ones of the package, and an operator's of astra.toml.

An error names the method, the line its table begins in, and the field.

>>> read_methods('[[methods]]\nname = "a"\ntask = "b"\nsubtasks = []')
Traceback (most recent call last):
astra.goals.method_files.BadMethod: methods[0] (line 1) a, subtasks: give 1 to 100 subtasks
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import resources
from typing import Any, NoReturn, cast

from astra.goals.kinds import KINDS, Kind, is_kind
from astra.goals.methods import (
    GOAL_ARGUMENTS,
    NAME,
    PLAIN_FACTS,
    POLICIES,
    VALUED_FACTS,
    Condition,
    Method,
    MethodSet,
    Reference,
    Subtask,
    find_false_reference,
    gives_of,
    parse_condition,
    parse_reference,
)
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput, BadSetting
from astra.trusted.kernel.text import one_line

MOST_METHODS, MOST_SUBTASKS, MOST_ATTEMPTS, LARGEST_COST = 1000, 100, 10, 1_000_000
LONGEST_TOOL = 100
PROPOSED_METHOD, MOST_PROPOSED = "proposed_by_model", 30
_METHOD_FIELDS = ("name", "task", "when", "subtasks", "gives", "cost")
_SUBTASK_FIELDS = ("id", "task", "tool", "arguments", "after", "on_failure", "attempts")
_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*(['\"]?)methods\1[ \t]*\]\]", re.MULTILINE)
_LONG_TEXT = re.compile(r'"""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\'')


class BadMethod(BadSetting):
    code = "bad_method"


@cache
def read_built_in() -> MethodSet:
    text = resources.files("astra.goals").joinpath("methods.toml").read_text(encoding="utf-8")
    return combine(read_methods(text))


def read_methods(text: str) -> tuple[Method, ...]:
    """Read the methods of a TOML text, or name what is wrong and where."""
    try:
        tables: Any = tomllib.loads(text).get("methods", [])
    except tomllib.TOMLDecodeError as error:
        raise BadMethod(f"not TOML: {error}", next_step="mend that line") from None
    if not isinstance(tables, list) or len(cast("list[Any]", tables)) > MOST_METHODS:
        raise BadMethod(
            f"methods is no list of at most {MOST_METHODS} tables",
            next_step="write each method below a line [[methods]]",
        )
    lines = _find_lines(text, len(cast("list[Any]", tables)))
    return tuple(
        _read_method(table, _name_place(number, lines))
        for number, table in enumerate(cast("list[Any]", tables))
    )


def _find_lines(text: str, count: int) -> list[int]:
    """Give the line each table of methods begins in; none where that cannot be told for sure."""
    source = _LONG_TEXT.sub(lambda match: "\n" * match[0].count("\n"), text)
    lines = [source.count("\n", 0, match.start()) + 1 for match in _HEADER.finditer(source)]
    return lines if len(lines) == count else []


def read_proposed_method(task: str, subtasks: Any) -> Method:
    """Read a decomposition that a model proposed, by the same rules as an operator's method."""
    table = {"name": PROPOSED_METHOD, "task": task, "subtasks": subtasks}
    if isinstance(subtasks, list) and len(cast("list[Any]", subtasks)) > MOST_PROPOSED:
        _refuse("the model's proposal", "subtasks", f"give 1 to {MOST_PROPOSED} subtasks")
    method = _read_method(table, "the model's proposal,")
    _check_values(method)
    return method


def combine(*groups: Sequence[Method]) -> MethodSet:
    """Put methods together; names are unique, and every task is a kind or has a method."""
    methods = [method for group in groups for method in group]
    names: set[str] = set()
    tasks = {method.task for method in methods}
    for method in methods:
        if method.name in names:
            _refuse(method.place, "name", "there is another method of this name")
        names.add(method.name)
        for subtask in method.subtasks:
            if not subtask.kind and subtask.task not in tasks:
                _refuse(
                    method.place,
                    f"subtask {subtask.id}, task",
                    f"no method decomposes the task {subtask.task}, and it is no kind",
                )
    return MethodSet(tuple(sorted(methods, key=lambda method: method.name)))


def check_signable(text: str) -> None:
    """Refuse an operator's methods that are wrong, or could never be planned to an end.

    That they end, that somebody gives what they refer to, and that it is read at all, is looked at
    before a signature only: what was signed earlier goes on working.
    """
    own_methods = read_methods(text)
    for method in own_methods:
        _check_conditions(method)
        _check_values(method)
    methods = combine(read_built_in().methods, own_methods).methods
    complete_tasks: set[str] = set()
    endless = list(methods)
    while ending := {m.name: m.task for m in endless if not _find_endless(m, complete_tasks)}:
        complete_tasks.update(ending.values())
        endless = [method for method in endless if method.name not in ending]
    if endless:
        _refuse_endless(endless[0], {method.task: method for method in endless}, complete_tasks)
    _check_supply(methods)


def _check_conditions(method: Method) -> None:
    """Refuse a condition on what is no fact: it would never hold, or with `not` always."""
    for condition in method.when:
        if condition.at_least is not None:
            continue
        name, has_value = condition.name, condition.wanted is not None
        if name not in (VALUED_FACTS if has_value else PLAIN_FACTS):
            facts = ", ".join([*PLAIN_FACTS, *(f"{fact} = …" for fact in VALUED_FACTS)])
            _refuse(method.place, "when", f"{str(condition)!r}: the facts are {facts}")


def _check_values(method: Method) -> None:
    """Refuse arguments that could not be recorded, or hold a reference that is not resolved."""
    for number, subtask in enumerate(method.subtasks):
        place = f"{method.place}, subtasks[{number}]"
        if not subtask.tool.isprintable():
            _refuse(place, "tool", "give printable characters")
        for name, value in subtask.arguments.items():
            field = f"arguments.{one_line(name, 64)}"
            if text := find_false_reference(value):
                _refuse(place, field, f"{one_line(text, 70)} {_NO_REFERENCE}")
            try:
                canonical.encode(value)
            except BadInput as error:
                _refuse(place, field, error.detail)


def _check_supply(methods: Sequence[Method]) -> None:
    """Refuse arguments and outputs of tasks that are referred to and that nobody gives."""
    compound = [(m, step) for m in methods for step in m.subtasks if not step.kind]
    arguments: dict[str, set[str]] = {method.task: set(GOAL_ARGUMENTS) for method in methods}
    outputs: dict[str, set[str]] = {method.task: set() for method in methods}
    for _, subtask in compound:
        arguments[subtask.task].update(subtask.arguments)
    for method in methods:
        outputs[method.task].update(method.gives)
        _refuse_unsupplied(method, arguments[method.task])
    for method, subtask in compound:
        if absent := method.wanted_outputs[subtask.id] - outputs[subtask.task]:
            reason = f"no method of {subtask.task} gives {', '.join(sorted(absent))}"
            _refuse(method.place, f"subtask {subtask.id}, task", reason)


def _refuse_unsupplied(method: Method, supplied: AbstractSet[str]) -> None:
    for subtask in method.subtasks:
        names = {reference.name for reference in subtask.references if not reference.step}
        if absent := sorted(names - supplied):
            _refuse(
                method.place,
                f"subtask {subtask.id}, arguments",
                f"${{{absent[0]}}} is given to {method.task} by nobody; a goal and the subtasks"
                f" that ask for {method.task} give {', '.join(sorted(supplied))}",
            )


def _find_endless(method: Method, complete_tasks: AbstractSet[str]) -> Subtask | None:
    """Give the first subtask of a method that is not known to come to an end."""
    unknown = (s for s in method.subtasks if not s.kind and s.task not in complete_tasks)
    return next(unknown, None)


def _refuse_endless(
    method: Method, methods: Mapping[str, Method], complete_tasks: AbstractSet[str]
) -> NoReturn:
    subtask = _find_endless(method, complete_tasks)
    way: list[str] = []
    step = subtask
    while step and step.task not in way:
        way.append(step.task)
        step = _find_endless(methods[step.task], complete_tasks)
    loop = " → ".join([*way, step.task if step else ""])
    _refuse(
        method.place,
        f"subtask {subtask.id if subtask else ''}, task",
        f"no methods bring it to an end, it comes back to itself: {loop}",
    )


def _read_method(table: Any, place: str) -> Method:
    fields = _read_table(table, place, _METHOD_FIELDS)
    field = _field_reader(fields, place)
    name, task = field("name", _is_name, _NAMED), field("task", _is_name, _NAMED)
    place = f"{place} {name}"
    subtask_tables = fields.get("subtasks")
    if not isinstance(subtask_tables, list) or not 1 <= len(subtask_tables) <= MOST_SUBTASKS:  # pyright: ignore[reportUnknownArgumentType]
        _refuse(place, "subtasks", f"give 1 to {MOST_SUBTASKS} subtasks")
    method = Method(
        name=name,
        task=task,
        when=tuple(_read_conditions(fields.get("when", []), place)),
        subtasks=tuple(
            _read_subtask(table, f"{place}, subtasks[{number}]")
            for number, table in enumerate(cast("list[Any]", subtask_tables))
        ),
        gives=_read_gives(fields.get("gives", {}), place),
        cost=field("cost", _is_cost, f"a whole number from 1 to {LARGEST_COST:,}", 1),
        place=place,
    )
    _check_order(method, place)
    _check_references(method, place)
    return method


def _read_subtask(table: Any, place: str) -> Subtask:
    fields = _read_table(table, place, _SUBTASK_FIELDS)
    field = _field_reader(fields, place)
    subtask = Subtask(
        id=field("id", _is_name, _NAMED),
        task=field("task", _is_task, f"{_NAMED}, or a kind"),
        tool=field("tool", _is_short_text, "a tool", ""),
        arguments=field("arguments", _is_table, "a table", {}),
        after=tuple(field("after", _is_texts, "a list of ids of subtasks", [])),
        on_failure=field("on_failure", _is_policy, ", ".join(POLICIES), "abort"),
        attempts=field("attempts", _is_attempts, f"a whole number from 1 to {MOST_ATTEMPTS}", 1),
    )
    _check_kind(subtask, place)
    return subtask


def _check_kind(subtask: Subtask, place: str) -> None:
    if (subtask.kind is Kind.RUN_TOOL) is not bool(subtask.tool):
        _refuse(place, "tool", "a RUN_TOOL names its tool, and nothing else does")
    if subtask.kind is None or subtask.kind is Kind.RUN_TOOL:
        return
    facts = KINDS[subtask.kind]
    if absent_arguments := facts.needs - subtask.arguments.keys():
        _refuse(place, "arguments", f"{subtask.task} needs {', '.join(sorted(absent_arguments))}")
    if unknown := subtask.arguments.keys() - facts.needs - facts.accepts:
        _refuse(place, "arguments", f"{subtask.task} takes no {', '.join(sorted(unknown))}")
    if subtask.kind is Kind.CHECK and not {"command", "file"} & subtask.arguments.keys():
        _refuse(place, "arguments", "CHECK needs a command or a file")


def _check_order(method: Method, place: str) -> None:
    ids = [subtask.id for subtask in method.subtasks]
    for subtask in method.subtasks:
        if ids.count(subtask.id) > 1:
            _refuse(place, f"subtask {subtask.id}", "there is another subtask of this id")
        for earlier in subtask.after:
            if earlier not in ids:
                _refuse(place, f"subtask {subtask.id}, after", f"there is no subtask {earlier!r}")
    try:
        tuple(TopologicalSorter({s.id: s.after for s in method.subtasks}).static_order())
    except CycleError as error:
        cycle = " → ".join(cast("list[str]", error.args[1]))
        _refuse(place, "after", f"the subtasks wait for each other: {cycle}")


def _check_references(method: Method, place: str) -> None:
    """Let a subtask take only what one that ended before it gives."""
    subtasks = {subtask.id: subtask for subtask in method.subtasks}
    for subtask in method.subtasks:
        earlier = _find_earlier(subtasks, subtask.id)
        for reference in subtask.references:
            if reference.step and reference.step not in earlier:
                _refuse(
                    place,
                    f"subtask {subtask.id}, arguments",
                    f"${{{reference.step}.{reference.name}}} is not of a subtask before it",
                )
            _check_output(subtasks, reference, f"{place}, subtask {subtask.id}")
    for name, reference in method.gives.items():
        if reference.step not in subtasks:
            _refuse(place, f"gives.{name}", f"there is no subtask {reference.step!r}")
        _check_output(subtasks, reference, f"{place}, gives.{name}")


def _check_output(subtasks: Mapping[str, Subtask], reference: Reference, place: str) -> None:
    outputs = gives_of(subtasks[reference.step]) if reference.step else None
    if outputs is not None and reference.name not in outputs:
        task = subtasks[reference.step].task
        _refuse(
            place, "arguments", f"{task} gives {', '.join(sorted(outputs))}, no {reference.name}"
        )


def _find_earlier(subtasks: Mapping[str, Subtask], start: str) -> frozenset[str]:
    earlier: set[str] = set()
    open_ids = list(subtasks[start].after)
    while open_ids:
        if (step := open_ids.pop()) not in earlier:
            earlier.add(step)
            open_ids += subtasks[step].after
    return frozenset(earlier)


def _read_conditions(value: Any, place: str) -> Iterator[Condition]:
    if not _is_texts(value):
        _refuse(place, "when", "give a list of texts")
    for text in value:
        condition = parse_condition(text)
        if condition is None:
            _refuse(place, "when", f"{one_line(text, 100)!r} is no condition")
        yield condition


def _read_gives(value: Any, place: str) -> dict[str, Reference]:
    if not isinstance(value, dict):
        _refuse(place, "gives", "give a table of outputs")
    outputs: dict[str, Reference] = {}
    for name, text in cast("dict[str, Any]", value).items():
        reference = parse_reference(text) if isinstance(text, str) else None
        if reference is None or not reference.step or not _is_name(name):
            _refuse(place, f"gives.{one_line(name, 64)}", "write it as ${subtask.output}")
        outputs[name] = reference
    return outputs


_NO_REFERENCE = (
    "is no reference: write ${name} or ${step.output} in a text of its own, not inside a list or a"
    " table, and a variable of a shell as $NAME"
)
_NAMED = "a name of lower-case letters, digits and _"
_MISSING = object()


def _read_table(table: Any, place: str, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(table, dict):
        _refuse(place, "", "write it as a table")
    fields = cast("dict[str, Any]", table)
    for key in fields:
        if key not in known:
            _refuse(place, one_line(key, 64), f"no such field; there are {', '.join(known)}")
    return fields


def _field_reader(fields: Mapping[str, Any], place: str) -> Callable[..., Any]:
    def read(
        name: str, accepts: Callable[[Any], bool], wanted: str, default: Any = _MISSING
    ) -> Any:
        value = fields.get(name, default)
        if value is _MISSING or not (value is default or accepts(value)):
            _refuse(place, name, f"give {wanted}")
        return value

    return read


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _is_task(value: Any) -> bool:
    return _is_name(value) or (isinstance(value, str) and is_kind(value))


def _is_short_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TOOL


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_policy(value: Any) -> bool:
    return value in POLICIES


def _is_attempts(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST_ATTEMPTS


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[Any]", value)
    )


def _is_cost(value: Any) -> bool:
    return type(value) is int and 1 <= value <= LARGEST_COST


def _name_place(number: int, lines: Sequence[int]) -> str:
    line = f" (line {lines[number]})" if number < len(lines) else ""
    return f"methods[{number}]{line}"


def _refuse(place: str, field: str, what: str) -> NoReturn:
    location = f"{place}, {field}" if field else place
    raise BadMethod(f"{location}: {what}", next_step="mend that field", key="methods")
