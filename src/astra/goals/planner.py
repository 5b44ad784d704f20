"""The planner: a task and methods in, a graph of typed nodes out. Pure; same input, same graph.

The search finds the cheapest way to decompose a task completely. Whether a way exists depends on
the task, the names of its arguments and the outputs that are wanted of it, and on nothing else, so
ways are compared once for each such demand and not once for each place: no search is exponential,
and methods that only lead back to themselves have no finite cost and are never chosen.

A node's id is made of the goal and of its path, so that it stays the same when a goal is planned
again in the same way.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from astra.goals.graph import Graph, Node
from astra.goals.kinds import Kind
from astra.goals.methods import (
    Beliefs,
    Facts,
    Method,
    MethodSet,
    Part,
    Reference,
    Subtask,
    split_parts,
)
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.ids import id_from_content

MOST_NODES = 500
MOST_TEXT = 8_000_000
"""How many characters the arguments of a graph may come to, counted as often as they are passed on:
methods that repeat what they were given would multiply it with every level."""


class NoPlan(Refused):
    code = "no_plan"


@dataclass(frozen=True)
class Demand:
    """What is asked of a method: a task, with these arguments, for these outputs."""

    task: str
    arguments: frozenset[str]
    outputs: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Everything a plan depends on besides the goal."""

    methods: MethodSet
    facts: Facts
    beliefs: Beliefs


def plan_goal(goal: str, task: str, arguments: Mapping[str, str], situation: Situation) -> Graph:
    """Decompose a goal's task completely, at the least cost, or say why no method fits."""
    demand = Demand(task, frozenset(arguments), frozenset())
    options = _collect_options(demand, situation)
    choices = _choose_methods(options)
    if demand not in choices:
        reason = _explain_demand(demand, situation, choices, set())
        raise NoPlan(reason, next_step="add a method to astra.toml, or give the goal another task")
    expansion = _Expansion(goal=goal, choices=choices)
    parts = {name: [value] for name, value in arguments.items()}
    expansion.expand(demand, parts, path=task, after=())
    nodes = tuple(expansion.nodes)
    tuple(TopologicalSorter({node.id: node.after for node in nodes}).static_order())
    return Graph(
        task=task,
        method=choices[demand].name,
        methods_digest=situation.methods.digest,
        nodes=nodes,
    )


def _collect_options(start: Demand, situation: Situation) -> dict[Demand, list[Method]]:
    """Give, for everything that may have to be decomposed, the methods that could do it."""
    options: dict[Demand, list[Method]] = {}
    by_task: dict[str, list[Method]] = {}
    for method in situation.methods.methods:
        if method.applies(situation.facts, situation.beliefs):
            by_task.setdefault(method.task, []).append(method)
    open_demands = [start]
    while open_demands:
        demand = open_demands.pop()
        if demand in options:
            continue
        options[demand] = [
            method
            for method in by_task.get(demand.task, ())
            if method.argument_names <= demand.arguments and demand.outputs <= method.gives.keys()
        ]
        for method in options[demand]:
            open_demands += _demands_of(method)
    return options


def _choose_methods(options: Mapping[Demand, list[Method]]) -> dict[Demand, Method]:
    """Find the cheapest method of each demand; one that has no complete way is left out."""
    costs: dict[Demand, float] = dict.fromkeys(options, math.inf)
    choices: dict[Demand, Method] = {}
    needs = {method.name: _demands_of(method) for methods in options.values() for method in methods}
    improved = True
    while improved:
        improved = False
        for demand, methods in options.items():
            for method in methods:
                cost = method.cost + sum(costs[needed] for needed in needs[method.name])
                if cost < costs[demand]:
                    costs[demand], choices[demand], improved = cost, method, True
    return choices


def _demands_of(method: Method) -> list[Demand]:
    return [_demand_of(method, subtask) for subtask in method.subtasks if subtask.kind is None]


def _demand_of(method: Method, subtask: Subtask) -> Demand:
    outputs = method.wanted_outputs[subtask.id]
    return Demand(subtask.task, frozenset(subtask.arguments), outputs)


Parts = list[Any]
"""Text, or `[node, output]` for what a node gives."""


@dataclass(kw_only=True)
class _Expansion:
    """One walk down the chosen methods, collecting nodes."""

    goal: str
    choices: Mapping[Demand, Method]
    nodes: list[Node] = field(default_factory=list[Node])
    _ids: set[str] = field(default_factory=set[str])
    _characters: int = 0

    def expand(
        self, demand: Demand, arguments: Mapping[str, Parts], *, path: str, after: tuple[str, ...]
    ) -> tuple[tuple[str, ...], dict[str, tuple[str, str]]]:
        """Add the nodes of a task; gives its last nodes, and which node has which output."""
        method = self.choices[demand]
        sinks: dict[str, tuple[str, ...]] = {}
        outputs: dict[tuple[str, str], tuple[str, str]] = {}
        for subtask in method.in_order:
            before = (
                tuple(dict.fromkeys(node for step in subtask.after for node in sinks[step]))
                or after
            )
            values = {
                name: list(self._bind(value, arguments, outputs))
                for name, value in subtask.arguments.items()
            }
            sinks[subtask.id], subtask_outputs = self._expand_subtask(
                method, subtask, values, path=f"{path}/{subtask.id}", after=before
            )
            outputs |= {(subtask.id, name): place for name, place in subtask_outputs.items()}
        waited_for = {step for subtask in method.subtasks for step in subtask.after}
        ends = [node for step, nodes in sinks.items() if step not in waited_for for node in nodes]
        subtask_outputs = {
            name: outputs[ref.step, ref.name]
            for name, ref in method.gives.items()
            if (ref.step, ref.name) in outputs
        }
        return tuple(dict.fromkeys(ends)), subtask_outputs

    def _expand_subtask(
        self,
        method: Method,
        subtask: Subtask,
        values: Mapping[str, Parts],
        *,
        path: str,
        after: tuple[str, ...],
    ) -> tuple[tuple[str, ...], dict[str, tuple[str, str]]]:
        if subtask.kind is None:
            return self.expand(_demand_of(method, subtask), values, path=path, after=after)
        node = self._add_node(subtask.kind, method, subtask, values, path=path, after=after)
        return (node.id,), {name: (node.id, name) for name in node.gives}

    def _add_node(
        self,
        kind: Kind,
        method: Method,
        subtask: Subtask,
        values: Mapping[str, Parts],
        *,
        path: str,
        after: tuple[str, ...],
    ) -> Node:
        if len(self.nodes) >= MOST_NODES:
            raise make_too_large(f"the graph has more than {MOST_NODES} nodes")
        identifier = id_from_content("node", self.goal, "/", path, taken=self._ids.__contains__)
        self._ids.add(identifier)
        node = Node(
            id=identifier,
            kind=kind,
            path=path,
            method=method.name,
            tool=subtask.tool,
            arguments=dict(values),
            after=after,
            on_failure=subtask.on_failure,
            attempts=subtask.attempts,
        )
        self.nodes.append(node)
        return node

    def _bind(
        self,
        value: Any,
        arguments: Mapping[str, Parts],
        outputs: Mapping[tuple[str, str], tuple[str, str]],
    ) -> Iterator[Any]:
        """Resolve the references of a method's text; what it resolves to is not read again."""
        if not isinstance(value, str):
            yield {"value": value}
            return
        for part in split_parts(value):
            for resolved in _bind_part(part, arguments, outputs):
                self._count_text(resolved)
                yield resolved

    def _count_text(self, part: Any) -> None:
        self._characters += len(part) if isinstance(part, str) else 1
        if self._characters > MOST_TEXT:
            raise make_too_large(f"the arguments of its tasks have over {MOST_TEXT:,} characters")


def make_too_large(detail: str) -> NoPlan:
    return NoPlan(
        detail,
        code="graph_too_large",
        next_step="set a smaller goal, or make its methods shorter",
    )


def _bind_part(
    part: Part,
    arguments: Mapping[str, Parts],
    outputs: Mapping[tuple[str, str], tuple[str, str]],
) -> Parts:
    if not isinstance(part, Reference):
        return [part]
    if part.step:
        node, output = outputs[part.step, part.name]
        return [{"node": node, "output": output}]
    return arguments[part.name]


def _explain_demand(
    demand: Demand,
    situation: Situation,
    choices: Mapping[Demand, Method],
    explained: set[Demand],
) -> str:
    """Say why no method does what is asked, down to the last reason; each demand once."""
    explained.add(demand)
    methods = situation.methods.for_task(demand.task)
    if not methods:
        return f"no method decomposes {demand.task!r}"
    reasons = [
        _explain_unfit(method, demand, situation)
        or _explain_incomplete(method, situation, choices, explained)
        for method in methods
    ]
    return f"no method for {demand.task!r} fits: {'; '.join(reasons)}"


def _explain_unfit(method: Method, demand: Demand, situation: Situation) -> str:
    """Say what a method lacks by itself, or nothing."""
    unmet = [
        str(condition)
        for condition in method.when
        if not condition.holds(situation.facts, situation.beliefs)
    ]
    if unmet:
        return f"{method.name} needs {', '.join(unmet)}"
    if absent_arguments := method.argument_names - demand.arguments:
        names = ", ".join(f"${{{name}}}" for name in sorted(absent_arguments))
        argument_names = ", ".join(sorted(demand.arguments)) or "no arguments"
        return f"{method.name} refers to {names}, and its task was given {argument_names}"
    if absent_outputs := demand.outputs - method.gives.keys():
        return f"{method.name} does not give {', '.join(sorted(absent_outputs))}"
    return ""


def _explain_incomplete(
    method: Method,
    situation: Situation,
    choices: Mapping[Demand, Method],
    explained: set[Demand],
) -> str:
    """Say which part of a method has no complete way."""
    needed = next(demand for demand in _demands_of(method) if demand not in choices)
    if needed in explained:
        return f"{method.name} needs {needed.task!r}, for which none fits"
    return f"{method.name}: {_explain_demand(needed, situation, choices, explained)}"
