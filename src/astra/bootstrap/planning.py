"""Putting plans together: the registry as their book of skills, the data root as their shelf."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.language_models import Endpoint, LanguageModel, endpoint
from astra.adapters.plan_files import PlanFolder
from astra.adapters.talking_models import TalkingModel
from astra.bootstrap.views import grant_places
from astra.persona.speech import Talker
from astra.plans.acting import Acting, Coder, ToolDoor
from astra.plans.allowlist import Allowlist
from astra.plans.book import Plans
from astra.plans.control import Control
from astra.plans.drafting import Drafting
from astra.plans.exports import Exports
from astra.plans.ports import Model, ModelSource, NoModel, Notifier, PlanFiles
from astra.plans.refusals import Refusals
from astra.plans.register import Register
from astra.plans.runner import Boxes, Runner
from astra.plans.skills import SkillBook, SkillFacts
from astra.plans.talk import Announcements
from astra.plans.terms import Contracts
from astra.plans.validation import Rules
from astra.plans.views import PlanViews
from astra.trusted.approvals.desk import Desk
from astra.trusted.calls.registry import Registry
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import authority, contract
from astra.trusted.policy.call import Tier
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.settings import environment
from astra.trusted.settings.environment import Settings

_NO_DRAFT = "nothing can be drafted from a description"
_GIVE_THE_PLAN = "; or give the plan itself: astra plans draft --file plan.json"
_NO_TALK = "there is nobody to talk with; everything else works"
_USUAL_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class RegistrySkills:
    """The tools of this server, as skills that a plan may name."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def find(self, name: str) -> SkillFacts | None:
        try:
            tool = self._registry.find(name)
        except NotFound:
            return None
        return SkillFacts(
            name=tool.name,
            tier=int(tool.tier),
            operator_only=tool.operator_only,
            repeatable=tool.tier is Tier.READ,
        )

    def names(self) -> list[str]:
        return [tool.name for tool in self._registry.every() if not tool.operator_only]


@dataclass(frozen=True, kw_only=True)
class ConfiguredModel:
    """The model of the signed configuration; a throwaway root also takes the environment's."""

    ledger: Ledger
    settings: Settings
    root: DataRoot

    def configured(self) -> bool:
        return bool(self._name_and_url()[0])

    def current(self) -> Model:
        return LanguageModel(endpoint=self._endpoint(_NO_DRAFT, _GIVE_THE_PLAN))

    def talker(self) -> Talker:
        return TalkingModel(endpoint=self._endpoint(_NO_TALK))

    def _endpoint(self, without: str, instead: str = "") -> Endpoint:
        name, base_url, key_env = self._name_and_url()
        if not name:
            raise NoModel(
                f"no model is configured, so {without}",
                next_step="set name (and base_url, key_env) below [model] in astra.toml and run"
                f" `astra config sign`{instead}",
            )
        variable = key_env or _USUAL_KEYS.get(name.partition(":")[0], "")
        where = endpoint(name, base_url, self._key(variable))
        if not where.key and not base_url:
            raise NoModel(
                f"the model {one_line(name, 80)} needs a key, and {variable} is not set",
                code="no_model_key",
                next_step=f"write {variable}=… into the data root's .env, or set it for the daemon",
            )
        return where

    def _name_and_url(self) -> tuple[str, str, str]:
        model = contract.in_force(self.ledger).model
        given = self.settings.model
        if given and authority.keys(self.ledger).throwaway:
            return given, self.settings.model_base_url or model.base_url, model.key_env
        return model.name, model.base_url, model.key_env

    def _key(self, variable: str) -> str:
        """Find the key in the daemon's own environment or the data root's `.env`."""
        kept = environment.parse_dotenv(self.root.dotenv())
        return os.environ.get(variable) or kept.get(variable, "")


@dataclass(frozen=True, kw_only=True)
class Planning:
    """Everything about plans that others call."""

    register: Register
    plans: Plans
    views: PlanViews
    exports: Exports
    allowlist: Allowlist
    drafting: Drafting
    contracts: Contracts
    skills: SkillBook


@dataclass(frozen=True, kw_only=True)
class Running:
    """Everything about plans that work."""

    runner: Runner
    control: Control
    announcements: Announcements


def make_planning(
    *,
    ledger: Ledger,
    clock: Clock,
    desk: Desk,
    skills: SkillBook,
    rules: Callable[[], Rules],
    files: PlanFiles,
    models: ModelSource,
    code_repo: str,
    most_rounds: int,
    flag: Callable[[str], bool],
    resolve: Callable[[str], str] = os.path.realpath,
) -> Planning:
    register = Register(ledger, clock)
    allowlist = Allowlist(ledger=ledger, clock=clock, rules=rules, files=files)
    plans = Plans(
        register=register, desk=desk, allowlist=allowlist, rules=rules, code_repo=code_repo
    )
    return Planning(
        register=register,
        plans=plans,
        views=PlanViews(plans),
        exports=Exports(register=register, desk=desk, files=files),
        allowlist=allowlist,
        drafting=Drafting(
            plans=plans,
            models=models,
            most_rounds=most_rounds,
            enabled=lambda: flag("AGENT_PLANNING_ENABLED"),
        ),
        contracts=Contracts(
            register=register,
            allowlist=allowlist,
            code_repo=code_repo,
            places=lambda: rules().places,
            resolve=resolve,
        ),
        skills=skills,
    )


def make_running(
    planning: Planning,
    *,
    door: ToolDoor,
    coder: Coder,
    refusals: Refusals,
    boxes: Boxes,
    notifier: Notifier,
    closed: Callable[[], str],
    most_at_once: int,
) -> Running:
    acting = Acting(
        register=planning.register,
        contracts=planning.contracts,
        rules=planning.plans.rules,
        skills=planning.skills,
        door=door,
        coder=coder,
        refusals=refusals,
    )
    runner = Runner(
        register=planning.register,
        exports=planning.exports,
        contracts=planning.contracts,
        allowlist=planning.allowlist,
        models=planning.drafting.models,
        acting=acting,
        boxes=boxes,
        closed=closed,
        most_at_once=most_at_once,
    )
    return Running(
        runner=runner,
        control=Control(register=planning.register, runner=runner),
        announcements=Announcements(register=planning.register, notifier=notifier),
    )


def planning_of(
    root: DataRoot,
    settings: Settings,
    *,
    ledger: Ledger,
    clock: Clock,
    desk: Desk,
    registry: Registry,
    flag: Callable[[str], bool],
) -> Planning:
    """Put plans together for a data root on disk."""
    skills = RegistrySkills(registry)

    def rules() -> Rules:
        patterns = contract.in_force(ledger).agent.secret_patterns
        return Rules(
            skills=skills,
            places=grant_places(root, SecretRules(patterns=patterns)),
            own_folders=tuple(str(folder) for folder in own_folders(root, settings)),
        )

    return make_planning(
        ledger=ledger,
        clock=clock,
        desk=desk,
        skills=skills,
        rules=rules,
        files=PlanFolder(root.path),
        models=ConfiguredModel(ledger=ledger, settings=settings, root=root),
        code_repo=str(settings.code_repo),
        most_rounds=settings.most_clarifying_rounds,
        flag=flag,
    )


def own_folders(root: DataRoot, settings: Settings) -> tuple[Path, ...]:
    """Name the folders that are the agent's own."""
    return root.path / "persona_space", settings.code_repo, settings.sandbox_folder
