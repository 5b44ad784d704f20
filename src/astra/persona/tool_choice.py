"""Which tools a model is shown in chat: a small core, and the sets that the talk is about.

    core + sets named by the last questions + sets used by the last answers + sets asked for

A model pays for every schema in every round, and a small one mistakes tools for each other. The
rule is words and ids, so the same conversation is always shown the same tools. It hides and never
forbids: a tool that is named without being shown passes the gate like any other, and its set is
shown from then on. `more_tools` opens the rest.

>>> sorted(find_sets_in_question("Run the tests every night"))
['sandbox', 'schedules']
>>> sorted(find_sets_by_id("I proposed chg_0011223344556677 for goal_00112233"))
['changes', 'goals']
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from astra.persona.conversations import PERSON, Message
from astra.persona.speech import Offered
from astra.trusted.kernel.ids import ID, id_kind

MORE_TOOLS = "more_tools"
SERVERS = "servers"
CORE_TOOLS = frozenset(
    {
        "list_source_files",
        "read_source_code",
        "search_source",
        "astra_awareness_read",
        "astra_approvals_pending",
        "astra_desires_record",
        "astra_desires_list",
    }
)
"""What a talk needs whatever it is about: to look at itself, and to note what is wanted."""
MESSAGES_LOOKED_AT = 5
"""The question, and the two questions and answers before it."""
SET_WORDS: dict[str, tuple[str, ...]] = {
    "notes": ("note", "memo", "remember", "file", "notiz", "merk", "datei"),
    "changes": (
        *("change", "chang", "commit", "diff", "patch", "fix", "bug", "refactor", "implement"),
        *("edit", "rewrite", "rename", "merge", "branch", "deploy", "release", "rollback"),
        *("propos", "änder", "aender", "fehler", "behebe", "ausliefer"),
    ),
    "sandbox": (
        *("run", "execut", "sandbox", "script", "shell", "command", "test", "fetch", "url"),
        *("http", "https", "download", "web", "führ", "fuehr", "ausführ", "skript"),
    ),
    "desires": ("desire", "wish", "want", "wunsch", "wünsch", "wuensch"),
    "goals": ("goal", "objective", "subtask", "ziel"),
    "plans": ("plan", "project", "checkpoint", "projekt"),
    "schedules": (
        *("schedul", "cron", "every", "nightly", "daily", "hourly", "weekly", "monthly"),
        *("tomorrow", "tonight", "remind", "timer", "task", "job", "firing", "recurring"),
        *("zeitplan", "jeden", "jede", "täglich", "taeglich", "morgen", "aufgabe"),
    ),
    "research": ("research", "investigat", "cite", "citation", "paper", "recherch"),
    "beliefs": ("belief", "believ", "confiden", "evidence", "learn", "glaub", "überzeug"),
    SERVERS: ("mcp",),
}
"""How words begin that speak of a set."""
SETS_BY_ID: dict[str, str] = {
    "des": "desires",
    "goal": "goals",
    "node": "goals",
    "plan": "plans",
    "sch": "schedules",
    "fir": "schedules",
    "tsk": "schedules",
    "chg": "changes",
    "dep": "changes",
    "ses": "research",
    "belief": "beliefs",
}
_WORD = re.compile(r"\w+")
_NAME = re.compile(rf"\b{ID.pattern}\b")
_DESCRIPTION = "Get the tools of another set. More than these exist: "


@dataclass(kw_only=True)
class ToolChoice:
    """The tools of one turn: all that an agent has, and which of them are shown so far."""

    tools: Sequence[Offered]
    opened: set[str] = field(default_factory=set[str])

    def list_shown(self) -> list[Offered]:
        """Give what the model is shown now, and the way to the rest where there is one."""
        visible_tools = [tool for tool in self.tools if self._is_shown(tool)]
        closed_sets = self.list_closed_sets()
        return [*visible_tools, *([_make_more_tools(closed_sets)] if closed_sets else ())]

    def list_closed_sets(self) -> list[str]:
        hidden = (tool.toolset for tool in self.tools if not self._is_shown(tool))
        return list(dict.fromkeys(hidden))

    def list_names(self) -> set[str]:
        """Name every tool that can be called, shown or not."""
        return {tool.name for tool in self.tools} | {MORE_TOOLS}

    def open_set(self, toolset: str) -> list[str]:
        """Show a set from now on; gives the names of its tools, none where there is no such set."""
        names = [tool.name for tool in self.tools if toolset and tool.toolset == toolset]
        if names:
            self.opened.add(toolset)
        return names

    def open_set_of(self, tool_name: str) -> None:
        self.open_set(_find_set(self.tools, tool_name))

    def _is_shown(self, tool: Offered) -> bool:
        return not tool.toolset or tool.name in CORE_TOOLS or tool.toolset in self.opened


def choose_tools(tools: Sequence[Offered], messages: Sequence[Message]) -> ToolChoice:
    """Choose by the end of a conversation: its last questions, and what its last answers used."""
    choice = ToolChoice(tools=tools)
    for message in messages[-MESSAGES_LOOKED_AT:]:
        for toolset in _find_sets(message, tools):
            choice.open_set(toolset)
    return choice


def find_sets_in_question(text: str) -> set[str]:
    question_words = _WORD.findall(text.lower())
    return {
        toolset
        for toolset, beginnings in SET_WORDS.items()
        if any(word.startswith(beginnings) for word in question_words)
    }


def find_sets_by_id(text: str) -> set[str]:
    kinds = {id_kind(identifier) for identifier in _NAME.findall(text)}
    return {SETS_BY_ID[kind] for kind in kinds if kind in SETS_BY_ID}


def _find_sets(message: Message, tools: Sequence[Offered]) -> Iterable[str]:
    yield from find_sets_by_id(message.text)
    if message.who == PERSON:
        yield from find_sets_in_question(message.text)
        yield from _find_named_servers(message.text, tools)
        return
    for call in message.facts.get("calls", []):
        if call["tool"] == MORE_TOOLS:
            yield str(call["arguments"].get("set", ""))
        yield _find_set(tools, call["tool"])


def _find_named_servers(text: str, tools: Sequence[Offered]) -> Iterable[str]:
    """Open the tools of other servers where one of those servers is named."""
    question_words = set(_WORD.findall(text.lower()))
    servers = {tool.name.split("_")[1] for tool in tools if tool.toolset == SERVERS}
    if any(question_words.issuperset(_WORD.findall(server)) for server in servers):
        yield SERVERS


def _find_set(tools: Sequence[Offered], name: str) -> str:
    return next((tool.toolset for tool in tools if tool.name == name), "")


def _make_more_tools(closed_sets: Sequence[str]) -> Offered:
    toolset = {"type": "string", "enum": list(closed_sets)}
    return Offered(
        name=MORE_TOOLS,
        description=_DESCRIPTION + ", ".join(closed_sets) + ".",
        schema={"type": "object", "properties": {"set": toolset}, "required": ["set"]},
    )
