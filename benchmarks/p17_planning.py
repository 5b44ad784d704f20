"""P17: planning a goal with 200 methods into a graph of 500 nodes, and running 10,000 nodes.

Prints a JSON object for each. There is no reference to compare with. The methods are read once, as
a daemon does; what is measured is the search, the graph and its check. The nodes are those of 20
such graphs, as one has at most 500, on a real data root with the daemon's own loop and 10 workers:
each is claimed durably, its signature checked, does nothing, and its end is recorded durably. On a
busy machine seconds are those of its other work, too, so this is given by processor time as well:
what a core of its own would do.
"""

import tempfile
import time
from collections import Counter
from pathlib import Path

import measuring
from astra.bootstrap.runtime import Runtime
from astra.flow import lanes
from astra.flow.background import Background
from astra.goals import events
from astra.goals.adoption import Adoption
from astra.goals.graph import Node
from astra.goals.kinds import Kind
from astra.goals.method_files import combine, read_methods
from astra.goals.planner import Situation, plan_goal
from astra.goals.ports import Done, TaskRun, Waiting
from astra.goals.proposals import ModelProposals
from astra.goals.running import TaskRunner
from astra.goals.states import State
from astra.trusted.approvals import desk
from astra.trusted.files import operators_key
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain
from astra.trusted.policy import authority
from p14_burst import PASSPHRASE, data_root

METHODS, NODES, ROUNDS = 200, 500, 20
GOALS, TARGET = 20, 1_000.0


def main() -> None:
    quick = measuring.is_quick()
    methods = combine(read_methods(_write_methods()))
    situation = Situation(methods=methods, facts={}, beliefs={})
    measure_planning(situation, 3 if quick else ROUNDS)
    measure_dispatch(situation, 1 if quick else GOALS)


class NoTask:
    """A task that does nothing, as fast as that goes."""

    model_calls = 0

    def is_repeatable(self, _node: Node) -> bool:
        return True

    def begin(self, _run: TaskRun) -> Done | Waiting:
        return Done(outputs={"notes": ""})

    def look(self, _run: TaskRun, _on: str) -> Done | Waiting | None:
        return None

    def recover(self, _run: TaskRun) -> Done | Waiting | None:
        return None


class NoModel:
    def is_there(self) -> bool:
        return False

    def propose(self, *_asked: object) -> object:
        raise AssertionError("no model is asked here")


def measure_dispatch(situation: Situation, goals: int) -> None:
    with tempfile.TemporaryDirectory() as folder, data_root(Path(folder)) as runtime:
        service = runtime.goals
        adoption = Adoption(
            goals=service.book, desk=runtime.desk, situation=lambda _goal: situation
        )
        key = operators_key.unlock(authority.find_keys(runtime.ledger).root_id, PASSPHRASE)
        for number in range(goals):
            adopt_goal(runtime, adoption, key, number)
        runner = TaskRunner(
            goals=service.book,
            clock=runtime.clock,
            adoption=adoption,
            control=service.control,
            performers=dict.fromkeys(Kind, NoTask()),
        )
        proposals = ModelProposals(adoption=adoption, decomposer=NoModel())
        lane = lanes.goals_lane(runner, proposals)
        background = Background(runtime.ledger, runtime.clock, [lane])
        began, began_processor = time.perf_counter(), time.process_time()
        background.start()
        while service.book.count(State.ADOPTED) or service.book.in_state(State.EXECUTING, limit=1):
            runtime.ledger.wait(runtime.ledger.head().sequence + 500, 0.1)
        seconds = time.perf_counter() - began
        processor = time.process_time() - began_processor
        background.stop()
        check_complete(runtime, goals * NODES)
    name = f"P17 nodes/s, {goals * NODES:,} that do nothing, 10 workers, none twice, none lost"
    measuring.report(name, goals * NODES / seconds, TARGET, measuring.at_least(1))
    name = f"{name}, by processor time"
    measuring.report(name, goals * NODES / processor, TARGET, measuring.at_least(1))


def adopt_goal(runtime: Runtime, adoption: Adoption, key: KeyPair, number: int) -> None:
    fields = {"text": f"goal {number}", "task": "top"}
    goal = adoption.create(fields, actor="bench", correlation=f"cor_{number:016x}")
    approval = adoption.ask(goal.id)
    content = desk.content(runtime.desk.get(approval))
    statement = authority.draft(
        "approval_granted",
        content,
        root_id=authority.find_keys(runtime.ledger).root_id,
        head=runtime.ledger.head(),
        now=runtime.clock.now(),
    )
    runtime.desk.grant(approval, authority.sign(statement, key))
    adoption.fulfil(approval)


def check_complete(runtime: Runtime, nodes: int) -> None:
    claims, ends = Counter[str](), Counter[str]()
    for counted, type_ in ((claims, events.TASK_CLAIMED), (ends, events.TASK_FINISHED)):
        rows = runtime.ledger.query("SELECT line FROM record WHERE type = ?", [type_])
        tasks = (chain.parse(line).data for (line,) in rows)
        counted.update(f"{task['goal']} {task['node']}" for task in tasks)
    assert len(claims) == len(ends) == nodes, "a node is missing"
    assert set(claims.values()) == set(ends.values()) == {1}, "a node ran twice"


def measure_planning(situation: Situation, rounds: int) -> None:
    took = []
    for number in range(rounds):
        began = time.perf_counter()
        graph = plan_goal(f"goal_{number:08x}", "top", {"text": "x"}, situation)
        took.append(time.perf_counter() - began)
        assert len(graph.nodes) == NODES
    measuring.report(
        "P17 planning, 200 methods, 500 nodes (s)",
        min(took),
        None,
        measuring.at_most(0.05),
    )


def _write_methods() -> str:
    """Write a top method of 50 tasks, each with 10 nodes, and others that cost more."""
    rows = ", ".join(
        f'{{id = "s{n}", task = "t{n}", arguments = {{text = "${{text}}"}}}}' for n in range(50)
    )
    texts = [f'[[methods]]\nname = "top"\ntask = "top"\nsubtasks = [{rows}]']
    for number in range(METHODS - 1):
        nodes = ", ".join(
            f'{{id = "n{n}", task = "ASK_OPERATOR", arguments = {{question = "${{text}}"}},'
            f" after = [{_after(n)}]}}"
            for n in range(10)
        )
        texts.append(
            f'[[methods]]\nname = "m{number}"\ntask = "t{number % 50}"\ncost = {number + 1}\n'
            f"subtasks = [{nodes}]"
        )
    return "\n".join(texts)


def _after(number: int) -> str:
    return f'"n{number // 2}"' if number > 1 else ""


if __name__ == "__main__":
    main()
