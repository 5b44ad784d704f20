"""The coder: instructions of a checkpoint become a proposed change, and nothing more.

Either the configured model answers with files, or a configured coding agent works on a copy of the
target inside the plan's box. What comes of it is hostile input like everything else: it may name
only paths that the plan may write, and it enters the change path, where a person decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import ValidationError

from astra.plans import events, prompts
from astra.plans.forms import CodeForm
from astra.plans.grants import absolute
from astra.plans.model import AgentPlan
from astra.plans.moves import refuse_unless_working
from astra.plans.ports import ChangeProposals, ModelSource, Prompt, Proposal
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

    def granted(self, permissions: Permissions) -> Mapping[str, str]: ...


class CodingAgent(Protocol):
    """A configured coding agent, run in the plan's box on a copy of the target."""

    @property
    def name(self) -> str:
        """Give the name of its program, or nothing where none is configured."""
        ...

    def diff(self, plan: AgentPlan, instructions: str) -> tuple[str, tuple[str, ...]]:
        """Give the diff it made, and the paths in it."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlanCoder:
    register: Register
    contracts: Contracts
    models: ModelSource
    source: TargetFiles
    agent: CodingAgent
    proposals: ChangeProposals

    def write(self, plan: AgentPlan, instructions: str) -> str:
        """Have it written and proposed; gives what to tell the model."""
        if not instructions.strip():
            raise BadInput("there are no instructions", next_step="say in `text` what to change")
        name = self.agent.name or BUILT_IN
        self._count(plan, name)
        work = self._by_agent if self.agent.name else self._by_model
        change = self.proposals.propose(work(plan, instructions, name))
        return f"{change} was proposed; a person decides on it"

    def _by_agent(self, plan: AgentPlan, instructions: str, name: str) -> Proposal:
        diff, paths = self.agent.diff(plan, instructions)
        self._refuse_outside(plan, dict.fromkeys(paths))
        return Proposal(diff=diff, **_about(plan, instructions, name))

    def _by_model(self, plan: AgentPlan, instructions: str, name: str) -> Proposal:
        files = self._files(plan, instructions)
        self._refuse_outside(plan, files)
        return Proposal(files=files, **_about(plan, instructions, name))

    def _count(self, plan: AgentPlan, name: str) -> None:
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

    def _files(self, plan: AgentPlan, instructions: str) -> dict[str, str | None]:
        reply = self.models.current().ask(self._prompt(plan, instructions), form=CodeForm)
        usage = {"set_aside": False, "usage": reply.usage.as_dict()}
        self.register.move(plan.id, events.USAGE_COUNTED, lambda now: {"step": now.steps, **usage})
        try:
            answer = CodeForm.model_validate(reply.document)
        except ValidationError:
            raise BadInput(
                "the coder's answer was not in its form", next_step="try again"
            ) from None
        files: dict[str, str | None] = {file.path: file.content for file in answer.files}
        files |= dict.fromkeys(answer.deleted)
        if not files:
            why = one_line(answer.note, 300) or "it gave no files"
            raise Refused(f"the coder changed nothing: {why}", next_step="say it another way")
        return files

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

    def _prompt(self, plan: AgentPlan, instructions: str) -> Prompt:
        granted = self.contracts.permissions(plan.id)
        files = self.source.granted(granted)
        return Prompt(
            rules=prompts.rules(prompts.CODING),
            data=(
                prompts.untrusted("instructions", instructions),
                prompts.untrusted("paths you may change", "\n".join(granted.write_paths)),
                *(prompts.untrusted(f"file {path}", text) for path, text in files.items()),
            ),
            version=prompts.CODING,
        )


def _about(plan: AgentPlan, instructions: str, name: str) -> dict[str, Any]:
    return {
        "agent_id": plan.id,
        "checkpoint": plan.current.id,
        "reason": f"{one_line(plan.current.title, 100)}: {one_line(instructions, 500)}",
        "coder": name,
        "prompt_version": prompts.CODING,
        "correlation": plan.correlation,
    }
