"""The sets that tools belong to, for whoever shows a model fewer than all of them.

A set is for the reader's sake (a shorter list, fewer things to mistake for another). It says
nothing about what may be called: that is the gate's.
"""

ALWAYS = "health"
TOOLSETS: dict[str, tuple[str, ...]] = {
    "source": ("list_source_files", "read_source_code", "search_source"),
    "notes": ("list_files", "read_file", "write_file", "delete_file"),
    "changes": ("schedule_code_modification", "astra.changes.", "deploy_agent_code"),
    "sandbox": ("run_in_sandbox", "fetch_url"),
    "desires": ("astra.desires.",),
    "goals": ("astra.goals.", "execute_goal"),
    "plans": ("astra.plans.",),
    "schedules": ("astra.schedule.", "tasks_"),
    "research": ("research_and_summarize", "check_recent_research"),
    "beliefs": ("query_beliefs", "reflect_on_belief", "propose_belief"),
    "approvals": ("astra.approvals.", "astra.awareness.", "astra.flags.", "astra.stop"),
    "servers": ("mcp.",),
    ALWAYS: ("astra.health", "astra.smoke"),
}
"""Names of tools, or how they begin."""


def find_toolset(tool: str) -> str:
    """Name the set a tool is in.

    >>> find_toolset("astra.plans.get")
    'plans'
    """
    for name, beginnings in TOOLSETS.items():
        if tool.startswith(beginnings):
            return name
    return ALWAYS
