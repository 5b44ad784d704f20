"""Every cap on what an actor may do or keep without a person's approval, in one table.

What runs or waits is counted before anything is recorded, so that being over a cap costs little;
what tools keep (changes, plans, schedules, notes) is counted where it is kept, within the budgets
of a day (`budgets`). Two caps and those budgets are the operator's to change, in the signed
configuration (`[budgets]`); the others are fixed.

>>> OPEN_CHANGES.build_error().reason
'too_many_waiting'
"""

from dataclasses import dataclass

from astra.trusted.kernel.errors import Refused

_ALL = "all together"


@dataclass(frozen=True, kw_only=True)
class Cap:
    """So many of something, for one actor (or for all agents together), and no more."""

    most: int
    what: str
    """What is counted, as it reads behind its number."""
    next_step: str
    code: str = "too_many_waiting"
    counted_for: str = "each actor"
    """All actors together, where what it protects (a person's list, a disk) is one for all."""
    setting: str = ""
    """The setting of astra.toml that changes it."""

    def build_error(self, most: int | None = None) -> Refused:
        """Give the error for one more than there may be."""
        number = self.most if most is None else most
        return Refused(
            f"{number:,} {self.what} already", code=self.code, next_step=self.next_step, most=number
        )


CALLS_AT_ONCE = Cap(
    most=16,
    what="calls of yours are running",
    code="too_many_at_once",
    next_step="wait until one of them has ended, then call again",
)
BOXES_AT_ONCE = Cap(
    most=4,
    what="boxes of yours are running",
    code="too_many_boxes",
    next_step="wait until one of them has ended, then call again",
    setting="budgets.boxes_at_once",
)
WAITING_REQUESTS = Cap(
    most=20,
    what="requests of yours wait for the operator",
    next_step="wait until the operator has decided some of them: astra approvals",
    setting="budgets.waiting_requests",
)
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

CALL_BURST, CALLS_PER_SECOND = 2_000, 100
"""How fast one actor may call; beyond, calls are refused before they are looked at."""
REFUSALS_A_MINUTE = 60
"""How many refusals of one actor have a record of their own in a minute; the rest are counted."""
STORED_ARGUMENTS = 4 * 1024
"""How many bytes of a call's arguments a record keeps; the digest covers all of them."""
