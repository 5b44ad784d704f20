"""What a model is told first, at every door: what is off now, and when a person has to decide."""

from collections.abc import Callable, Mapping

from astra.trusted.settings.flag_names import FLAGS

Name = Callable[[str], str]
_APPROVALS = """\
When a call answers `needs_approval`, nothing has happened yet. Tell the operator plainly that you \
need their approval, name the approval id and what it is for, and make exactly the same call again \
once they have approved. You cannot approve anything yourself, and no other tool leads around it. \
{pending} lists what waits.
Every refusal carries a `code` and a `next_step`; repeating the same call does not change it.
"""


def approvals(name: Name) -> str:
    return _APPROVALS.format(pending=name("astra.approvals.pending"))


def describe_switched_off(
    flags: Mapping[str, bool], in_environment: frozenset[str] = frozenset()
) -> str:
    lines = [
        f"- {name} ({FLAGS[name][1]}): {_explain_switch(name, in_environment)}"
        for name, on in flags.items()
        if not on
    ]
    if not lines:
        return "Nothing is switched off right now.\n"
    return "\n".join(["Switched off right now; their tools are not listed:", *lines, ""])


def _explain_switch(name: str, in_environment: frozenset[str]) -> str:
    if name in in_environment:
        return f"off in the environment this client started with; unset {name} there"
    return f"an operator turns it on with `astra flags set {name} on`"
