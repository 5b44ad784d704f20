"""Health, what waits for a person, and the operator's side of it.

No tool here approves anything: `astra.approvals.approve` answers with the link where a person
signs, because a model that could sign would make the signature worthless.
"""

from typing import Any

from pydantic import Field

from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.call import Tier
from astra.trusted.settings.environment import FLAGS


class Nothing(Arguments):
    pass


class SandboxState(Answer):
    kind: str
    state: str


class Health(Answer):
    status: str
    version: str
    code_access: str
    stopped: bool
    flags: dict[str, bool]
    pending_approvals: int
    sandbox: SandboxState


class Approval(Answer):
    id: str
    kind: str
    subject_id: str
    digest: str
    state: str
    requested_at: str
    expires_at: str
    summary: str


class Pending(Answer):
    items: list[Approval]
    next: str | None = None


class ApproveArguments(Arguments):
    id: str


class SignHere(Answer):
    approval: Approval
    link: str
    how: str


class RejectArguments(Arguments):
    id: str
    reason: str = Field(min_length=1, max_length=2000)


class FlagArguments(Arguments):
    name: str = Field(description=", ".join(FLAGS))
    on: bool


class FlagAnswer(Answer):
    name: str
    on: bool
    how: str


def _health(_arguments: Nothing, services: Services) -> Health:
    return Health.model_validate(services.health())


def _pending(_arguments: Nothing, services: Services) -> Pending:
    return Pending(items=[_shown(approval) for approval in services.approvals.listed()])


def _approve(arguments: ApproveArguments, services: Services) -> SignHere:
    approval = services.approvals.get(arguments.id)
    return SignHere(
        approval=_shown(approval),
        link=services.approval_link(approval.id),
        how=f"a person signs there, or in a terminal with `astra approve {approval.id}`",
    )


def _reject(arguments: RejectArguments, services: Services) -> Approval:
    services.approvals.reject(arguments.id, arguments.reason, actor="operator tool")
    return _shown(services.approvals.get(arguments.id))


def _set_flag(arguments: FlagArguments, services: Services) -> FlagAnswer:
    if arguments.name not in FLAGS:
        raise NotFound(f"there is no flag {arguments.name}", next_step=", ".join(FLAGS))
    if arguments.on:
        how = f"a person turns it on in a terminal: astra flags set {arguments.name} on"
        return FlagAnswer(name=arguments.name, on=False, how=how)
    services.set_flag_off(arguments.name)
    return FlagAnswer(name=arguments.name, on=False, how="it is off now")


def _shown(approval: Any) -> Approval:
    return Approval.model_validate(approval)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.health",
        title="Health",
        description="Says what works, what is switched off and how many approvals wait.",
        input=Nothing,
        output=Health,
        tier=Tier.READ,
        handler=_health,
    ),
    Tool(
        name="astra.approvals.pending",
        title="Pending approvals",
        description="Lists what waits for a person's decision.",
        input=Nothing,
        output=Pending,
        tier=Tier.READ,
        handler=_pending,
    ),
    Tool(
        name="astra.approvals.approve",
        title="Approve",
        description="Gives the link where a person signs an approval. It decides nothing itself.",
        input=ApproveArguments,
        output=SignHere,
        tier=Tier.READ,
        operator_only=True,
        handler=_approve,
    ),
    Tool(
        name="astra.approvals.reject",
        title="Reject",
        description="Rejects an approval, with a reason the agent gets to read.",
        input=RejectArguments,
        output=Approval,
        tier=Tier.LOCAL_WRITE,
        operator_only=True,
        hints=Hints(idempotent=False),
        handler=_reject,
    ),
    Tool(
        name="astra.flags.set",
        title="Set a flag",
        description="Turns a flag off at once; for on, says how a person signs it.",
        input=FlagArguments,
        output=FlagAnswer,
        tier=Tier.LOCAL_WRITE,
        operator_only=True,
        handler=_set_flag,
    ),
)
