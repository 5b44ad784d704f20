"""`deploy_agent_code`: have what the operator approved put into service.

The tool decides nothing: the gate asks for a one-time approval, the change path says what is
approved, and only the operator's signature (`astra deploy --force`) can insist.
"""

from pydantic import Field

from astra.kernel.errors import Refused
from astra.policy.call import Tier
from astra.tools.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.tools.services import Services
from astra.tools.source import PERSONA


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


def _deploy(arguments: DeployAgentCodeInput, services: Services) -> DeployAgentCodeOutput:
    if arguments.force_deploy:
        raise Refused(
            "force_deploy is for operators",
            code="operator_only",
            next_step="ask an operator to run `astra deploy --force`, which they sign",
        )
    done = services.deploy(arguments.commit_message, services.actor, services.correlation)
    return DeployAgentCodeOutput.model_validate(done)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="deploy_agent_code",
        title="Deploy agent code",
        description="Deploys the approved code of the target: builds a release, starts it beside"
        " the one that serves, checks its health, switches, watches, and takes it back by itself"
        " when it fails. Answers when the switch is made or refused.",
        input=DeployAgentCodeInput,
        output=DeployAgentCodeOutput,
        tier=Tier.EXTERNAL,
        flags=(*PERSONA, "ASTRA_CODE_WRITE_ENABLED"),
        slow=True,
        hints=Hints(destructive=True, idempotent=False, open_world=True),
        handler=_deploy,
    ),
)
