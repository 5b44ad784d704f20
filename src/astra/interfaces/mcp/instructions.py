"""What a client's model reads first: what is off now, what to use, and when to ask a person."""

from collections.abc import Mapping

from astra.interfaces.mcp.session import Session
from astra.settings.environment import FLAGS

_USE = """\
Astra lets you see and change your own source code, under rules that people set. Use its tools \
instead of a shell: {read} show your source; {own} are for your own notes; {health} says what works.
"""
_APPROVALS = """\
When a call answers `needs_approval`, nothing has happened yet. Tell the operator plainly that you \
need their approval, name the approval id and what it is for, and make exactly the same call again \
once they have approved. You cannot approve anything yourself, and no other tool leads around it. \
{pending} lists what waits.
Every refusal carries a `code` and a `next_step`; repeating the same call does not change it.
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
        _switched_off(session, flags),
        _APPROVALS.format(pending=names("astra.approvals.pending")),
    ]
    if session.operator:
        tools = ("astra.approvals.approve", "astra.approvals.reject", "astra.flags.set")
        parts.append(_OPERATOR.format(operator=names(*tools)))
    parts.append(f"This session may make {session.budget.limit} calls.")
    return "\n".join(parts)


def _switched_off(session: Session, flags: Mapping[str, bool]) -> str:
    lines = [
        f"- {name} ({FLAGS[name][1]}): {_how(session, name)}"
        for name, on in flags.items()
        if not on
    ]
    if not lines:
        return "Nothing is switched off right now.\n"
    return "\n".join(["Switched off right now; their tools are not listed:", *lines, ""])


def _how(session: Session, name: str) -> str:
    if name in session.off:
        return f"off in the environment this client started with; unset {name} there"
    return f"an operator turns it on with `astra flags set {name} on`"
