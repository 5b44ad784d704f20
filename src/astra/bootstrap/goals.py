"""Putting goals together: what their planner knows, and who does which kind of task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from astra.adapters.agent_views import CurrentViews
from astra.adapters.source_view.listing import find_language
from astra.beliefs.book import Beliefs as BeliefBook
from astra.bootstrap.base import Base
from astra.bootstrap.planning import Planning, find_model
from astra.changes.for_goals import CodeTask, CodeWriter
from astra.changes.service import Changes
from astra.deployments.for_goals import ChangeOutcomes, DeployTask
from astra.goals import method_files, repair_policy
from astra.goals.adoption import Adoption
from astra.goals.book import Goals
from astra.goals.control import Control
from astra.goals.door import GoalDoor
from astra.goals.graph import Graph
from astra.goals.kinds import RESEARCH_TOOL, Kind
from astra.goals.methods import Beliefs, MethodSet
from astra.goals.model import Goal
from astra.goals.outcomes import Outcomes
from astra.goals.performing import CheckTask, QuestionTask, ToolTask
from astra.goals.planner import Situation
from astra.goals.ports import Decomposer, Performer
from astra.goals.promotion import Promotions
from astra.goals.proposals import ModelProposals
from astra.goals.running import TaskRunner
from astra.goals.service import GoalService
from astra.operations.signals import ReadValues
from astra.plans.code.memory import LedgerMemory
from astra.plans.for_goals import ModelDecomposer, ModelWriter, PlanTask
from astra.research.for_goals import ResearchTask
from astra.research.for_goals import find_objection as find_research_objection
from astra.research.service import Research
from astra.trusted.calls.counter import Counter
from astra.trusted.calls.registry import Registry
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import contract
from astra.trusted.policy.call import Tier

_MOST_FILES, _MOST_CHARACTERS = 200, 300_000


def make_goal_service(
    base: Base,
    promotions: Promotions,
    beliefs: BeliefBook,
    views: CurrentViews,
    *,
    may_ask_model: Callable[[], bool] = bool,
) -> GoalService:
    book = Goals(base.ledger)

    def situation(goal: Goal) -> Situation:
        methods = read_method_set(base)
        bounds = read_bounds(methods, beliefs)
        facts = {**_facts(base, goal), **read_target_facts(methods, views)}
        return Situation(methods=methods, facts=facts, beliefs=bounds)

    def find_policy_objection(goal: Goal, graph: Graph) -> str:
        until = base.configuration().goals.adopt_repairs_until
        now = base.clock.now()
        return repair_policy.find_objection(base.ledger, goal, graph, until=until, now=now)

    return GoalService(
        book=book,
        adoption=Adoption(
            goals=book,
            desk=base.desk,
            situation=situation,
            find_policy_objection=find_policy_objection,
            may_ask_model=may_ask_model,
            has_tool=base.registry.has,
            read_currency=lambda: base.configuration().spend.currency,
        ),
        control=Control(goals=book, desk=base.desk),
        promotions=promotions,
    )


def read_method_set(base: Base) -> MethodSet:
    """Give the built-in methods and those of the signed configuration."""
    operator_methods = method_files.read_methods(contract.signed_text(base.ledger))
    return method_files.combine(method_files.read_built_in().methods, operator_methods)


def read_bounds(methods: MethodSet, beliefs: BeliefBook) -> Beliefs:
    """Give the lower bounds that conditions of methods ask for, and no others."""
    conditions = (condition for method in methods.methods for condition in method.when)
    names = {condition.name for condition in conditions if condition.at_least is not None}
    return {name: beliefs.find_lower_bound(name) for name in sorted(names)}


def read_target_facts(methods: MethodSet, views: CurrentViews) -> dict[str, frozenset[str]]:
    """Say which files and languages the target has, of those that conditions of methods ask for."""
    names: dict[str, set[str]] = {"file": set(), "language": set()}
    for condition in (condition for method in methods.methods for condition in method.when):
        if condition.name in names and condition.wanted is not None:
            names[condition.name].add(condition.wanted)
    languages = list_languages(views) if names["language"] else frozenset[str]()
    return {
        "file": frozenset(path for path in names["file"] if has_target_path(views, path)),
        "language": frozenset(name for name in names["language"] if name.lower() in languages),
    }


def _facts(base: Base, goal: Goal) -> dict[str, str | bool | frozenset[str]]:
    """Say what conditions of methods may ask about this data root."""
    configuration = base.configuration()
    return {
        "category": goal.category,
        "source": goal.source,
        "flag": frozenset(name for name, on in base.switches.read_states().items() if on),
        "code_write": base.switches.may_write_code(),
        "has_tests": bool(configuration.target.test_command),
        "app": bool(configuration.app.command),
        "model": bool(configuration.model.name),
        "research": base.registry.find(RESEARCH_TOOL).available,
    }


def make_task_runner(
    base: Base,
    service: GoalService,
    *,
    planning: Planning,
    changes: Changes,
    views: CurrentViews,
    counter: Counter,
    research: Research,
    read_signals: ReadValues,
    coder_digest: Callable[[], str],
) -> TaskRunner:
    door = GoalDoor(lambda: counter)
    writer = ModelWriter(
        models=find_model(base, "code"),
        files=TargetFiles(views).read_all,
        formats=LedgerMemory(base.ledger),
        digest=coder_digest,
    )
    return TaskRunner(
        goals=service.book,
        clock=base.clock,
        adoption=service.adoption,
        control=service.control,
        performers=make_performers(
            base,
            door,
            planning=planning,
            changes=changes,
            writer=writer,
            research=research,
            read_signals=read_signals,
        ),
        closed=base.switches.why_no_goals,
        room=base.spend,
        read_signals=read_signals,
    )


def make_decomposer(base: Base, planning: Planning) -> ModelDecomposer:
    """Make the model that proposes decompositions; it is told of tools that agents may call."""

    def list_tools() -> list[str]:
        tools = base.registry.list_visible(base.switches.read_states(), operator=False)
        return [f"{tool.name}: {tool.description}" for tool in tools if tool.available]

    drafting = planning.drafting
    return ModelDecomposer(models=drafting.models, tools=list_tools, digest=drafting.digest)


def make_model_proposals(service: GoalService, decomposer: Decomposer) -> ModelProposals:
    return ModelProposals(adoption=service.adoption, decomposer=decomposer)


def make_performers(
    base: Base,
    door: GoalDoor,
    *,
    planning: Planning,
    changes: Changes,
    writer: CodeWriter,
    research: Research,
    read_signals: ReadValues,
) -> Mapping[Kind, Performer]:
    ledger, desk, book = base.ledger, base.desk, changes.book
    return {
        Kind.RUN_TOOL: ToolTask(
            door=door, desk=desk, is_tool_repeatable=_repeatable(base.registry)
        ),
        Kind.RESEARCH: ResearchTask(
            door=door, book=research.book, reader=research.researcher.reader
        ),
        Kind.CHECK: CheckTask(
            door=door,
            outcomes=Outcomes(
                goals=Goals(ledger),
                find_change_objection=ChangeOutcomes(ledger, book).find_objection,
                find_research_objection=partial(find_research_objection, research.book),
                read_signals=read_signals,
            ),
        ),
        Kind.ASK_OPERATOR: QuestionTask(desk=desk),
        Kind.CODE_MODIFY: CodeTask(ledger=ledger, book=book, door=door, writer=writer),
        Kind.RUN_PLAN: PlanTask(door=door, register=planning.register),
        Kind.DEPLOY: DeployTask(ledger=ledger, book=book, desk=desk, door=door),
    }


def _repeatable(registry: Registry) -> Callable[[str], bool]:
    def is_repeatable(name: str) -> bool:
        tool = registry.find(name)
        return tool.tier is Tier.READ or tool.hints.idempotent

    return is_repeatable


def list_target_files(views: CurrentViews) -> list[str]:
    """Name the files of the target on the trusted branch, as an agent sees them."""
    return [item.path for item in views.current.source.list(limit=1_000).items]


def has_target_path(views: CurrentViews, path: str) -> bool:
    """Tell whether the trusted branch has a file or a folder, as an agent sees it."""
    snapshot = views.current.source.find_snapshot()
    return not path or path in snapshot.by_path or path in snapshot.folders


def list_languages(views: CurrentViews) -> frozenset[str]:
    """Name the languages of the target's files on the trusted branch, in small letters."""
    languages = {find_language(path) for path in views.current.source.find_snapshot().paths}
    return frozenset(language.lower() for language in languages if language)


@dataclass(frozen=True)
class TargetFiles:
    """The target's files as a model that writes code may see them: no more than fits."""

    views: CurrentViews

    def read_all(self) -> Mapping[str, str]:
        source = self.views.current.source
        text_by_path: dict[str, str] = {}
        size = 0
        for item in source.list(limit=1_000).items:
            if len(text_by_path) >= _MOST_FILES or size > _MOST_CHARACTERS:
                break
            try:
                text_by_path[item.path] = source.read(item.path).text
            except AstraError:
                continue  # secret, binary, or too large: the view does not show it
            size += len(text_by_path[item.path])
        return text_by_path
