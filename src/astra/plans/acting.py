"""Doing what a model decided: judged by the server, inside the grants, at most once.

    understand → grants → destructive? → claim → tool → hosts it was refused? → result

The tool runs through the counter like everybody's calls. What the plan was not granted blocks it
with the narrowest grant that would do; what nobody may grant is refused to the model at once.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from astra.plans import events, prompts, refusals, risk, talk
from astra.plans.answers import shorten_middle
from astra.plans.forms import ActionForm
from astra.plans.grants import Item
from astra.plans.history import LONGEST_RESULT
from astra.plans.model import AgentPlan, Step
from astra.plans.moves import OVER_CAP, Halted, block, block_on_cap, decide_while_working
from astra.plans.ports import ChangeOutcome
from astra.plans.proposed import ProposedChanges, describe_proposed
from astra.plans.refusals import Refusals
from astra.plans.register import Register
from astra.plans.schema import Permissions
from astra.plans.skills import CODER, SkillBook, tools_of
from astra.plans.states import IllegalMove
from astra.plans.terms import Contracts
from astra.plans.validation import Rules
from astra.spend.model import SpendRefused
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.kernel.masking import mask, redact
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event
from astra.trusted.policy import payload
from astra.trusted.policy.call import Call

LONGEST_OUTPUT = 8_000
LARGEST_ACTION = 800_000


class ToolDoor(Protocol):
    """The counter, as a plan calls at it."""

    def understand(self, plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Call:
        """Work out exactly what would run, without running it."""
        ...

    def run(self, plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Pass the gate and run the tool, or raise why not."""
        ...

    def describe(self, names: Iterable[str]) -> str:
        """Describe tools to a model: what each does and takes."""
        ...


class Coder(Protocol):
    """Turns instructions into a proposed change; gives what to tell the model."""

    def write(self, plan: AgentPlan, instructions: str) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Acting:
    register: Register
    contracts: Contracts
    rules: Callable[[], Rules]
    skills: SkillBook
    door: ToolDoor
    coder: Coder
    refusals: Refusals
    proposed: ProposedChanges

    def describe_tools(self, granted: Permissions) -> str:
        return self.door.describe(sorted(tools_of(granted.skills)))

    def make_decision(self, number: int, action: ActionForm) -> dict[str, Any]:
        """Write down what a model wants, exactly as it would run; refuse what cannot be kept."""
        document = action.model_dump(mode="json")
        document["text"] = document["text"][:LONGEST_OUTPUT]
        document["output"] = document["output"][:LONGEST_OUTPUT]
        if redact(document) != document:
            raise BadInput(
                "the action holds something that looks like a secret",
                code="secret_in_action",
                next_step="work without it; secrets reach an app through the signed configuration",
            )
        encoded = canonical.encode(document)
        if len(encoded) > LARGEST_ACTION:
            raise BadInput(
                f"the action has {len(encoded):,} bytes",
                code="action_too_large",
                next_step=f"stay below {LARGEST_ACTION:,}; do it in smaller parts",
            )
        return {
            "step": number,
            "action": document,
            "digest": hashlib.sha256(encoded).hexdigest(),
            "destructive": action.destructive,
            "prompt": prompts.WORKING,
        }

    def act(self, plan: AgentPlan, step: Step) -> bool:
        """Carry a decided step out; tells whether the plan can go on at once."""
        if step.again is not None and not self.contracts.may_run_again(plan, step):
            self.close_interrupted(plan, step)
            return True
        action = step.action or {}
        doing = {
            "done": self._complete_checkpoint,
            "message": self._send_message,
            "code": self._run_coder,
            "tool": self._run_tool,
        }
        return doing[action["kind"]](plan, step, action)

    def close_interrupted(self, plan: AgentPlan, step: Step) -> None:
        """Close a step that a crash cut off: how far it came is unknown, and it is not repeated.

        A coder's step whose change was recorded did all that it had to do.
        """
        if change := self.proposed.find_cut_off(plan, step):
            self.finish(plan, step, "ok", describe_proposed(change))
            return
        result = "interrupted: it may have happened in part or whole, and is not done again"
        self.finish(plan, step, "interrupted", result)

    def finish(self, plan: AgentPlan, step: Step, outcome: str, result: str) -> None:
        data = _make_step_result(step, outcome, result)
        self.register.move(plan.id, events.STEP_FINISHED, lambda _plan: data)

    # Kinds of actions

    def _complete_checkpoint(self, plan: AgentPlan, step: Step, action: Mapping[str, Any]) -> bool:
        """Close a checkpoint, unless the change that it proposed did not pass its tests."""
        proposal = self.proposed.find_outcome(plan)
        if proposal and proposal[1].state == ChangeOutcome.FAILED:
            why = f"not done: {proposal[0]} did not pass: {proposal[1].reason}"
            self.finish(plan, step, "refused", why)
            return True
        data = {
            "number": plan.checkpoint,
            "checkpoint": plan.current.id,
            "title": plan.current.title,
            "output": action["output"],
            "steps": plan.spent,
        }
        self.register.move(
            plan.id,
            events.CHECKPOINT_COMPLETED,
            decide_while_working(data),
            beside=lambda now: (_make_finished_event(now, step, "ok", "the checkpoint is done"),),
        )
        return True

    def _send_message(self, plan: AgentPlan, step: Step, action: Mapping[str, Any]) -> bool:
        """Say something; a question lets the plan wait for its answer."""
        asks = bool(action["question"])
        kind = talk.QUESTION if asks else talk.UPDATE

        def along(now: AgentPlan) -> tuple[Event, ...]:
            message = talk.make_message_event(now, kind, action["text"], step=step.step)
            return (message, _make_finished_event(now, step, "ok", "sent")) if asks else (message,)

        if asks:
            data = {"reason": talk.QUESTION}
            self.register.move(plan.id, events.PAUSED, decide_while_working(data), beside=along)
            return False
        data = _make_step_result(step, "ok", "sent")
        self.register.move(plan.id, events.STEP_FINISHED, decide_while_working(data), beside=along)
        return True

    def _run_coder(self, plan: AgentPlan, step: Step, action: Mapping[str, Any]) -> bool:
        if CODER not in self.contracts.permissions(plan.id).skills:
            return self._block_on_grants(plan, step, (("skills", CODER),))
        return self._carry_out(plan, step, lambda: self.coder.write(plan, action["text"]))

    def _run_tool(self, plan: AgentPlan, step: Step, action: Mapping[str, Any]) -> bool:
        try:
            call = self.door.understand(plan, action["tool"], action["arguments"])
            missing_grants = self.contracts.terms(plan.id).find_missing_grants(call)
        except AstraError as error:
            self.finish(plan, step, "refused", _describe_error(error))
            return True
        if missing_grants:
            return self._block_on_grants(plan, step, missing_grants)
        if self._must_confirm(plan, step, call):
            return self._wait_for_confirmation(plan, step, call)

        def run() -> str:
            answer = self.door.run(plan, action["tool"], action["arguments"])
            return json.dumps(redact(dict(answer)), ensure_ascii=False)

        facts = self.skills.find(call.tool)
        repeatable = facts is not None and facts.repeatable
        return self._carry_out(plan, step, run, claim=not repeatable)

    def _carry_out(
        self, plan: AgentPlan, step: Step, work: Callable[[], str], *, claim: bool = True
    ) -> bool:
        """Claim the action where it has an effect, do it, and write down how it went."""
        claimed = self._claim_action(plan, step) if claim else None
        try:
            outcome, result = "ok", work()
        except SpendRefused as error:
            return self._stop_over_cap(plan, step, error)
        except AstraError as error:
            outcome, result = "refused", _describe_error(error)
        except Exception as error:  # noqa: BLE001 - a tool that breaks ends its step, not the plan
            outcome, result = "failed", f"the tool broke: {type(error).__name__}"
        if claimed and self._asks_for_hosts(plan, step, claimed, (outcome, result)):
            return False
        self.finish(plan, step, outcome, result)
        return True

    def _stop_over_cap(self, plan: AgentPlan, step: Step, error: SpendRefused) -> bool:
        """Stop a plan whose coder was not asked, because a cap on spending would be passed."""
        ended = _make_finished_event(plan, step, OVER_CAP, _describe_error(error))
        block_on_cap(self.register, plan, step.step, error, ended)
        return False

    def _claim_action(self, plan: AgentPlan, step: Step) -> int:
        """Claim an action once; and once more for each time that the operator signed for."""
        data = {"step": step.step, "digest": step.digest, "destructive": step.destructive}
        again = "" if step.again is None else f":{step.again}"
        key = f"action:{plan.id}:{step.step}{again}"
        move = self.register.move
        return move(
            plan.id, events.ACTION_STARTED, decide_while_working(data), key=lambda _plan: key
        ).sequence

    # What stops a plan

    def _asks_for_hosts(
        self, plan: AgentPlan, step: Step, claimed: int, ran: tuple[str, str]
    ) -> bool:
        """Block a step that was refused hosts, with the grants that would do."""
        attempts = self.refusals.read_since(plan, claimed)
        granted, skipped = (
            self.contracts.permissions(plan.id),
            refusals.read_skipped_grants(self.register, plan),
        )
        missing_grants = refusals.find_missing_grants(attempts, granted, skipped)
        if not missing_grants or payload.find_objection(step.action or {}):
            return False  # nobody is asked to sign for what they could not read in whole
        block_data = {
            **_make_grant_request(step, missing_grants),
            "ran": {"outcome": ran[0], "result": mask(ran[1])[:LONGEST_RESULT]},
        }
        summary = refusals.describe_refused_hosts(missing_grants, ran[0])
        try:
            block(self.register, plan, events.BLOCKED_ON_PERMISSION, block_data, summary)
        except (Halted, IllegalMove):
            return False
        return True

    def _block_on_grants(self, plan: AgentPlan, step: Step, missing: tuple[Item, ...]) -> bool:
        """Block with the narrowest grants that would do; refuse what nobody may grant."""
        try:
            for kind, value in missing:
                self.rules().spell_grants(kind, [value])
        except AstraError as error:
            self.finish(plan, step, "refused", _describe_error(error))
            return True
        if self._refuses_unreadable(plan, step):
            return True
        grant_list = ", ".join(f"{kind} {one_line(value, 200)}" for kind, value in missing)
        block_data = _make_grant_request(step, missing)
        summary = f"it wants what it was not granted: {grant_list}"
        block(self.register, plan, events.BLOCKED_ON_PERMISSION, block_data, summary)
        return False

    def _refuses_unreadable(self, plan: AgentPlan, step: Step) -> bool:
        """Refuse an action that somebody has to sign for and could not read in whole."""
        problem = payload.find_objection(step.action or {})
        if problem is None:
            return False
        self.finish(plan, step, "refused", _describe_error(problem.as_error()))
        return True

    def _must_confirm(self, plan: AgentPlan, step: Step, call: Call) -> bool:
        assert plan.plan is not None  # noqa: S101 - it runs, so it was drafted
        declared = tools_of(plan.plan.manifest.destructive_ops)
        destructive = risk.is_destructive(call, said=step.destructive, declared=declared)
        return destructive and not self.contracts.is_confirmed(plan, step)

    def _wait_for_confirmation(self, plan: AgentPlan, step: Step, call: Call) -> bool:
        if self._refuses_unreadable(plan, step):
            return True
        block_data = {
            "step": step.step,
            "digest": step.digest,
            "tool": call.tool,
            "arguments": dict(call.arguments),
            "action": step.action,
        }
        arguments = one_line(json.dumps(call.arguments, ensure_ascii=False), 300)
        summary = f"it is about to destroy something: {call.tool} {arguments}"
        block(self.register, plan, events.BLOCKED_ON_DESTRUCTIVE, block_data, summary)
        return False


def _make_grant_request(step: Step, missing: tuple[Item, ...]) -> dict[str, Any]:
    return {
        "step": step.step,
        "digest": step.digest,
        "items": [list(item) for item in missing],
        "action": step.action,
    }


def _make_step_result(step: Step, outcome: str, result: str) -> dict[str, Any]:
    text = shorten_middle(mask(result), LONGEST_RESULT)
    return {"step": step.step, "outcome": outcome, "result": text}


def _make_finished_event(plan: AgentPlan, step: Step, outcome: str, result: str) -> Event:
    return events.make_event(
        events.STEP_FINISHED,
        plan.id,
        _make_step_result(step, outcome, result),
        actor=events.DAEMON,
        correlation=plan.correlation,
    )


def _describe_error(error: AstraError) -> str:
    return f"{error.reason}: {error.detail}; {error.next_step}"
