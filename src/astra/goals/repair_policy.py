"""Adopting a repair without asking: off unless the operator signed until when.

The policy is one line of the signed `astra.toml` (`[goals] adopt_repairs_until`). It covers a goal
that the daemon itself made because a release was taken back, planned by methods, whose tasks look,
write a proposal, check or ask. What they propose waits for a signature as every change does; a
graph that deploys, or hands work to a plan, is put before the operator.
"""

from datetime import datetime

from astra.goals import events
from astra.goals.graph import Graph
from astra.goals.kinds import Kind
from astra.goals.model import Goal
from astra.trusted.changes.policy import is_in_force
from astra.trusted.ledger.ports import Ledger

TASK, SOURCE, CATEGORY = "repair_after_rollback", "rollback", "maintenance"
_KINDS = frozenset({Kind.RESEARCH, Kind.RUN_TOOL, Kind.CODE_MODIFY, Kind.CHECK, Kind.ASK_OPERATOR})
_LOOKING = frozenset({"list_source_files", "read_source_code", "search_source"})


def repair_key(deployment: str) -> str:
    """Name the one goal that a rollback makes."""
    return f"repair:{deployment}"


def find_objection(ledger: Ledger, goal: Goal, graph: Graph, *, until: str, now: datetime) -> str:
    """Say why the signed policy does not adopt a goal, or nothing."""
    if not until:
        return "there is no policy"
    if not is_in_force(until, now):
        return "the policy has no end, or is over"
    if goal.task != TASK or not _is_made_by_rollback(ledger, goal):
        return "it is no repair that a rollback asked for"
    return _find_in_graph(graph)


def _is_made_by_rollback(ledger: Ledger, goal: Goal) -> bool:
    """Tell by the record that made it: its key is the daemon's, and is claimed once."""
    created = ledger.records_of(goal.id, events.CREATED)
    return bool(
        created
        and created[0].actor == events.DAEMON
        and created[0].key == repair_key(str(created[0].data.get("deployment", "")))
    )


def _find_in_graph(graph: Graph) -> str:
    if graph.proposed_by != "methods":
        return "no method planned it"
    for node in graph.nodes:
        if node.kind not in _KINDS or (node.tool and node.tool not in _LOOKING):
            return f"{node.path} is a {node.kind} {node.tool}".rstrip()
    return ""
