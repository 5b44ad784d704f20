"""What a client's model reads first: what is off now, what to use, and when to ask a person.

The table of ways names what people ask for in their own words, so that a model that was asked to
"edit the code" or to "remind me" finds the tool. Only tools of the session are named.
"""

from collections.abc import Callable, Mapping, Sequence

from astra.interfaces.mcp.session import Session
from astra.interfaces.mcp.toolsets import NamedTool
from astra.persona import introduction

_USE = """\
Astra lets you see and change your own source code, under rules that people set. Use its tools \
instead of a shell:
"""
_WAYS = (
    ("read or search code", ("read_source_code", "search_source", "list_source_files")),
    (
        "edit code, fix a bug, commit, open a change or pull request, revert",
        ("schedule_code_modification", "astra.changes.get"),
    ),
    ("deploy, release", ("deploy_agent_code",)),
    ("remember, take notes", ("write_file", "read_file", "list_files")),
    ("wishes, ideas, what to do some day", ("astra.desires.record", "astra.desires.list")),
    (
        "remind me, cron, every night, later",
        ("astra.schedule.create", "astra.schedule.history"),
    ),
    ("plan longer work, ask for permissions", ("astra.plans.draft", "astra.plans.get")),
    ("a goal to work towards", ("astra.goals.create", "astra.goals.show")),
    ("research, look something up", ("research_and_summarize", "fetch_url")),
    ("run a command, run tests", ("run_in_sandbox",)),
    ("what works, what happened, what waits", ("astra.health", "astra.awareness.read")),
)
_OPERATOR = """\
This is an operator's session: {operator} are here too. Approving answers with a link where the \
person signs; you never decide for them.
"""
_OF_SESSION = "This session may make {} calls."
_OPERATOR_TOOLS = ("astra.approvals.approve", "astra.approvals.reject", "astra.flags.set")


def write(session: Session, flags: Mapping[str, bool], tools: Sequence[NamedTool]) -> str:
    """Write it for a session that sees these tools."""

    def names(*dotted: str) -> str:
        return ", ".join(name if session.dotted else name.replace(".", "_") for name in dotted)

    parts = [
        _USE + _list_ways({tool.name for tool in tools}, names),
        introduction.describe_switched_off(flags, session.off),
        introduction.approvals(names),
    ]
    if session.operator:
        parts.append(_OPERATOR.format(operator=names(*_OPERATOR_TOOLS)))
    sentence = "Your token may make {} calls an hour." if session.budget.hourly else _OF_SESSION
    parts.append(sentence.format(session.budget.limit))
    return "\n".join(parts)


def _list_ways(visible: set[str], names: Callable[..., str]) -> str:
    lines = [
        f"- {way}: {names(*offered)}\n"
        for way, tools in _WAYS
        if (offered := [name for name in tools if name in visible])
    ]
    return "".join(lines)
