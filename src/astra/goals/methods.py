r"""Methods as data: how a task becomes smaller ones. No method holds code.

Text of the form `${name}` in an argument stands for an argument of the task that is decomposed,
`${step.output}` for what an earlier subtask gives. Both are resolved by the planner into parts, so
that text somebody wrote is never read for references again.

>>> parse_condition("not has_tests")
Condition(name='has_tests', wanted=None, negated=True, at_least=None)
>>> parse_condition("belief fix_bug works >= 0.5").at_least
0.5
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Any, cast

from astra.goals.kinds import KINDS, Kind, is_kind
from astra.trusted.kernel import canonical

ABORT, SKIP, CONTINUE = "abort", "skip", "continue_if_any"
POLICIES = (ABORT, SKIP, CONTINUE)
GOAL_ARGUMENTS = ("text", "goal", "category")
"""What a goal brings to the method of its task."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_REFERENCE = re.compile(r"\$\{([a-z][a-z0-9_]{0,63})(?:\.([a-z][a-z0-9_]{0,63}))?\}")
_LIKE_REFERENCE = re.compile(r"\$\{[^{}]{0,64}\}?")
_CONDITION = re.compile(r"(not\s+)?([a-z][a-z0-9_.]{0,63})(?:\s*=\s*(\S.{0,99}))?")
_BELIEF = re.compile(r"belief\s+(\S.{0,199}?)\s*>=\s*(0(?:\.\d{1,4})?|1(?:\.0{1,4})?)")
PLAIN_FACTS = ("app", "code_write", "has_tests", "model", "research")
VALUED_FACTS = ("category", "file", "flag", "language", "source")
"""What conditions may ask; of the latter `name = value`, where several values may hold at once."""
Facts = Mapping[str, str | bool | frozenset[str]]
Beliefs = Mapping[str, float]


@dataclass(frozen=True)
class Reference:
    """An argument of the task (`step` empty), or what a subtask gives."""

    step: str
    name: str


Part = str | Reference


@dataclass(frozen=True)
class Condition:
    name: str
    wanted: str | None = None
    negated: bool = False
    at_least: float | None = None

    def holds(self, facts: Facts, beliefs: Beliefs) -> bool:
        if self.at_least is not None:
            return beliefs.get(self.name, 0.0) >= self.at_least
        value = facts.get(self.name, False)
        if isinstance(value, frozenset):
            return (self.wanted in value) is not self.negated
        matches = value == self.wanted if self.wanted is not None else bool(value)
        return matches is not self.negated

    def __str__(self) -> str:
        if self.at_least is not None:
            return f"belief {self.name} >= {self.at_least}"
        value_text = "" if self.wanted is None else f" = {self.wanted}"
        return f"{'not ' if self.negated else ''}{self.name}{value_text}"


def _no_values() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Subtask:
    id: str
    task: str
    tool: str = ""
    """Which tool a RUN_TOOL calls: always named by the method, never by an output."""
    arguments: Mapping[str, Any] = field(default_factory=_no_values)
    after: tuple[str, ...] = ()
    on_failure: str = ABORT
    attempts: int = 1

    @cached_property
    def kind(self) -> Kind | None:
        return Kind(self.task) if is_kind(self.task) else None

    @cached_property
    def references(self) -> list[Reference]:
        return [
            part
            for value in self.arguments.values()
            for part in split_parts(value)
            if isinstance(part, Reference)
        ]


@dataclass(frozen=True, kw_only=True)
class Method:
    name: str
    task: str
    when: tuple[Condition, ...] = ()
    subtasks: tuple[Subtask, ...]
    gives: Mapping[str, Reference] = field(default_factory=_no_values)
    """Outputs of the task, each with the subtask that has it."""
    cost: int = 1
    place: str = field(default="", compare=False)
    """Where it was written, for errors."""

    def applies(self, facts: Facts, beliefs: Beliefs) -> bool:
        return all(condition.holds(facts, beliefs) for condition in self.when)

    @cached_property
    def in_order(self) -> tuple[Subtask, ...]:
        """Give the subtasks so that each comes behind those that it waits for."""
        subtasks = {subtask.id: subtask for subtask in self.subtasks}
        order = TopologicalSorter({subtask.id: subtask.after for subtask in self.subtasks})
        return tuple(subtasks[step] for step in order.static_order())

    @cached_property
    def wanted_outputs(self) -> Mapping[str, frozenset[str]]:
        """Name what the others, and the task itself, take from each subtask."""
        outputs: dict[str, set[str]] = {subtask.id: set() for subtask in self.subtasks}
        references = (reference for subtask in self.subtasks for reference in subtask.references)
        for reference in (*self.gives.values(), *references):
            if reference.step:
                outputs[reference.step].add(reference.name)
        return {step: frozenset(names) for step, names in outputs.items()}

    @cached_property
    def argument_names(self) -> frozenset[str]:
        references = (reference for subtask in self.subtasks for reference in subtask.references)
        return frozenset(reference.name for reference in references if not reference.step)


@dataclass(frozen=True)
class MethodSet:
    methods: tuple[Method, ...]

    def for_task(self, task: str) -> list[Method]:
        return [method for method in self.methods if method.task == task]

    def tasks(self) -> frozenset[str]:
        return frozenset(method.task for method in self.methods)

    @cached_property
    def digest(self) -> str:
        """Name exactly these methods: a signature over a graph covers this too."""
        document = [_describe_method(method) for method in self.methods]
        return hashlib.sha256(canonical.encode(document)).hexdigest()


def parse_condition(text: str) -> Condition | None:
    """Read a condition; None where it is none."""
    if belief := _BELIEF.fullmatch(text.strip()):
        return Condition(name=belief[1], at_least=float(belief[2]))
    if fact := _CONDITION.fullmatch(text.strip()):
        return Condition(name=fact[2], wanted=fact[3], negated=bool(fact[1]))
    return None


def split_parts(value: Any) -> list[Part]:
    """Split a text of a method into what it says and what it refers to."""
    if not isinstance(value, str):
        return []
    parts: list[Part] = []
    end = 0
    for match in _REFERENCE.finditer(value):
        if match.start() > end:
            parts.append(value[end : match.start()])
        step, name = (match[1], match[2]) if match[2] else ("", match[1])
        parts.append(Reference(step, name))
        end = match.end()
    return [*parts, value[end:]] if end < len(value) or not parts else parts


def find_false_reference(value: Any) -> str:
    """Give the first `${…}` of a value that would stay as it is instead of being resolved.

    >>> find_false_reference("${text} of ${Look.notes}")
    '${Look.notes}'
    >>> find_false_reference({"path": ["${text}"]})
    '${text}'
    """
    if isinstance(value, str):
        texts = [part for part in split_parts(value) if isinstance(part, str)]
    else:
        texts = list(list_texts(value))
    matches = (_LIKE_REFERENCE.search(text) for text in texts)
    return next((match[0] for match in matches if match), "")


def list_texts(value: Any) -> Iterator[str]:
    """Give every text inside lists and tables, names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from list_texts(item)
    elif isinstance(value, dict):
        for name, item in cast("dict[str, Any]", value).items():
            yield name
            yield from list_texts(item)


def parse_reference(text: str) -> Reference | None:
    parts = split_parts(text)
    return parts[0] if len(parts) == 1 and isinstance(parts[0], Reference) else None


def gives_of(subtask: Subtask) -> frozenset[str] | None:
    """Name what a subtask of a kind gives; None where that is its method's to say."""
    return KINDS[subtask.kind].gives if subtask.kind else None


def _describe_method(method: Method) -> dict[str, Any]:
    return {
        "name": method.name,
        "task": method.task,
        "cost": method.cost,
        "when": [str(condition) for condition in method.when],
        "gives": {name: [ref.step, ref.name] for name, ref in method.gives.items()},
        "subtasks": [
            {
                "id": subtask.id,
                "task": subtask.task,
                "tool": subtask.tool,
                "arguments": dict(subtask.arguments),
                "after": list(subtask.after),
                "on_failure": subtask.on_failure,
                "attempts": subtask.attempts,
            }
            for subtask in method.subtasks
        ],
    }
