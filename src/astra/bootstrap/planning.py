"""Putting plans together: the registry as their book of skills, the data root as their shelf."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.boxes.granted_places import can_be_made
from astra.adapters.configured_model import ConfiguredModel
from astra.adapters.plan_files import PlanFolder
from astra.adapters.tool_skills import RegistrySkills
from astra.bootstrap.base import Base
from astra.plans.acting import Acting, Coder, ToolDoor
from astra.plans.allowlist import Allowlist
from astra.plans.book import Plans
from astra.plans.control import Control
from astra.plans.drafting import Drafting
from astra.plans.exports import Exports
from astra.plans.ports import ChangeOutcomes, ModelSource, NoOutcomes, Notifier, PlanFiles
from astra.plans.preflight import Preflight
from astra.plans.proposed import ProposedChanges
from astra.plans.refusals import Refusals
from astra.plans.register import Register
from astra.plans.runner import Boxes, Runner
from astra.plans.skills import SkillBook
from astra.plans.talk import Announcements
from astra.plans.terms import Contracts
from astra.plans.validation import Rules
from astra.plans.views import PlanViews
from astra.spend.model import SpendRoom, UnlimitedRoom
from astra.trusted.approvals.desk import Desk
from astra.trusted.files.own_places import grant_places
from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.secrets import SecretRules


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
    room: SpendRoom | None = None,
    digest: Callable[[], str] = str,
    target_files: Callable[[], Sequence[str]] = list,
    resolve: Callable[[str], str] = os.path.realpath,
    exists: Callable[[str], bool] = os.path.lexists,
    is_in_target: Callable[[str], bool] | None = None,
    channel_names: Callable[[], Sequence[str]] = tuple,
) -> Planning:
    register = Register(ledger, clock)
    allowlist = Allowlist(ledger=ledger, clock=clock, rules=rules, files=files)
    plans = Plans(
        register=register,
        desk=desk,
        allowlist=allowlist,
        rules=rules,
        code_repo=code_repo,
        channel_names=channel_names,
    )
    return Planning(
        register=register,
        plans=plans,
        views=PlanViews(
            plans,
            Preflight(
                models=models,
                code_repo=code_repo,
                exists=exists,
                is_in_target=is_in_target,
                can_be_made=lambda path: can_be_made(path, map(Path, rules().own_folders)),
            ),
        ),
        exports=Exports(register=register, desk=desk, files=files),
        allowlist=allowlist,
        drafting=Drafting(
            plans=plans,
            models=models,
            most_rounds=most_rounds,
            enabled=lambda: flag("AGENT_PLANNING_ENABLED"),
            room=room or UnlimitedRoom(),
            files=target_files,
            digest=digest,
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
    outcomes: ChangeOutcomes | None = None,
    models: ModelSource | None = None,
) -> Running:
    proposed = ProposedChanges(register=planning.register, outcomes=outcomes or NoOutcomes())
    acting = Acting(
        register=planning.register,
        contracts=planning.contracts,
        rules=planning.plans.rules,
        skills=planning.skills,
        door=door,
        coder=coder,
        refusals=refusals,
        proposed=proposed,
    )
    runner = Runner(
        register=planning.register,
        exports=planning.exports,
        contracts=planning.contracts,
        allowlist=planning.allowlist,
        models=models or planning.drafting.models,
        acting=acting,
        boxes=boxes,
        closed=closed,
        most_at_once=most_at_once,
        proposed=proposed,
        room=planning.drafting.room,
        digest=planning.drafting.digest,
    )
    return Running(
        runner=runner,
        control=Control(register=planning.register, runner=runner),
        announcements=Announcements(register=planning.register, notifier=notifier),
    )


def find_model(base: Base, role: str) -> ConfiguredModel:
    """Give the configured model in a role: draft, work, code, chat or research."""
    return ConfiguredModel(
        ledger=base.ledger,
        settings=base.settings,
        root=base.root,
        meter=base.spend,
        role=role,
    )


def planning_of(
    base: Base,
    digest: Callable[[], str],
    target_files: Callable[[], Sequence[str]],
    is_in_target: Callable[[str], bool],
) -> Planning:
    """Put plans together for a data root on disk."""
    skills = RegistrySkills(base.registry)
    own_folders = tuple(str(folder) for folder in base.own_folders)

    def rules() -> Rules:
        patterns = base.configuration().agent.secret_patterns
        places = grant_places(base.root, SecretRules(patterns=patterns))
        return Rules(skills=skills, places=places, own_folders=own_folders)

    return make_planning(
        ledger=base.ledger,
        clock=base.clock,
        desk=base.desk,
        skills=skills,
        rules=rules,
        files=PlanFolder(base.root.path),
        models=find_model(base, "draft"),
        code_repo=str(base.settings.code_repo),
        most_rounds=base.settings.most_clarifying_rounds,
        flag=lambda name: base.switches.flags()[name].on,
        room=base.spend,
        digest=digest,
        target_files=target_files,
        is_in_target=is_in_target,
        channel_names=lambda: base.configuration().notify.channels,
    )
