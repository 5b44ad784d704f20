"""Health, what waits for a person, and the operator's side of it.

No tool here approves anything: `astra.approvals.approve` answers with the link where a person
signs, because a model that could sign would make the signature worthless.
"""

from typing import Any, Literal

from pydantic import Field

from astra.tools import pages
from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier

FlagName = Literal[
    "PERSONA_MODE_ENABLED",
    "ASTRA_CODE_WRITE_ENABLED",
    "AGENT_PLANNING_ENABLED",
    "AGENT_RUNNER_ENABLED",
    "ASTRA_SCHEDULER_ENABLED",
    "AGENT_AUTO_ESCALATE_ENABLED",
]


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
    next: int | None = None


class PendingArguments(Arguments):
    cursor: int | None = pages.NumberCursor
    limit: int | None = pages.limit_field(LARGEST_PAGE)


class ApproveArguments(Arguments):
    id: str = Field(description="apr_…")


class SignHere(Answer):
    approval: Approval
    link: str
    how: str


class RejectArguments(ApproveArguments):
    reason: str = Field(min_length=1, max_length=2000, description="why; the agent reads it")


class FlagArguments(Arguments):
    name: FlagName = Field(description="which flag")
    on: bool = Field(description="false turns it off at once; true says how a person does")


class FlagAnswer(Answer):
    name: str
    on: bool
    how: str


class StopArguments(Arguments):
    keep_app: bool = Field(default=False, description="leave the deployed app running")


class StopAnswer(Answer):
    stop: str = Field(description="what a start has to name")
    recorded: bool
    clean: bool = Field(description="nothing survives")
    survivors: list[dict[str, Any]]
    next: str


def _read_health(_arguments: Nothing, services: Services) -> Health:
    return Health.model_validate(services.health())


def _list_pending(arguments: PendingArguments, services: Services) -> Pending:
    def query(limit: int) -> Pending:
        approvals, cursor = services.approvals.page(
            state="pending", limit=limit, cursor=arguments.cursor
        )
        return Pending(items=[_to_answer(approval) for approval in approvals], next=cursor)

    return pages.fit_page(query, arguments.limit)


def _show_where_to_sign(arguments: ApproveArguments, services: Services) -> SignHere:
    approval = services.approvals.get(arguments.id)
    return SignHere(
        approval=_to_answer(approval),
        link=services.approval_link(approval.id),
        how=f"a person signs there, or in a terminal with `astra approve {approval.id}`",
    )


def _reject_approval(arguments: RejectArguments, services: Services) -> Approval:
    services.approvals.reject(arguments.id, arguments.reason, actor="operator tool")
    return _to_answer(services.approvals.get(arguments.id))


def _set_flag(arguments: FlagArguments, services: Services) -> FlagAnswer:
    if arguments.on:
        is_on = services.health()["flags"][arguments.name]
        how = f"a person turns it on in a terminal: astra flags set {arguments.name} on"
        return FlagAnswer(name=arguments.name, on=is_on, how="it is on already" if is_on else how)
    services.set_flag_off(arguments.name)
    return FlagAnswer(name=arguments.name, on=False, how="it is off now")


def _stop_all(arguments: StopArguments, services: Services) -> StopAnswer:
    report = services.stop_all(arguments.keep_app)
    return StopAnswer.model_validate(
        {**report, "next": "a person starts work again, with a signature: `astra start`"}
    )


def _to_answer(approval: Any) -> Approval:
    return Approval.model_validate(approval)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.health",
        title="Health",
        description="Says what works, what is switched off and how many approvals wait.",
        input=Nothing,
        output=Health,
        tier=Tier.READ,
        handler=_read_health,
    ),
    Tool(
        name="astra.approvals.pending",
        title="Pending approvals",
        description="Lists what waits for a person to review, approve or reject.",
        input=PendingArguments,
        output=Pending,
        tier=Tier.READ,
        handler=_list_pending,
    ),
    Tool(
        name="astra.approvals.approve",
        title="Approve",
        description="Gives the link where a person signs an approval. It decides nothing itself.",
        input=ApproveArguments,
        output=SignHere,
        tier=Tier.READ,
        operator_only=True,
        handler=_show_where_to_sign,
    ),
    Tool(
        name="astra.approvals.reject",
        title="Reject",
        description="Rejects an approval, with a reason the agent gets to read.",
        input=RejectArguments,
        output=Approval,
        tier=Tier.LOCAL_WRITE,
        operator_only=True,
        hints=Hints(destructive=True),
        handler=_reject_approval,
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
    Tool(
        name="astra.stop",
        title="Stop everything",
        description="Stops all work now and ends every process an agent started.",
        input=StopArguments,
        output=StopAnswer,
        tier=Tier.LOCAL_WRITE,
        operator_only=True,
        hints=Hints(destructive=True),
        handler=_stop_all,
    ),
)
