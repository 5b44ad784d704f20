"""Plans that run in memory: a scripted model, tools that note what they do, a clock that is set."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from astra.bootstrap.planning import Running, make_running
from astra.plans.door import PlanDoor
from astra.plans.model import AgentPlan, Step
from astra.plans.ports import (
    ChangeOutcomes,
    ModelUnavailable,
    NoOutcomes,
    Prompt,
    Reply,
    Usage,
)
from astra.plans.states import State
from astra.testing import CounterInMemory, GateInMemory
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.ledger import views
from astra.trusted.policy.call import Footprint, Tier
from astra.trusted.sandbox.ports import BoxRequest, Outcome

STORY = "cor_00000000000000aa"
NOTES = "/data/persona_space/notes"


class PathArguments(Arguments):
    path: str
    content: str = ""


class UrlArguments(Arguments):
    url: str


class RunArguments(Arguments):
    command: list[str]


class Said(Answer):
    text: str


class ScriptedModel:
    """A model that says what a test wrote down: documents, errors, or functions of the prompt."""

    name = "test:scripted"

    def __init__(self, *sayings: Any) -> None:
        self.sayings = list(sayings)
        self.prompts: list[Prompt] = []

    def ask(self, prompt: Prompt, *, form: type[BaseModel]) -> Reply:
        assert issubclass(form, BaseModel)
        self.prompts.append(prompt)
        saying = self.sayings.pop(0) if self.sayings else done()
        if callable(saying):
            saying = saying(prompt)
        if isinstance(saying, BaseException):
            raise saying
        text = saying if isinstance(saying, str) else ""
        usage = Usage(input_tokens=100, output_tokens=10)
        return Reply(document=saying, text=text, usage=usage)

    def last(self) -> str:
        return "\n".join(self.prompts[-1].data)


def tool(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"kind": "tool", "tool": name, "arguments": arguments}


def write(path: str, content: str = "x", **more: Any) -> dict[str, Any]:
    return {**tool("write_file", path=path, content=content), **more}


def done(output: str = "it is done") -> dict[str, Any]:
    return {"kind": "done", "output": output}


def down() -> ModelUnavailable:
    return ModelUnavailable("the model did not answer", next_step="look at it")


def document(*, checkpoints: int = 1, budget: int = 30, **manifest: Any) -> dict[str, Any]:
    granted = {"skills": ["files"], "write_paths": [NOTES], "read_paths": [], **manifest}
    return {
        "goals": ["Tidy the notes"],
        "checkpoints": [
            {"title": f"Stage {n}", "description": f"Do part {n}", "step_budget": budget}
            for n in range(checkpoints)
        ],
        "manifest": granted,
        "estimated_duration_minutes": 30,
    }


class NoBoxes:
    def __init__(self) -> None:
        self.ended: list[str] = []

    def run(self, request: BoxRequest) -> Outcome:
        raise AssertionError(f"no box was to run {request.command}")

    def end(self, label: str, why: str) -> int:
        self.ended.append(label)
        return 1


class Heard:
    def __init__(self) -> None:
        self.told: list[tuple[tuple[str, ...], str, dict[str, int]]] = []

    def tell(self, channels: Sequence[str], agent_id: str, kinds: Mapping[str, int]) -> None:
        self.told.append((tuple(channels), agent_id, dict(kinds)))


class RefusedOnce:
    """The hosts that the next box is refused: named by a test, and told once."""

    def __init__(self) -> None:
        self.hosts: list[tuple[str, int]] = []

    def read_since(self, plan: AgentPlan, sequence: int) -> tuple[tuple[str, int], ...]:
        assert plan.sequence < sequence
        found, self.hosts = tuple(self.hosts), []
        return found


class NotedCoder:
    def __init__(self) -> None:
        self.instructions: list[str] = []

    def write(self, plan: AgentPlan, instructions: str) -> str:
        self.instructions.append(instructions)
        return f"proposed for {plan.id}"


class PlansAtWork(CounterInMemory):
    """Plans over a counter in memory; steps run in the thread that asks for them."""

    def __init__(self, gate: GateInMemory | None = None, *, most_at_once: int = 3) -> None:
        self.effects: list[tuple[str, str]] = []
        self.files: dict[str, str] = {}
        self.before_effect: Callable[[str], None] = lambda _name: None
        super().__init__(*self._tools(), gate=gate)
        self.why_closed = ""
        self.boxes, self.heard, self.coder = NoBoxes(), Heard(), NotedCoder()
        self.refused = RefusedOnce()
        self.tested: ChangeOutcomes = NoOutcomes()
        self.most_at_once = most_at_once
        self.running = self.new_running()

    @property
    def ledger(self) -> Any:
        return self.gate.root.ledger

    @property
    def register(self) -> Any:
        return self.gate.planning.register

    @property
    def clock(self) -> Any:
        return self.gate.root.clock

    def new_running(self) -> Running:
        """Stand for another daemon on the same ledger."""
        return make_running(
            self.gate.planning,
            door=PlanDoor(lambda: self.counter, self.gate.registry),
            coder=self.coder,
            refusals=self.refused,
            boxes=self.boxes,
            notifier=self.heard,
            closed=lambda: self.why_closed,
            most_at_once=self.most_at_once,
            outcomes=self.tested,
        )

    def script(self, *sayings: Any) -> ScriptedModel:
        model = ScriptedModel(*sayings)
        self.gate.models.model = model
        return model

    def cut_off(self, *later: Any) -> AgentPlan:
        """Let the process die while the model thinks of a plan's first step; then it says more."""

        def crash(_prompt: Any) -> Any:
            raise KeyboardInterrupt

        self.script(crash, *later)
        plan = self.approved()
        with pytest.raises(KeyboardInterrupt):
            self.run(plan)
        return plan

    def approved(
        self, plan: dict[str, Any] | None = None, *, actor: str = "agent:test", **manifest: Any
    ) -> AgentPlan:
        made = self.gate.planning.plans.draft(
            plan or document(**manifest),
            actor=actor,
            correlation=STORY,
            channels=["phone"],
        )
        self.gate.approve(self.gate.planning.plans.ask(made.id))
        self.gate.steps().run_due()
        return self.get(made)

    def run(self, plan: AgentPlan, most: int = 200) -> AgentPlan:
        """Take steps until none can follow at once."""
        for _ in range(most):
            if not self.running.runner.step(plan.id):
                break
        return self.get(plan)

    def get(self, plan: AgentPlan) -> AgentPlan:
        return self.register.get(plan.id)

    def steps(self, plan: AgentPlan) -> list[Step]:
        return self.register.steps(plan.id)

    def outcomes(self, plan: AgentPlan) -> list[str | None]:
        return [step.outcome for step in self.steps(plan)]

    def types(self, plan: AgentPlan) -> list[str]:
        return [
            record.type
            for record in views.story(self.ledger, plan.id)
            if record.type.startswith("agent_")
        ]

    def state(self, plan: AgentPlan) -> State:
        return self.get(plan).state

    def decide(self, plan: AgentPlan, action: str, **how: Any) -> None:
        """Have the operator sign a decision about a plan."""
        signed = self.signed(plan, action, **how)
        self.running.control.decide(plan.id, action, signed, **how)

    def signed(self, plan: AgentPlan, action: str, **how: Any) -> Any:
        wanted = self.running.control.describe_decision(plan.id, action, **how)
        return self.gate.root.sign(wanted["type"], wanted["content"])

    def _tools(self) -> tuple[AnyTool, ...]:
        def write_file(arguments: PathArguments, _services: Any) -> Said:
            self._note("write_file", arguments.path)
            self.files[arguments.path] = arguments.content
            return Said(text="written")

        def delete_file(arguments: PathArguments, _services: Any) -> Said:
            self._note("delete_file", arguments.path)
            self.files.pop(arguments.path, None)
            return Said(text="deleted")

        def read_file(arguments: PathArguments, _services: Any) -> Said:
            return Said(text=self.files.get(arguments.path, "nothing there"))

        def fetch_url(arguments: UrlArguments, _services: Any) -> Said:
            self._note("fetch_url", arguments.url)
            return Said(text="a page")

        def run(arguments: RunArguments, _services: Any) -> Said:
            self._note("run_in_sandbox", " ".join(arguments.command))
            return Said(text="ran")

        return (
            _tool("write_file", PathArguments, write_file, footprint=_writes),
            _tool("delete_file", PathArguments, delete_file, footprint=_deletes),
            _tool("read_file", PathArguments, read_file, tier=Tier.READ, footprint=_reads),
            _tool(
                "fetch_url",
                UrlArguments,
                fetch_url,
                tier=Tier.EXTERNAL,
                tier_in_plan=Tier.LOCAL_WRITE,
                footprint=lambda arguments, _services: Footprint(
                    domains=(arguments.url.removeprefix("https://").partition("/")[0],)
                ),
            ),
            _tool("run_in_sandbox", RunArguments, run),
        )

    def _note(self, name: str, what: str) -> None:
        self.before_effect(name)
        self.effects.append((name, what))


def _writes(arguments: PathArguments, _services: Any) -> Footprint:
    return Footprint(write_paths=(arguments.path,))


def _deletes(arguments: PathArguments, _services: Any) -> Footprint:
    return Footprint(write_paths=(arguments.path,), destructive=True)


def _reads(arguments: PathArguments, _services: Any) -> Footprint:
    return Footprint(read_paths=(arguments.path,))


def _tool(
    name: str, form: Any, handler: Any, tier: Tier = Tier.LOCAL_WRITE, **more: Any
) -> AnyTool:
    return Tool(
        name=name,
        title=name,
        description=name,
        input=form,
        output=Said,
        tier=tier,
        handler=handler,
        **more,
    )
