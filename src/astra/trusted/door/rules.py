"""Who may use which route at the loopback port. What is not named here is refused there.

On the daemon's own socket these do not apply: the kernel says who is at its other end.

No rule lets anybody loosen. What loosens takes a signature in the body, whoever sends it; what an
operator's session may do without one (reject, pause, stop, turn off) only tightens. `AS_AGENT`
marks what an agent may do over MCP as well: the same tools, behind the same gate.

A token may be for less than its role (`find_scope_objection`): for the routes that it names; or,
where it is for some tools, a tier or some paths, for the routes at which calls pass the gate, as
nothing else knows of tools and paths. A service's token always names its routes.
"""

from dataclasses import dataclass

from astra.trusted.policy.call import Role
from astra.trusted.policy.limits import Limits


@dataclass(frozen=True, kw_only=True)
class Rule:
    roles: frozenset[Role]
    public: bool = False
    stream: bool = False
    """The answer may stay open for long; it ends when whoever asked is not recognised any more."""


PUBLIC = Rule(roles=frozenset(), public=True)
SOCKET_ONLY = Rule(roles=frozenset())
LOOK = Rule(roles=frozenset({Role.VIEWER, Role.OPERATOR, Role.SERVICE}))
LOOK_AS_AGENT = Rule(roles=frozenset(Role))
ACT_AS_AGENT = Rule(roles=frozenset({Role.AGENT, Role.OPERATOR, Role.SERVICE}))
DECIDE = Rule(roles=frozenset({Role.OPERATOR}))
BRING = Rule(roles=frozenset({Role.VIEWER, Role.OPERATOR}))
"""A device of one's own: it hears what whoever brought it may look at."""
FOLLOW = Rule(roles=LOOK.roles, stream=True)
TALK = Rule(roles=frozenset({Role.OPERATOR, Role.SERVICE}), stream=True)
"""Spends the operator's model; what the persona does meanwhile, it does as an agent."""
AGENTS_ONLY = Rule(roles=frozenset({Role.AGENT}), stream=True)

RULES: dict[str, Rule] = {
    "GET /healthz": PUBLIC,
    "GET /openapi.json": PUBLIC,
    "GET /metrics": LOOK,
    "POST /api/session": PUBLIC,
    "GET /api/session": LOOK_AS_AGENT,
    "DELETE /api/session": DECIDE,
    "POST /api/login": SOCKET_ONLY,
    "GET /api/tokens": LOOK,
    "POST /api/tokens": DECIDE,
    "POST /api/tokens/{identifier}/revoke": DECIDE,
    "POST /api/session/challenge": PUBLIC,
    "POST /api/session/passkey": PUBLIC,
    "GET /api/passkeys": LOOK,
    "POST /api/passkeys": DECIDE,
    "POST /api/passkeys/{identifier}/revoke": DECIDE,
    "POST /api/passkeys/enrolments": SOCKET_ONLY,
    "POST /api/passkeys/enrolments/candidate": SOCKET_ONLY,
    "POST /api/passkeys/enrolments/options": PUBLIC,
    "POST /api/passkeys/enrolments/made": PUBLIC,
    "POST /api/passkeys/enrolments/outcome": PUBLIC,
    "POST /api/passkeys/enrolments/session": PUBLIC,
    "GET /api/devices": LOOK,
    "POST /api/devices": BRING,
    "DELETE /api/devices/{identifier}": BRING,
    "POST /api/statements": DECIDE,
    "GET /api/status": LOOK,
    "GET /api/budgets": LOOK,
    "GET /api/spend": LOOK,
    "GET /api/metrics": LOOK,
    "GET /api/metrics/{name}": LOOK,
    "POST /api/down": SOCKET_ONLY,
    "GET /api/stop": LOOK,
    "POST /api/stop": DECIDE,
    "POST /api/stop/record": SOCKET_ONLY,
    "GET /api/machines": LOOK,
    "DELETE /api/machines/{identifier}": SOCKET_ONLY,
    "GET /api/workers": LOOK,
    "POST /api/start": DECIDE,
    "GET /api/flags": LOOK,
    "POST /api/flags": DECIDE,
    "GET /api/config": LOOK,
    "POST /api/config": DECIDE,
    "POST /api/config/check": SOCKET_ONLY,
    "GET /api/environments": LOOK,
    "DELETE /api/environments": SOCKET_ONLY,
    "DELETE /api/environments/{name}": SOCKET_ONLY,
    "GET /api/operator": LOOK,
    "POST /api/operator": DECIDE,
    "GET /api/operators": LOOK,
    "POST /api/operators": DECIDE,
    "GET /api/ledger": LOOK,
    "GET /api/ledger/head": LOOK,
    "GET /api/ledger/story/{identifier}": LOOK,
    "GET /api/ledger/receipts/{identifier}": LOOK,
    "POST /api/ledger/rebuild": SOCKET_ONLY,
    "POST /api/ledger/verify": DECIDE,
    "GET /api/restore": LOOK,
    "POST /api/restore": DECIDE,
    "GET /api/events": FOLLOW,
    "GET /api/tools": LOOK_AS_AGENT,
    "POST /api/tools/{name}": ACT_AS_AGENT,
    "GET /api/inbox": LOOK,
    "GET /api/approvals": LOOK,
    "GET /api/approvals/{identifier}": LOOK,
    "POST /api/approvals/{identifier}/check": DECIDE,
    "POST /api/approvals/{identifier}/approve": DECIDE,
    "POST /api/approvals/{identifier}/reject": DECIDE,
    "GET /api/permissions": LOOK,
    "GET /api/permissions/content": LOOK,
    "POST /api/permissions": DECIDE,
    "DELETE /api/permissions/{identifier}": DECIDE,
    "GET /api/merge-permissions": LOOK,
    "POST /api/merge-permissions/content": DECIDE,
    "POST /api/merge-permissions": DECIDE,
    "DELETE /api/merge-permissions/{identifier}": DECIDE,
    "GET /api/schedules": LOOK_AS_AGENT,
    "GET /api/schedules/explain": LOOK,
    "GET /api/schedules/{identifier}": LOOK,
    "GET /api/schedules/{identifier}/history": LOOK_AS_AGENT,
    "POST /api/schedules": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}/pause": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}/resume": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}/delete": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}/run": DECIDE,
    "POST /api/schedules/{identifier}/approval": DECIDE,
    "GET /api/desires": LOOK_AS_AGENT,
    "GET /api/desires/suggestions": LOOK_AS_AGENT,
    "GET /api/desires/{identifier}": LOOK_AS_AGENT,
    "POST /api/desires": ACT_AS_AGENT,
    "POST /api/desires/prune": ACT_AS_AGENT,
    "POST /api/desires/{identifier}/reinforce": ACT_AS_AGENT,
    "POST /api/desires/{identifier}/promote": ACT_AS_AGENT,
    "POST /api/desires/{identifier}/approval": DECIDE,
    "GET /api/awareness": LOOK_AS_AGENT,
    "GET /api/beliefs": LOOK_AS_AGENT,
    "POST /api/beliefs": ACT_AS_AGENT,
    "GET /api/beliefs/{identifier}": LOOK_AS_AGENT,
    "POST /api/beliefs/{identifier}/deprecate": DECIDE,
    "GET /api/goals": LOOK,
    "POST /api/goals": ACT_AS_AGENT,
    "POST /api/goals/content": DECIDE,
    "GET /api/goals/{identifier}": LOOK,
    "GET /api/goals/{identifier}/graph": LOOK,
    "POST /api/goals/{identifier}/approval": DECIDE,
    "POST /api/goals/{identifier}/run": DECIDE,
    "POST /api/goals/{identifier}/pause": DECIDE,
    "POST /api/goals/{identifier}/retry": DECIDE,
    "POST /api/goals/{identifier}/close": DECIDE,
    "POST /api/goals/{identifier}/abandon": DECIDE,
    "POST /api/goals/{identifier}/reopen": DECIDE,
    "GET /api/research": LOOK,
    "POST /api/research": ACT_AS_AGENT,
    "GET /api/research/{identifier}": LOOK,
    "GET /api/changes": LOOK,
    "GET /api/changes/{identifier}": LOOK,
    "GET /api/changes/{identifier}/diff": LOOK,
    "GET /api/changes/{identifier}/lines": LOOK,
    "GET /api/changes/{identifier}/output": LOOK,
    "GET /api/changes/{identifier}/evidence": LOOK,
    "GET /api/changes/{identifier}/decision": LOOK,
    "POST /api/changes": ACT_AS_AGENT,
    "POST /api/changes/{identifier}/test": DECIDE,
    "POST /api/changes/{identifier}/comments": DECIDE,
    "POST /api/changes/{identifier}/approval": DECIDE,
    "POST /api/changes/{identifier}/approve": DECIDE,
    "POST /api/changes/{identifier}/reject": DECIDE,
    "GET /api/sync": LOOK,
    "POST /api/sync": DECIDE,
    "GET /api/tasks": LOOK,
    "GET /api/tasks/{identifier}": LOOK,
    "POST /api/agents": ACT_AS_AGENT,
    "GET /api/agents": LOOK_AS_AGENT,
    "GET /api/agents/waiting": LOOK,
    "GET /api/agents/{identifier}": LOOK_AS_AGENT,
    "POST /api/agents/{identifier}/answers": ACT_AS_AGENT,
    "POST /api/agents/{identifier}/approval": DECIDE,
    "POST /api/agents/{identifier}/approve": DECIDE,
    "POST /api/agents/{identifier}/reject": DECIDE,
    "POST /api/agents/{identifier}/revise": DECIDE,
    "POST /api/agents/{identifier}/hosts": DECIDE,
    "POST /api/agents/{identifier}/pause": DECIDE,
    "POST /api/agents/{identifier}/abort": DECIDE,
    "POST /api/agents/{identifier}/skip": DECIDE,
    "GET /api/agents/{identifier}/decision": LOOK,
    "POST /api/agents/{identifier}/resume": DECIDE,
    "POST /api/agents/{identifier}/grant": DECIDE,
    "POST /api/agents/{identifier}/extend_budget": DECIDE,
    "POST /api/agents/{identifier}/retry": DECIDE,
    "GET /api/agents/{identifier}/messages": LOOK,
    "POST /api/agents/{identifier}/messages": DECIDE,
    "POST /api/agents/{identifier}/silence": DECIDE,
    "GET /api/releases": LOOK,
    "GET /api/fleet": LOOK,
    "GET /api/deployments": LOOK,
    "GET /api/deployments/order": LOOK,
    "GET /api/deployments/order/difference": LOOK,
    "GET /api/deployments/{identifier}": LOOK,
    "POST /api/deployments": DECIDE,
    "GET /api/rollback": LOOK,
    "POST /api/rollback": DECIDE,
    "POST /api/dry-runs": DECIDE,
    "POST /api/dry-runs/{identifier}/approve": DECIDE,
    "GET /api/servers": LOOK,
    "GET /api/servers/{name}": LOOK,
    "POST /api/servers/{name}/look": DECIDE,
    "POST /api/servers/{name}/accept": DECIDE,
    "GET /api/alerts": LOOK,
    "POST /api/alerts/check": DECIDE,
    "POST /api/alerts/silences": DECIDE,
    "DELETE /api/alerts/silences/{name}": DECIDE,
    "POST /api/notify/test": DECIDE,
    "GET /api/smoke": LOOK,
    "POST /api/smoke": DECIDE,
    "POST /api/readiness": DECIDE,
    "POST /api/readiness/matrix": DECIDE,
    "POST /api/readiness/matrix/content": DECIDE,
    "POST /api/readiness/sign-off": DECIDE,
    "GET /api/agent_global_grants": LOOK,
    "GET /api/agent_global_grants/content": LOOK,
    "POST /api/agent_global_grants": DECIDE,
    "DELETE /api/agent_global_grants": DECIDE,
    "GET /api/clock": LOOK,
    "POST /api/clock/accept": DECIDE,
    "POST /api/ledger/archive/plan": DECIDE,
    "POST /api/ledger/archive": DECIDE,
    "GET /api/sandbox": LOOK,
    "POST /api/sandbox/off-unsafe": DECIDE,
    "POST /api/sandbox/on": DECIDE,
    "GET /api/chat": LOOK,
    "POST /api/chat": TALK,
    "GET /api/chat/{identifier}": LOOK,
    "POST /api/chat/{identifier}/silence": DECIDE,
    "DELETE /api/chat/{identifier}": DECIDE,
    "GET /v1/models": LOOK,
    "GET /v1/models/{model}": LOOK,
    "POST /v1/chat/completions": TALK,
    "GET /mcp": AGENTS_ONLY,
    "POST /mcp": AGENTS_ONLY,
    "DELETE /mcp": AGENTS_ONLY,
}

_WHO_AM_I = "GET /api/session"
_TOOL_DOORS = frozenset(
    {
        _WHO_AM_I,
        "GET /api/tools",
        "POST /api/tools/{name}",
        "POST /api/changes",
        "GET /mcp",
        "POST /mcp",
        "DELETE /mcp",
    }
)
"""Where nothing is answered that did not pass the gate as a call."""


def find_scope_objection(route: str, limits: Limits) -> str:
    """Say why a token is not for a route that its role may use, or nothing when it is."""
    if route == _WHO_AM_I:
        return ""
    if limits.routes and route not in limits.routes:
        return f"this token is not for {route}"
    if not limits.narrow_calls or route in _TOOL_DOORS:
        return ""
    if limits.paths:
        return f"this token is for some paths, and {route} knows of none"
    if not limits.routes or not _passes_gate(route):
        return f"this token is for some tools, and {route} is none"
    return ""


def _passes_gate(route: str) -> bool:
    """Tell whether a route only shows, or does no more than call a tool."""
    return route.startswith("GET ") or RULES.get(route) == ACT_AS_AGENT
