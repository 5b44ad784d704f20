"""What a client's model reads first: what is off now, what to use, and when to ask a person."""

from collections.abc import Mapping

from astra.interfaces.mcp.session import Session
from astra.persona import introduction

_USE = """\
Astra lets you see and change your own source code, under rules that people set. Use its tools \
instead of a shell: {read} show your source; {own} are for your own notes; {health} says what works.
"""
_OPERATOR = """\
This is an operator's session: {operator} are here too. Approving answers with a link where the \
person signs; you never decide for them.
"""


def write(session: Session, flags: Mapping[str, bool]) -> str:
    def names(*dotted: str) -> str:
        return ", ".join(name if session.dotted else name.replace(".", "_") for name in dotted)

    parts = [
        _USE.format(
            read=names("list_source_files", "read_source_code", "search_source"),
            own=names("list_files", "read_file", "write_file", "delete_file"),
            health=names("astra.health"),
        ),
        introduction.switched_off(flags, session.off),
        introduction.approvals(names),
    ]
    if session.operator:
        tools = ("astra.approvals.approve", "astra.approvals.reject", "astra.flags.set")
        parts.append(_OPERATOR.format(operator=names(*tools)))
    parts.append(f"This session may make {session.budget.limit} calls.")
    return "\n".join(parts)
