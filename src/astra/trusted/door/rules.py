"""Who may use which route at the loopback port. What is not named here is refused there.

On the daemon's own socket these do not apply: the kernel says who is at its other end.

No rule lets anybody loosen. What loosens takes a signature in the body, whoever sends it; what an
operator's session may do without one (reject, pause, stop, turn off) only tightens. `AS_AGENT`
marks what an agent may do over MCP as well: the same tools, behind the same gate.
"""

from dataclasses import dataclass

from astra.trusted.policy.call import Role


@dataclass(frozen=True, kw_only=True)
class Rule:
    roles: frozenset[Role]
    public: bool = False
    stream: bool = False
    """The answer may stay open for long; it ends when whoever asked is not recognised any more."""


PUBLIC = Rule(roles=frozenset(), public=True)
SOCKET_ONLY = Rule(roles=frozenset())
LOOK = Rule(roles=frozenset({Role.VIEWER, Role.OPERATOR}))
LOOK_AS_AGENT = Rule(roles=frozenset(Role))
ACT_AS_AGENT = Rule(roles=frozenset({Role.AGENT, Role.OPERATOR}))
DECIDE = Rule(roles=frozenset({Role.OPERATOR}))
BRING = LOOK
"""A device of one's own: it hears what whoever brought it may look at."""
FOLLOW = Rule(roles=LOOK.roles, stream=True)
TALK = Rule(roles=frozenset({Role.OPERATOR}), stream=True)
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
    "GET /api/devices": LOOK,
    "POST /api/devices": BRING,
    "DELETE /api/devices/{identifier}": BRING,
    "POST /api/statements": DECIDE,
    "GET /api/status": LOOK,
    "GET /api/budgets": LOOK,
    "GET /api/metrics": LOOK,
    "GET /api/metrics/{name}": LOOK,
    "POST /api/down": SOCKET_ONLY,
    "GET /api/stop": LOOK,
    "POST /api/stop": DECIDE,
    "POST /api/stop/record": SOCKET_ONLY,
    "POST /api/start": DECIDE,
    "GET /api/flags": LOOK,
    "POST /api/flags": DECIDE,
    "GET /api/config": LOOK,
    "POST /api/config": DECIDE,
    "GET /api/operator": LOOK,
    "POST /api/operator": DECIDE,
    "GET /api/ledger": LOOK,
    "GET /api/ledger/head": LOOK,
    "GET /api/ledger/story/{identifier}": LOOK,
    "POST /api/ledger/rebuild": SOCKET_ONLY,
    "POST /api/ledger/verify": DECIDE,
    "GET /api/restore": LOOK,
    "POST /api/restore": DECIDE,
    "GET /api/events": FOLLOW,
    "GET /api/tools": LOOK_AS_AGENT,
    "POST /api/tools/{name}": ACT_AS_AGENT,
    "GET /api/approvals": LOOK,
    "GET /api/approvals/{identifier}": LOOK,
    "POST /api/approvals/{identifier}/approve": DECIDE,
    "POST /api/approvals/{identifier}/reject": DECIDE,
    "GET /api/schedules": LOOK_AS_AGENT,
    "GET /api/schedules/explain": LOOK,
    "GET /api/schedules/{identifier}": LOOK,
    "GET /api/schedules/{identifier}/history": LOOK_AS_AGENT,
    "POST /api/schedules": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}/pause": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}/resume": ACT_AS_AGENT,
    "POST /api/schedules/{identifier}/run": DECIDE,
    "POST /api/schedules/{identifier}/approval": DECIDE,
    "GET /api/desires": LOOK_AS_AGENT,
    "GET /api/desires/suggestions": LOOK_AS_AGENT,
    "GET /api/desires/{identifier}": LOOK_AS_AGENT,
    "POST /api/desires": ACT_AS_AGENT,
    "POST /api/desires/prune": ACT_AS_AGENT,
    "POST /api/desires/{identifier}/reinforce": ACT_AS_AGENT,
    "POST /api/desires/{identifier}/promote": ACT_AS_AGENT,
    "GET /api/awareness": LOOK_AS_AGENT,
    "GET /api/goals": LOOK,
    "GET /api/goals/{identifier}": LOOK,
    "GET /api/changes": LOOK,
    "GET /api/changes/{identifier}": LOOK,
    "GET /api/changes/{identifier}/diff": LOOK,
    "GET /api/changes/{identifier}/lines": LOOK,
    "GET /api/changes/{identifier}/output": LOOK,
    "GET /api/changes/{identifier}/evidence": LOOK,
    "POST /api/changes": ACT_AS_AGENT,
    "POST /api/changes/{identifier}/test": DECIDE,
    "POST /api/changes/{identifier}/comments": DECIDE,
    "POST /api/changes/{identifier}/approval": DECIDE,
    "POST /api/changes/{identifier}/approve": DECIDE,
    "POST /api/changes/{identifier}/reject": DECIDE,
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
    "GET /api/deployments": LOOK,
    "GET /api/deployments/order": LOOK,
    "GET /api/deployments/{identifier}": LOOK,
    "POST /api/deployments": DECIDE,
    "GET /api/rollback": LOOK,
    "POST /api/rollback": DECIDE,
    "POST /api/dry-runs": DECIDE,
    "POST /api/dry-runs/{identifier}/approve": DECIDE,
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
    "GET /api/sandbox": LOOK,
    "POST /api/sandbox/off-unsafe": DECIDE,
    "POST /api/sandbox/on": DECIDE,
    "GET /api/chat": LOOK,
    "POST /api/chat": TALK,
    "GET /api/chat/{identifier}": LOOK,
    "POST /api/chat/{identifier}/silence": DECIDE,
    "GET /v1/models": LOOK,
    "POST /v1/chat/completions": TALK,
    "GET /mcp": AGENTS_ONLY,
    "POST /mcp": AGENTS_ONLY,
    "DELETE /mcp": AGENTS_ONLY,
}
