"""Every cap on what an actor may do or keep without a person's approval, in one table.

What tools keep (changes, plans, schedules, notes) is counted where it is kept, within the budgets
of a day. Two caps and those budgets are the operator's to change, in the signed configuration
(`[budgets]`); the others are fixed.
"""

from astra.trusted.policy.caps import BOXES_AT_ONCE, CALLS_AT_ONCE, WAITING_REQUESTS, Cap

_ALL = "all together"

MCP_SESSIONS = Cap(
    most=32,
    what="MCP sessions of yours are open",
    code="too_many_sessions",
    next_step="end a session that you do not need any more, then connect again",
)
OPEN_CHANGES = Cap(
    most=50,
    what="changes are open",
    next_step="wait until the operator has decided some of them: astra changes list",
    counted_for=_ALL,
)
WAITING_PLANS = Cap(
    most=20,
    what="plans wait for the operator",
    next_step="wait until the operator has decided some of them: astra plans list",
    counted_for=_ALL,
)
WAITING_PROMOTIONS = Cap(
    most=10,
    what="promotions wait for the operator",
    next_step="wait until the operator has decided some of them: astra approvals",
    counted_for=_ALL,
)
WAITING_GOALS = Cap(
    most=20,
    what="goals wait for the operator",
    next_step="wait until the operator has adopted or abandoned some of them: astra goals list",
    counted_for=_ALL,
)
BELIEF_PROPOSALS = Cap(
    most=100,
    what="statements of agents are kept",
    code="too_many_statements",
    next_step="query the beliefs there are; what the server counts it counts without being told",
    counted_for=_ALL,
)
ACTIVE_SCHEDULES = Cap(
    most=500,
    what="schedules are active",
    code="too_many_schedules",
    next_step="pause schedules that are not needed any more: astra schedules list",
    counted_for=_ALL,
)
SCHEDULE_PAYLOAD_BYTES = Cap(
    most=64 * 1024,
    what="bytes are the most a schedule's payload may have; this one is larger",
    code="payload_too_large",
    next_step="write what is long into a file and name the file",
    counted_for="each schedule",
)
NOTE_NAMES = Cap(
    most=5_000,
    what="files and folders are in the persona space",
    code="too_many_files",
    next_step="delete notes with delete_file; empty folders are the operator's to remove",
    counted_for=_ALL,
)
NOTE_BYTES = Cap(
    most=256 * 1024 * 1024,
    what="bytes are in the persona space",
    code="persona_space_full",
    next_step="delete notes that are not needed any more, with delete_file",
    counted_for=_ALL,
)
RESEARCH_BYTES = Cap(
    most=256 * 1024 * 1024,
    what="bytes are the most that research may keep of pages and notes; that many are kept",
    code="research_folder_full",
    next_step="the operator can remove files from var/research; citations of them are then gone",
    counted_for=_ALL,
)

CAPS: dict[str, Cap] = {
    "calls running at once": CALLS_AT_ONCE,
    "boxes running at once": BOXES_AT_ONCE,
    "requests for approval that wait": WAITING_REQUESTS,
    "MCP sessions open, at each door": MCP_SESSIONS,
    "changes that are open": OPEN_CHANGES,
    "plans that wait for a decision": WAITING_PLANS,
    "promotions of desires that wait": WAITING_PROMOTIONS,
    "goals that wait to be adopted": WAITING_GOALS,
    "statements that were proposed as beliefs": BELIEF_PROPOSALS,
    "schedules that are active": ACTIVE_SCHEDULES,
    "bytes of a schedule's payload": SCHEDULE_PAYLOAD_BYTES,
    "files and folders in the persona space": NOTE_NAMES,
    "bytes in the persona space": NOTE_BYTES,
    "bytes of pages and notes that research keeps": RESEARCH_BYTES,
}
