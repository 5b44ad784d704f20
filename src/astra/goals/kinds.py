"""The kinds of tasks: what each needs, what it gives, and which tools it calls.

A task of a kind is done, never decomposed; every other task name needs a method. What a kind calls
is the whole of what it may call: manifests are made of this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

RESEARCH_TOOL = "research_and_summarize"
CHANGE_TOOL = "schedule_code_modification"
DEPLOY_TOOL = "deploy_agent_code"
COMMAND_TOOL = "run_in_sandbox"
FILE_TOOL = "read_source_code"
PLAN_TOOL = "astra.plans.draft"


class Kind(StrEnum):
    RESEARCH = "RESEARCH"
    CODE_MODIFY = "CODE_MODIFY"
    RUN_TOOL = "RUN_TOOL"
    RUN_PLAN = "RUN_PLAN"
    DEPLOY = "DEPLOY"
    ASK_OPERATOR = "ASK_OPERATOR"
    CHECK = "CHECK"


@dataclass(frozen=True, kw_only=True)
class KindFacts:
    needs: frozenset[str] = frozenset()
    accepts: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset({"notes"})
    tools: tuple[str, ...] = ()
    asks: str = ""
    """What the operator still decides when it runs, in words; nothing where it asks nobody."""


KINDS: Mapping[Kind, KindFacts] = MappingProxyType(
    {
        Kind.RESEARCH: KindFacts(
            needs=frozenset({"question"}),
            accepts=frozenset({"max_tasks", "max_depth"}),
            gives=frozenset({"notes", "session"}),
            tools=(RESEARCH_TOOL,),
        ),
        Kind.CODE_MODIFY: KindFacts(
            needs=frozenset({"instruction"}),
            accepts=frozenset({"notes", "research"}),
            gives=frozenset({"notes", "change"}),
            tools=(CHANGE_TOOL,),
            asks="the diff with its evidence",
        ),
        Kind.RUN_TOOL: KindFacts(),
        Kind.RUN_PLAN: KindFacts(
            needs=frozenset({"description"}),
            gives=frozenset({"notes", "plan"}),
            tools=(PLAN_TOOL,),
            asks="the plan and its permissions",
        ),
        Kind.DEPLOY: KindFacts(
            needs=frozenset({"change"}),
            gives=frozenset({"notes", "deployment"}),
            tools=(DEPLOY_TOOL,),
            asks="the deployment, unless the diff was signed with it",
        ),
        Kind.ASK_OPERATOR: KindFacts(
            needs=frozenset({"question"}),
            accepts=frozenset({"notes"}),
            gives=frozenset({"notes", "answer"}),
            asks="the question",
        ),
        Kind.CHECK: KindFacts(
            accepts=frozenset({"command", "file", "outcome", "metric", "notes"}),
            tools=(COMMAND_TOOL, FILE_TOOL),
        ),
    }
)


def is_kind(task: str) -> bool:
    return task in Kind.__members__
