"""Putting changes together for one data root: repository, evidence, verbs and dry runs."""

from contextlib import ExitStack
from dataclasses import dataclass

from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.clone_imports import BoxedImports
from astra.adapters.boxes.config_check import ConfigCheck
from astra.adapters.boxes.configured_tests import ConfiguredMutation, ConfiguredTests
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.change_scanner import ChangeScanner
from astra.adapters.dry_run_folders import DryRunFolders
from astra.adapters.environments import FOLDER as ENVIRONMENTS
from astra.adapters.environments import Environments
from astra.adapters.live_output import LiveOutput
from astra.adapters.waiting_flag import WaitingFlagFile
from astra.adapters.witnesses.checking import check_data_root
from astra.adapters.workspaces import Workspaces
from astra.bootstrap.base import Base
from astra.bootstrap.throwaway import open_stage
from astra.changes.dry_run import DryRuns
from astra.changes.gathering import Gathering
from astra.changes.readiness import Readiness
from astra.changes.service import Changes
from astra.deployments import arming
from astra.deployments.app_plan import plan_of
from astra.deployments.views import quarantined_commits
from astra.flow import Background
from astra.persona.awareness import Awareness
from astra.trusted.changes import model
from astra.trusted.changes.workbench import Workbench
from astra.trusted.files.data_root import DataRoot
from astra.trusted.files.withholding import secret_rules
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.policy import contract


@dataclass(frozen=True, kw_only=True)
class ChangeParts:
    """Everything about changes that others call."""

    repo: GitChangeRepo
    workspaces: Workspaces
    environments: Environments
    changes: Changes
    live_output: LiveOutput
    dry_runs: DryRuns


def make_change_parts(base: Base, sandbox: Sandbox, opened: ExitStack) -> ChangeParts:
    root, settings, ledger, switches = base.root, base.settings, base.ledger, base.switches
    boxes = BoxesOnly(sandbox)
    identity = Identity(name=settings.git_user_name, email=settings.git_user_email)
    repo = GitChangeRepo(root.git, base.branch, identity)
    opened.callback(repo.close)
    workspaces = Workspaces(
        root.var / "git", root.var / "workspaces", secrets=lambda: secret_rules(ledger)
    )
    opened.callback(workspaces.close)
    environments = Environments(
        boxes=boxes,
        workspaces=workspaces,
        repository=root.git,
        folder=root.path.resolve() / ENVIRONMENTS,
    )
    scanner = ChangeScanner(boxes=boxes)
    live_output = LiveOutput()
    bench = Workbench(
        ledger=ledger,
        clock=base.clock,
        desk=base.desk,
        repo=repo,
        scanner=scanner,
        tests=ConfiguredTests(
            boxes=boxes,
            workspaces=workspaces,
            target=lambda: base.configuration().target,
            seconds=settings.test_timeout,
            environments=environments,
        ),
        imports=BoxedImports(boxes=boxes, clone=settings.code_repo, repo=repo),
        waiting=WaitingFlagFile(root.path / "deployments"),
        configuration=base.configuration,
        configuration_text=lambda: contract.signed_text(ledger),
        closed=switches.why_no_changes,
        person_for_tests=switches.person_for_tests,
        tests_required=switches.tests_required,
        ledger_is_whole=lambda: ledger_is_whole(root, base.chain),
        quarantined=lambda: quarantined_commits(ledger),
        find_deploy_objection=lambda: arming.find_objection(
            ledger, plan_of(base.configuration(), root.path.resolve())
        ),
    )
    mutations = ConfiguredMutation(
        boxes=boxes,
        workspaces=workspaces,
        target=lambda: base.configuration().target,
        environments=environments,
    )

    def compare_environments(before: str, after: str) -> tuple[str, ...]:
        return environments.compare(before, after, base.configuration().target)

    gathering = Gathering(bench, live_output.feed, mutations, compare_environments)
    changes = Changes(bench, gathering)
    base.desk.conditions[model.KIND] = changes.review.check_terms
    folders = DryRunFolders(root)
    dry_runs = DryRuns(
        ledger=ledger,
        clock=base.clock,
        files=folders,
        tests_required=switches.tests_required,
        open_stage=lambda identifier: open_stage(
            base,
            folders.make(identifier),
            boxes=boxes,
            scanner=scanner,
            environments=environments,
            sandbox=sandbox,
        ),
    )
    opened.callback(dry_runs.close)
    return ChangeParts(
        repo=repo,
        workspaces=workspaces,
        environments=environments,
        changes=changes,
        live_output=live_output,
        dry_runs=dry_runs,
    )


def make_config_check(base: Base, sandbox: Sandbox, parts: ChangeParts) -> ConfigCheck:
    return ConfigCheck(
        sandbox=sandbox,
        root=base.root,
        workspaces=parts.workspaces,
        environments=parts.environments,
        head=parts.repo.head,
        signed=base.configuration,
        seconds=base.settings.test_timeout,
    )


def make_readiness(
    base: Base, sandbox: Sandbox, parts: ChangeParts, background: Background
) -> Readiness:
    return Readiness(
        ledger=base.ledger,
        clock=base.clock,
        registry=base.registry,
        flags=base.switches.flags,
        ledger_is_whole=parts.changes.bench.ledger_is_whole,
        alerts=parts.changes.book.alerts,
        sandbox_off=lambda: sandbox.is_off,
        sandbox_problems=sandbox.problems,
        target=parts.repo.head,
        troubles=lambda: {
            "ledger": base.ledger.trouble,
            **{lane: background.trouble(lane) for lane in background.lanes},
            "disk": "almost full" if base.reserve.is_low() else "",
        },
        alerts_since=Awareness(base.ledger).alerts_since,
    )


def ledger_is_whole(root: DataRoot, stored_chain: StoredChain) -> bool:
    """Verify the whole chain, as it is stored."""
    key = root.require_first_record().data["ledger_key"]
    return check_data_root(root, stored_chain, public_key=key).report.ok
