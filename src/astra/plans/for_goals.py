"""What goals take from plans: a plan of their own, and a model that writes code for a task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from astra.goals.door import Door
from astra.goals.graph import Node
from astra.goals.kinds import KINDS, PLAN_TOOL, Kind, KindFacts
from astra.goals.model import Goal, Usage
from astra.goals.ports import Done, Proposal, TaskRun, Waiting, WrittenCode
from astra.plans import prompts
from astra.plans.asking import ask_in_form
from astra.plans.code.memory import FormatMemory, NoMemory
from astra.plans.code.writing import CodeWriter, Task
from astra.plans.coding import LARGEST_EDIT, MOST_FILES
from astra.plans.forms import DecompositionForm
from astra.plans.ports import ModelSource, NoModel, Prompt
from astra.plans.ports import Usage as ModelUsage
from astra.plans.register import Register
from astra.plans.states import State
from astra.spend.model import Account

_LONGEST_NOTES = 3_000
_ENDED_BADLY = frozenset({State.REJECTED, State.ABORTED, State.PLAN_FAILED})


@dataclass(frozen=True, kw_only=True)
class PlanTask:
    """RUN_PLAN: a plan is drafted for the task and runs under the contract signed for it."""

    door: Door
    register: Register
    model_calls: int = 0

    def is_repeatable(self, _node: Node) -> bool:
        return False

    def begin(self, run: TaskRun) -> Done | Waiting:
        description = {"description": str(run.arguments["description"])}
        plan = str(self.door.call(run, PLAN_TOOL, description)["id"])
        return Waiting(on=plan, why=f"for the plan {plan} to end")

    def look(self, _run: TaskRun, on: str) -> Done | Waiting | None:
        plan = self.register.get(on)
        if plan.state is State.COMPLETED:
            return Done(outputs={"plan": plan.id, "notes": f"{plan.id} is done"})
        if plan.state in _ENDED_BADLY:
            return Done(succeeded=False, reason=f"plan_{plan.state}", detail=plan.id, final=True)
        return None

    def recover(self, _run: TaskRun) -> Done | Waiting | None:
        return None


@dataclass(frozen=True, kw_only=True)
class ModelDecomposer:
    """The configured model as one who decomposes goals; what it gives is a proposal and no more."""

    models: ModelSource
    tools: Callable[[], Sequence[str]]
    digest: Callable[[], str] = str
    """What happened lately, and what is believed: data for the model, like everything else."""

    def is_there(self) -> bool:
        return has_model(self.models)

    def propose(self, goal: Goal, tasks: Sequence[str]) -> Proposal:
        prompt = self._build_prompt(goal, tasks)
        account = Account(goal=goal.id, correlation=goal.correlation)
        result = ask_in_form(self.models.current(account), prompt, DecompositionForm)
        usage = Usage(model_calls=result.tries - 1, tokens=result.usage.tokens)
        if result.answer is None:
            return Proposal(usage=usage)
        return Proposal(subtasks=[dict(item) for item in result.answer.subtasks], usage=usage)

    def _build_prompt(self, goal: Goal, tasks: Sequence[str]) -> Prompt:
        kinds = "\n".join(_describe_kind(kind, facts) for kind, facts in KINDS.items())
        return Prompt(
            rules=prompts.rules(prompts.DECOMPOSING),
            data=(
                prompts.untrusted("goal", goal.text),
                prompts.untrusted("category", goal.category),
                prompts.untrusted("kinds", kinds),
                prompts.untrusted("known tasks", "\n".join(tasks)),
                prompts.untrusted("tools", "\n".join(self.tools())),
                *prompts.list_optional(prompts.DIGEST, self.digest()),
            ),
            version=prompts.DECOMPOSING,
        )


def _describe_kind(kind: Kind, facts: KindFacts) -> str:
    return (
        f"{kind}: needs {', '.join(sorted(facts.needs)) or 'nothing'};"
        f" takes {', '.join(sorted(facts.accepts)) or 'nothing else'};"
        f" gives {', '.join(sorted(facts.gives))}"
    )


def has_model(models: ModelSource) -> bool:
    try:
        models.current()
    except NoModel:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class ModelWriter:
    """The configured model as a writer of code; what it gives is a proposal and no more."""

    models: ModelSource
    files: Callable[[], Mapping[str, str]]
    formats: FormatMemory = field(default_factory=NoMemory)
    digest: Callable[[], str] = str
    """Says what happened lately."""

    def is_there(self) -> bool:
        return has_model(self.models)

    def write(
        self, instruction: str, notes: str, *, goal: str = "", correlation: str = ""
    ) -> WrittenCode:
        calls: list[ModelUsage] = []
        model = self.models.current(Account(goal=goal, correlation=correlation))
        writer = CodeWriter(model=model, count=calls.append, formats=self.formats)
        code = writer.write(
            Task(
                instructions=instruction,
                files=self.files(),
                notes=notes[:_LONGEST_NOTES],
                digest=self.digest(),
                correlation=correlation,
            )
        )
        usage = Usage(model_calls=len(calls), tokens=sum(call.tokens for call in calls))
        objection = code.objection or _find_objection(code.files)
        return WrittenCode(files={} if objection else code.files, usage=usage, objection=objection)


def _find_objection(files: Mapping[str, str | None]) -> str:
    size = sum(len(text or "") for text in files.values())
    if len(files) > MOST_FILES or size > LARGEST_EDIT:
        return "the model's answer is too large: have it done in smaller parts"
    return ""
