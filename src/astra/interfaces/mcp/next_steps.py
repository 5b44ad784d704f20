"""Next steps as a model can take them: tools where there is one, and otherwise words to pass on.

Errors name commands, because people read them too. A model has no terminal: a command that has a
tool becomes that tool, and any other becomes something to tell the operator.

>>> for_model("look at `astra changes show chg_1`")
'look at astra_changes_get with id chg_1'
>>> for_model("astra plans list")
'astra_plans_list'
>>> for_model("run `astra doctor`")
'tell the operator: run `astra doctor`'
>>> for_model("set port in astra.toml, then astra config sign")
'tell the operator: set port in astra.toml, then astra config sign'
"""

import re

from astra.interfaces.cli.main import COMMANDS

TOOLS = {
    "approvals": "astra_approvals_pending",
    "approvals show": "astra_approvals_pending",
    "inbox": "astra_approvals_pending",
    "status": "astra_health",
    "smoke": "astra_smoke",
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
    "goals run": "execute_goal",
    "beliefs list": "query_beliefs",
    "beliefs show": "reflect_on_belief",
    "desires list": "astra_desires_list",
    "desires show": "astra_desires_show",
    "desires record": "astra_desires_record",
    "desires reinforce": "astra_desires_reinforce",
    "desires promote": "astra_desires_promote",
    "research ask": "research_and_summarize",
    "research list": "check_recent_research",
    "research show": "check_recent_research",
    "schedules list": "astra_schedule_list",
    "schedules show": "astra_schedule_list",
    "schedules create": "astra_schedule_create",
    "schedules modify": "astra_schedule_modify",
    "schedules pause": "astra_schedule_pause",
    "schedules resume": "astra_schedule_resume",
    "schedules delete": "astra_schedule_delete",
    "schedules history": "astra_schedule_history",
    "source list": "list_source_files",
    "source read": "read_source_code",
    "source search": "search_source",
    "tasks list": "tasks_list",
    "tools list": "tools/list",
}
_WITHOUT_ID = frozenset({"astra_approvals_pending", "astra_schedule_list", "check_recent_research"})
_COMMAND = re.compile(
    rf"(?P<quote>`)?\bastra (?P<family>{'|'.join(COMMANDS)})\b"
    r"(?: (?P<action>[a-z]+)\b)?"
    r"(?: (?P<id>[a-z]+_[\w-]+|[A-Z]+)\b)?"
    r"(?(quote)[^`]*`|(?: --[\w-]+)*)"
)
_FOR_THE_OPERATOR = "tell the operator"
_TO_A_PERSON = re.compile(r"\b(operator|person|they|human)\b", re.IGNORECASE)


def for_model(next_step: str) -> str:
    """Rewrite the commands in a next step; one without a command stays as it is."""
    if next_step.startswith(_FOR_THE_OPERATOR):
        return next_step  # a person reads it in the end, and has a terminal
    text = _COMMAND.sub(_name_tool, next_step)
    if _COMMAND.search(text) is None:
        return text
    return next_step if _TO_A_PERSON.search(next_step) else f"{_FOR_THE_OPERATOR}: {next_step}"


def _name_tool(command: re.Match[str]) -> str:
    """Name the tool that does what a command does; without one the command stays."""
    family, action = command["family"], command["action"] or ""
    tool = TOOLS.get(f"{family} {action}".rstrip())
    if tool is None and family in TOOLS:  # a sentence goes on: "astra status says what is off"
        return command[0].replace(f"astra {family}", TOOLS[family])
    if tool is None:
        return command[0]
    return f"{tool} with id {command['id']}" if command["id"] and tool not in _WITHOUT_ID else tool
