"""The coder: instructions of a checkpoint become a proposed change, and nothing more.

Either the configured model answers with files, or a configured coding agent works on a copy of the
target inside the plan's box. What comes of it is hostile input like everything else: it may name
only paths that the plan may write, and it enters the change path, where a person decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Protocol

from astra.plans import events, prompts
from astra.plans.code.memory import FormatMemory, NoMemory
from astra.plans.code.writing import CodeWriter, Task, Written
from astra.plans.drafting import account_of
from astra.plans.grants import absolute
from astra.plans.model import AgentPlan
from astra.plans.moves import refuse_unless_working
from astra.plans.ports import ChangeOutcome, ChangeProposals, ModelSource, Proposal, Usage
from astra.plans.proposed import ProposedChanges, describe_proposed
from astra.plans.register import Register
from astra.plans.schema import Permissions
from astra.plans.terms import Contracts
from astra.trusted.kernel.errors import BadInput, Refused
from astra.trusted.kernel.text import one_line

BUILT_IN = "built-in"
MOST_FILES = 50
LARGEST_EDIT = 400_000


class TargetFiles(Protocol):
    """The target's files as a coder may see them: secrets left out, no more than fits."""

    def read_granted(self, permissions: Permissions) -> Mapping[str, str]: ...


class CodingAgent(Protocol):
    """A configured coding agent, run in the plan's box on a copy of the target."""

    @property
    def name(self) -> str:
        """Give the name of its program, or nothing where none is configured."""
        ...

    def diff(
        self, plan: AgentPlan, instructions: str, count: Callable[[Usage], None]
    ) -> tuple[str, tuple[str, ...]]:
        """Give the diff it made, and the paths in it; `count` takes what each call used."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlanCoder:
    register: Register
    contracts: Contracts
    models: ModelSource
    source: TargetFiles
    agent: CodingAgent
    proposals: ChangeProposals
    proposed: ProposedChanges
    formats: FormatMemory = field(default_factory=NoMemory)
    digest: Callable[[], str] = str
    """Says what happened lately, to the model that writes."""

    def write(self, plan: AgentPlan, instructions: str) -> str:
        """Have it written and proposed; gives what to tell the model."""
        if not instructions.strip():
            raise BadInput("there are no instructions", next_step="say in `text` what to change")
        name = self.agent.name or BUILT_IN
        self._count_coder_call(plan, name)
        work = self._by_agent if self.agent.name else self._by_model
        change = self.proposals.propose(work(plan, instructions, name))
        return describe_proposed(change)

    def _by_agent(self, plan: AgentPlan, instructions: str, name: str) -> Proposal:
        diff, paths = self.agent.diff(plan, instructions, _CallCount(self.register, plan))
        self._refuse_outside(plan, dict.fromkeys(paths))
        facts = _describe_proposal(plan, instructions, name, prompts.CODING)
        return Proposal(diff=diff, supersedes=self._find_superseded(plan), **facts)

    def _by_model(self, plan: AgentPlan, instructions: str, name: str) -> Proposal:
        code = self._ask_for_code(plan, instructions)
        self._refuse_outside(plan, code.files)
        facts = _describe_proposal(plan, instructions, name, code.prompt)
        return Proposal(files=code.files, supersedes=self._find_superseded(plan), **facts)

    def _find_superseded(self, plan: AgentPlan) -> str:
        """Name the change that failed before in this checkpoint: the next one takes its place."""
        outcome = self.proposed.find_outcome(plan)
        return outcome[0] if outcome and outcome[1].state == ChangeOutcome.FAILED else ""

    def _count_coder_call(self, plan: AgentPlan, name: str) -> None:
        """Spend a step on the coder's own model call, before it is made."""

        def decide(now: AgentPlan) -> dict[str, Any]:
            refuse_unless_working(now)
            if now.spent >= self.contracts.budget(now):
                raise Refused(
                    "the step budget of this checkpoint is spent",
                    code="budget_spent",
                    next_step="ask the operator for more steps",
                )
            return {"step": now.steps, "coder": name, "prompt": prompts.CODING}

        self.register.move(plan.id, events.CODER_CALLED, decide)

    def _ask_for_code(self, plan: AgentPlan, instructions: str) -> Written:
        writer = CodeWriter(
            model=self.models.current(account_of(plan)),
            count=_CallCount(self.register, plan),
            formats=self.formats,
        )
        code = writer.write(self._make_task(plan, instructions))
        if code.objection:
            raise Refused(code.objection, next_step="say it another way, or in smaller parts")
        return code

    def _make_task(self, plan: AgentPlan, instructions: str) -> Task:
        granted, terms = self.contracts.permissions(plan.id), self.contracts.terms(plan.id)
        readable = self.source.read_granted(granted)

        def is_writable(path: str) -> bool:
            return terms.writes(absolute(path, self.contracts.code_repo))

        return Task(
            instructions=instructions,
            files={path: text for path, text in readable.items() if is_writable(path)},
            others={path: text for path, text in readable.items() if not is_writable(path)},
            new_files=[path for path in granted.write_paths if _is_new_file(path, readable)],
            digest=self.digest(),
            correlation=plan.correlation,
        )

    def _refuse_outside(self, plan: AgentPlan, files: Mapping[str, str | None]) -> None:
        size = sum(len(text or "") for text in files.values())
        if len(files) > MOST_FILES or size > LARGEST_EDIT:
            raise Refused("the coder's answer is too large", next_step="do it in smaller parts")
        terms = self.contracts.terms(plan.id)
        for path in files:
            if path.startswith("/") or not terms.writes(absolute(path, self.contracts.code_repo)):
                raise Refused(
                    f"the coder would change {one_line(path, 200)!r}, which the plan may not write",
                    code="outside_grants",
                    next_step="stay within the write_paths of the plan",
                )


class _CallCount:
    """Counts the calls of one turn of the coder: its step pays for the first, tokens for all."""

    def __init__(self, register: Register, plan: AgentPlan) -> None:
        self._register, self._plan = register, plan
        self._calls = 0

    def __call__(self, usage: Usage) -> None:
        usage_data = {**usage.as_dict(), **({"drafting_calls": 1} if self._calls else {})}
        self._calls += 1
        self._register.move(
            self._plan.id,
            events.USAGE_COUNTED,
            lambda now: {"step": now.steps, "set_aside": False, "usage": usage_data},
        )


def _is_new_file(path: str, existing: Mapping[str, str]) -> bool:
    """Tell a granted path that names one file which is not there yet."""
    is_file = not path.startswith("/") and bool(PurePosixPath(path).suffix)
    return is_file and path not in existing and not set("*?[") & set(path)


def _describe_proposal(
    plan: AgentPlan, instructions: str, name: str, version: str
) -> dict[str, Any]:
    return {
        "agent_id": plan.id,
        "checkpoint": plan.current.id,
        "reason": f"{one_line(plan.current.title, 100)}: {one_line(instructions, 500)}",
        "coder": name,
        "prompt_version": version,
        "correlation": plan.correlation,
    }
