"""Putting together what watches over a running Astra: smoke probes and alerts."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any

from astra import flow
from astra.adapters import smoke_probes
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.configured_model import ConfiguredModel
from astra.adapters.trace_export import TraceExport
from astra.bootstrap.base import Base
from astra.bootstrap.planning import find_model
from astra.deployments.service import Deployer
from astra.flow import Background, Lane, lanes
from astra.numbers.alert_signals import read_signals
from astra.operations import alert_rules
from astra.operations.alert_rules import Rule
from astra.operations.alerting import Alerting
from astra.operations.receipts import Receipts
from astra.operations.smoke import Probe
from astra.persona.chat import Chat
from astra.schedules.executor import Executor
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.kernel.clock import parse_time
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import authority, contract
from astra.trusted.policy.call import Actor, Role
from astra.trusted.stop.machines import Machines

_SMOKE = Actor(role=Role.AGENT, name="smoke", door="smoke")


def make_probes(
    base: Base,
    *,
    sandbox: Sandbox,
    counter: Counter,
    chat: Chat,
    executor: Executor,
    deployer: Deployer,
    background: Background,
) -> dict[str, Probe]:
    """Name what `astra smoke` tries, in the order in which it is shown."""
    models = find_model(base, "")
    probes: dict[str, Probe] = {
        "ledger verify": partial(smoke_probes.verify_chain, base.root, base.chain),
        "tools": partial(smoke_probes.call_tools, partial(_call_tool, counter)),
        "http": partial(smoke_probes.ask_http, base.root.run),
        "mcp": partial(smoke_probes.speak_mcp, base.root.run),
        "chat": partial(_check_chat, chat, models),
        "model": partial(smoke_probes.reach_model, models.find_address),
        "executor": partial(_check_executor, base, executor, background),
        "sandbox": partial(smoke_probes.run_box, sandbox, base.stops.is_stopped),
        "supervisor": lambda: smoke_probes.check_supervisor(deployer.state()),
        "logs": partial(smoke_probes.check_logs, base.root.log.parent),
        "disk": partial(smoke_probes.check_disk, base.reserve),
    }
    return probes


def _call_tool(counter: Counter, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return counter.call(Request(name=name, arguments=arguments, actor=_SMOKE))


def _check_chat(chat: Chat, models: ConfiguredModel) -> str:
    """See that conversations can be read, and that chat is open or says why it is not."""
    conversations, _ = chat.conversations.page(limit=1)
    history = "conversations can be read" if conversations else "no conversation yet"
    if reason := chat.find_closed_reason(frozenset()):
        return f"{history}; closed: {reason.detail}"
    try:
        chat.talkers.talker()
    except AstraError as error:
        if models.configured():
            raise
        return f"{history}; {error.detail}"
    return f"{history}; a model is configured"


def _check_executor(base: Base, executor: Executor, background: Background) -> str:
    due = executor.next_due()
    late = (base.clock.now() - parse_time(due)).total_seconds() if due else 0.0
    return smoke_probes.check_executor(
        closed=base.switches.why_no_firings(),
        trouble=background.trouble(flow.QUICK, flow.FIRINGS, flow.JOBS),
        lag_seconds=late,
        alive=background.is_alive(),
    )


def make_receipts(base: Base) -> Receipts:
    """Make what proves single records; hashes come from the stored chain, not from the index."""

    def read_hashes(count: int) -> list[bytes]:
        lines = islice(base.chain.read_lines(), count)
        return [bytes.fromhex(line[-66:-2]) for line in lines]

    return Receipts(base.ledger, base.clock, base.root.read_ledger_key, read_hashes)


def make_traces_lane(base: Base) -> Lane:
    """Send stories to the collector that the signed configuration names, if it names one."""
    export = TraceExport(
        ledger=base.ledger,
        place=base.root.var / "traces.json",
        root_id=lambda: authority.find_keys(base.ledger).root_id,
        endpoint=lambda: base.configuration().traces.endpoint,
    )
    return lanes.traces_lane(is_due=export.is_due, advance=export.advance)


def make_alerting(base: Base, *, deployer: Deployer, troubles: Callable[[], str]) -> Alerting:
    """Make what compares signals with rules; what fails in the background is asked when it runs."""

    def read_rules() -> tuple[Rule, ...]:
        own_rules = alert_rules.read_rules(contract.signed_text(base.ledger))
        return alert_rules.combine(alert_rules.read_built_in(), own_rules)

    def read_values() -> dict[str, float | None]:
        return {
            **read_ledger_signals(base),
            "disk_free_share": smoke_probes.compute_free_share(base.root.path),
            "chain_trouble": float(_has_chain_trouble(base)),
            "clock_behind_seconds": _compute_clock_lag(base),
            "machines_away": _count_away(base.machines),
            "background_trouble": float(bool(troubles())),
            "app_trouble": float(_has_app_trouble(deployer)),
        }

    return Alerting(base.ledger, base.clock, read_rules, read_values)


def read_ledger_signals(base: Base) -> dict[str, float | None]:
    """Read the signals that follow from records."""
    pending = base.desk.list_by_state()
    oldest = min((approval.requested_at for approval in pending), default=None)
    return read_signals(base.ledger, now=base.clock.now(), oldest_decision=oldest)


def _has_chain_trouble(base: Base) -> bool:
    return bool(base.ledger.holds or base.ledger.trouble or base.witness.state()["trouble"])


def _compute_clock_lag(base: Base) -> float:
    """Say how far the machine's clock is behind the last record."""
    head = base.ledger.head()
    behind = (parse_time(head.time) - base.clock.machine.now()).total_seconds()
    return max(behind, 0.0)


def _count_away(machines: Machines) -> float | None:
    """Count the machines that do not answer; None where this one is alone."""
    if not machines.own_id:
        return None
    return float(sum(not machine.is_answering for machine in machines.list_machines()))


def _has_app_trouble(deployer: Deployer) -> bool:
    state = deployer.state()
    return bool(state and state["trouble"])
