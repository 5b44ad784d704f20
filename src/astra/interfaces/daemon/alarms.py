"""What is wrong now and takes a person's act, as items of the inbox.

Each follows from a state that somebody can mend, and is gone as soon as it is mended. What happened
and needs nothing of anybody belongs into the feed, not here.
"""

from collections.abc import Iterator

from astra import flow
from astra.bootstrap.runtime import Runtime
from astra.inbox.items import ALERT, InboxItem
from astra.interfaces.daemon import status
from astra.operations import alert_book
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.text import one_line

_LONGEST_WHY = 300
_LANES = (
    flow.QUICK,
    flow.CHANGES,
    flow.FIRINGS,
    flow.JOBS,
    flow.DEPLOYMENTS,
    flow.NOTIFICATIONS,
    flow.ALERTS,
)
_TOLD_ABOVE = frozenset({"disk", "chain", "background", "app"})
"""Rules about what is told here as long as it lasts."""
Trouble = tuple[str, str, str, str]
"""A name, what is wrong, why, and the command that helps."""


def find_alarms(runtime: Runtime) -> Iterator[InboxItem]:
    """Name what is wrong, the gravest first."""
    for find_trouble in (
        _of_ledger,
        _of_disk,
        _of_witness,
        _of_app,
        _of_lanes,
        _of_configuration,
        _of_servers,
        _of_rules,
    ):
        for name, title, why, command in find_trouble(runtime):
            yield InboxItem(
                id=f"alert-{name}",
                kind=ALERT,
                title=title,
                why=one_line(why, _LONGEST_WHY),
                waiting_since=format_time(runtime.started_at),
                command=command,
                subject_id=name,
            )


def _of_ledger(runtime: Runtime) -> Iterator[Trouble]:
    for hold in runtime.ledger.holds:
        yield "held", "nothing begins on this data root", hold.detail, "astra restore"
    if trouble := runtime.ledger.trouble:
        yield "ledger", "the ledger cannot be written", trouble, "astra doctor"


def _of_disk(runtime: Runtime) -> Iterator[Trouble]:
    if runtime.reserve.is_low():
        why = "what is left is kept for stop, rollback and your decisions; agents are refused"
        yield "disk", "the disk is almost full", why, "astra doctor"


def _of_witness(runtime: Runtime) -> Iterator[Trouble]:
    if trouble := status.witness_state(runtime)["trouble"]:
        title = "the witness does not have the newest checkpoint"
        yield "witness", title, trouble, "astra ledger verify"


def _of_app(runtime: Runtime) -> Iterator[Trouble]:
    if (app := runtime.deployer.state()) and app["trouble"]:
        yield "app", "the app does not serve as it should", app["trouble"], "astra releases"


def _of_lanes(runtime: Runtime) -> Iterator[Trouble]:
    for lane in _LANES:
        if trouble := runtime.background.trouble(lane):
            yield lane, f"background work ({lane}) fails", trouble, "astra status"


def _of_rules(runtime: Runtime) -> Iterator[Trouble]:
    """Name the alerts that a rule raised and nobody silenced."""
    for alert in alert_book.list_shown(runtime.ledger, now=runtime.clock.now()):
        if not alert.silenced and alert.name not in _TOLD_ABOVE:
            yield f"rule-{alert.name}", f"alert: {alert.name}", alert.text, alert.next_step


def _of_servers(runtime: Runtime) -> Iterator[Trouble]:
    """Name other MCP servers whose tools wait for a signature, or that do not run."""
    state = status.servers_state(runtime)
    for name in state["resting"]:
        why = "they are new, or not what you signed for any more; until you sign they rest"
        command = f"astra servers accept {name}"
        yield f"server-{name}", f"tools of the server {name} rest", why, command
    for name, why in state["troubles"].items():
        title = f"the server {name} does not run"
        yield f"server-{name}-start", title, why, f"astra servers show {name}"


def _of_configuration(runtime: Runtime) -> Iterator[Trouble]:
    if status.configuration_state(runtime) != "signed":
        title = "astra.toml was changed since you signed it"
        why = "the signed text counts; sign the new one, or put the old one back"
        yield "configuration", title, why, "astra config sign"
