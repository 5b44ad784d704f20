"""`deploy_agent_code`: have what the operator approved put into service.

The tool decides nothing: the gate asks for a one-time approval, the change path says what is
approved, and only the operator's signature (`astra deploy --force`) can insist.
"""

from typing import Any

from pydantic import Field

from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.call import Footprint, Tier


def _only_said(description: str) -> Any:
    """Leave a field out where it says nothing: a success has nothing to explain."""
    return Field(default=None, description=description, exclude_if=lambda value: value is None)


class DeployAgentCodeInput(Arguments):
    commit_message: str = Field(
        default="", max_length=2000, description="what this deployment is about, in your words"
    )
    force_deploy: bool = Field(
        default=False, description="for operators only, who sign it in a terminal"
    )


class DeployAgentCodeOutput(Answer):
    success: bool
    commit_hash: str
    tests_passed: bool
    human_approval_required: bool
    deployed: bool
    backup_location: str | None
    code: str | None = _only_said("only when nothing was deployed: why")
    reason: str | None = _only_said("the same in words")
    next_step: str | None = _only_said("who has to do what")
    change_id: str | None = _only_said("the change that it is about")


def _would_deploy(arguments: DeployAgentCodeInput, services: Services) -> Footprint:
    """Name the commit, so that the approval of the call holds for it and for no other."""
    if arguments.force_deploy:
        raise Refused(
            "force_deploy is for operators",
            code="operator_only",
            next_step="ask an operator to run `astra deploy --force`, which they sign",
        )
    return Footprint(files=(services.deployments.name_target(),))


def _describe_target(_arguments: DeployAgentCodeInput, services: Services) -> str:
    return services.deployments.describe_target()


def _deploy_agent_code(
    arguments: DeployAgentCodeInput, services: Services
) -> DeployAgentCodeOutput:
    (commit,) = services.footprint.files
    outcome = services.deployments.deploy_for_agent(
        arguments.commit_message, commit, actor=services.actor, correlation=services.correlation
    )
    return DeployAgentCodeOutput.model_validate(outcome)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="deploy_agent_code",
        title="Deploy agent code",
        description="Deploys (releases) approved code; what fails in service is taken back."
        " Uncommitted edits in your clone become a change first.",
        input=DeployAgentCodeInput,
        output=DeployAgentCodeOutput,
        tier=Tier.EXTERNAL,
        flags=(*PERSONA, "ASTRA_CODE_WRITE_ENABLED"),
        slow=True,
        hints=Hints(destructive=True, idempotent=False, open_world=True),
        footprint=_would_deploy,
        words=_describe_target,
        handler=_deploy_agent_code,
    ),
)
