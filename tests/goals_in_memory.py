"""Goals over a gate in memory: performers that a test scripts, and signatures of its operator."""

from collections import Counter
from dataclasses import dataclass, field

from astra.goals.graph import Node
from astra.goals.kinds import Kind
from astra.goals.method_files import combine, read_methods
from astra.goals.model import Goal
from astra.goals.ports import Done, TaskRun, Waiting
from astra.goals.running import TaskRunner
from astra.testing import GateInMemory
from astra.trusted.kernel.errors import AstraError

STORY = "cor_00000000000000bb"


@dataclass
class Scripted:
    """Does what the test said for a path's last part; succeeds where nothing was said."""

    repeatable: bool = False
    model_calls: int = 0
    answers: dict[str, list[Done | Waiting | AstraError]] = field(default_factory=dict)
    decided: dict[str, Done] = field(default_factory=dict)
    found: dict[str, Waiting] = field(default_factory=dict)
    begun: Counter[str] = field(default_factory=Counter)
    arguments: dict[str, object] = field(default_factory=dict)

    def is_repeatable(self, _node: Node) -> bool:
        return self.repeatable

    def begin(self, run: TaskRun) -> Done | Waiting:
        name = run.node.path.rpartition("/")[2]
        self.begun[name] += 1
        self.arguments[name] = dict(run.arguments)
        scripted = self.answers.get(name)
        answer = scripted.pop(0) if scripted else Done(outputs={"notes": f"from {name}"})
        if isinstance(answer, AstraError):
            raise answer
        return answer

    def look(self, _run: TaskRun, on: str) -> Done | Waiting | None:
        return self.decided.get(on)

    def recover(self, run: TaskRun) -> Done | Waiting | None:
        return self.found.get(run.node.path.rpartition("/")[2])


class GoalsInMemory:
    def __init__(self, methods: str) -> None:
        self.gate = GateInMemory()
        self.gate.methods = combine(read_methods(methods))
        self.service = self.gate.goals
        self.book, self.control = self.service.book, self.service.control
        self.performer = Scripted()
        self.runner = self.new_runner()

    def new_runner(self) -> TaskRunner:
        """Stand for another daemon on the same ledger."""
        return TaskRunner(
            goals=self.book,
            clock=self.gate.root.time,
            adoption=self.service.adoption,
            control=self.control,
            performers=dict.fromkeys(Kind, self.performer),
            seconds=lambda: 0.0,
        )

    def propose(self, **fields: object) -> Goal:
        wanted = {"text": "make it so", "task": "top", **fields}
        return self.service.adoption.create(wanted, actor="agent:test", correlation=STORY)

    def adopt(self, goal: Goal) -> None:
        approval = self.service.adoption.ask(goal.id)
        self.gate.approve(approval)
        self.service.adoption.fulfil(approval)

    def adopted(self, **fields: object) -> Goal:
        goal = self.propose(**fields)
        self.adopt(goal)
        return self.book.get(goal.id)

    def run_all(self, most: int = 200, *, go_on: bool = False) -> None:
        """Do what is due until nothing is but waiting; `go_on`: as the daemon's workers do."""
        for _ in range(most):
            items = self.runner.list_due()
            before = self.gate.root.ledger.head().sequence
            for item in items:
                (self.runner.run_on if go_on else self.runner.run)(item)
            if self.gate.root.ledger.head().sequence == before:
                return
        raise AssertionError("it never came to rest")

    def states(self, goal: Goal) -> dict[str, str]:
        tasks = self.book.tasks(goal.id)
        return {task.path.rpartition("/")[2]: task.state for task in tasks}

    def state(self, goal: Goal) -> str:
        return self.book.get(goal.id).state

    def events(self, *types: str) -> list[str]:
        return [record.type for record in self.gate.root.ledger.records(*types, limit=10_000)]
