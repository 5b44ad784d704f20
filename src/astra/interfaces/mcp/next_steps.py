"""Next steps as a model can take them: tools where there is one, and otherwise words to pass on.

Errors name commands, because people read them too. A model has no terminal: a command that has a
tool becomes that tool, and any other becomes something to tell the operator.

>>> for_model("look at `astra changes show chg_1`")
'look at astra_changes_get with id chg_1'
>>> for_model("run `astra doctor`")
'tell the operator: run `astra doctor`'
"""

import re

_COMMAND = re.compile(r"`astra ([a-z]+)(?: ([a-z]+))?( [^`]*)?`")
TOOLS = {
    "approvals": "astra_approvals_pending",
    "inbox": "astra_approvals_pending",
    "status": "astra_health",
    "changes list": "astra_changes_list",
    "changes show": "astra_changes_get",
    "changes diff": "astra_changes_get",
    "changes propose": "schedule_code_modification",
    "plans list": "astra_plans_list",
    "plans show": "astra_plans_get",
    "plans draft": "astra_plans_draft",
    "plans answer": "astra_plans_answer",
    "goals list": "astra_goals_list",
    "goals show": "astra_goals_show",
    "goals create": "astra_goals_create",
    "desires list": "astra_desires_list",
    "desires record": "astra_desires_record",
    "schedules list": "astra_schedule_list",
    "schedules show": "astra_schedule_list",
    "schedules create": "astra_schedule_create",
    "schedules history": "astra_schedule_history",
    "source list": "list_source_files",
    "source read": "read_source_code",
    "source search": "search_source",
    "tools list": "tools/list",
}
_TO_A_PERSON = re.compile(r"\b(operator|person|they|human)\b", re.IGNORECASE)


def for_model(next_step: str) -> str:
    """Rewrite the commands in a next step; one without a command stays as it is."""
    if "`astra " not in next_step:
        return next_step
    text = _COMMAND.sub(_name_tool, next_step)
    if "`astra " in text and not _TO_A_PERSON.search(text):
        return f"tell the operator: {text}"
    return text


def _name_tool(command: re.Match[str]) -> str:
    family, action, argument = (
        command.group(1),
        command.group(2) or "",
        (command.group(3) or "").strip(),
    )
    tool = TOOLS.get(f"{family} {action}".strip()) or (TOOLS.get(family) if not action else None)
    if tool is None:
        return command.group(0)
    is_id = argument and not argument.startswith("-") and " " not in argument
    return f"{tool} with id {argument}" if is_id else tool
