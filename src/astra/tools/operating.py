"""`astra.smoke`: a quick check of the running server, for a schedule or whoever asks."""

from astra.tools.services import Services
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.policy.call import Tier


class Nothing(Arguments):
    pass


class SmokeItem(Answer):
    name: str
    ok: bool
    milliseconds: float
    detail: str


class SmokeReport(Answer):
    id: str
    ok: bool
    at: str
    milliseconds: float
    items: list[SmokeItem]


def _run_smoke(_arguments: Nothing, services: Services) -> SmokeReport:
    return SmokeReport.model_validate(services.smoke.run(actor=services.actor))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="astra.smoke",
        title="Check the running server",
        description="Tries every part of the server once; safe at any time.",
        input=Nothing,
        output=SmokeReport,
        tier=Tier.LOCAL_WRITE,
        handler=_run_smoke,
        hints=Hints(idempotent=True),
    ),
)
