"""Putting changes together for one data root: repository, evidence, verbs and dry runs."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.clone_imports import BoxedImports
from astra.adapters.boxes.config_check import ConfigCheck
from astra.adapters.boxes.configured_tests import ConfiguredMutation, ConfiguredTests
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.change_scanner import ChangeScanner
from astra.adapters.dry_run_folders import DryRunFolders
from astra.adapters.environment_store import EnvironmentStore
from astra.adapters.environments import FOLDER as ENVIRONMENTS
from astra.adapters.environments import Environments
from astra.adapters.git_objects import ObjectExchange
from astra.adapters.live_output import LiveOutput
from astra.adapters.offered_mutants import OfferedMutation
from astra.adapters.offered_tests import PREPARATION_SECONDS, TEST_RUNS, OfferedTests
from astra.adapters.travelling_repo import TravellingRepo
from astra.adapters.waiting_flag import WaitingFlagFile
from astra.adapters.witnesses.checking import check_data_root
from astra.adapters.workspaces import Workspaces
from astra.bootstrap.base import Base
from astra.bootstrap.throwaway import open_stage
from astra.changes import counting
from astra.changes.dry_run import DryRuns
from astra.changes.gathering import Gathering
from astra.changes.mutation import MutationRuns
from astra.changes.readiness import Readiness
from astra.changes.service import Changes
from astra.deployments import arming
from astra.deployments.app_plan import plan_of
from astra.deployments.views import quarantined_commits
from astra.flow import Background
from astra.persona.awareness import Awareness
from astra.research.citations import DescribeCitation
from astra.trusted.changes import model
from astra.trusted.changes.evidence import TestRuns
from astra.trusted.changes.views import Book
from astra.trusted.changes.workbench import Workbench
from astra.trusted.files.data_root import DataRoot
from astra.trusted.files.withholding import secret_rules
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.policy import contract
from astra.trusted.upstream import sync
from astra.workers.offering import JobBoard

_LONGEST_BUILD = timedelta(minutes=30)


@dataclass(frozen=True, kw_only=True)
class ChangeParts:
    """Everything about changes that others call."""

    repo: GitChangeRepo
    objects: ObjectExchange
    """How commits travel between machines that share a chain."""
    own_tests: ConfiguredTests
    """Runs tests on this machine, whoever else could."""
    own_mutation: ConfiguredMutation
    """Measures mutants on this machine, likewise."""
    workspaces: Workspaces
    environments: Environments
    changes: Changes
    live_output: LiveOutput
    dry_runs: DryRuns

    def check_citations(self, describe: DescribeCitation) -> "ChangeParts":
        """Give the parts with citations checked again when a change is shown."""
        return replace(self, changes=replace(self.changes, describe_citation=describe))

    def bring_commit(self, commit: str) -> None:
        """See that a commit is here, where commits travel."""
        if self.objects.is_configured:
            self.objects.ensure([commit])


def make_change_parts(base: Base, sandbox: Sandbox, opened: ExitStack) -> ChangeParts:
    root, settings, ledger, switches = base.root, base.settings, base.ledger, base.switches
    boxes = BoxesOnly(sandbox)
    identity = Identity(name=settings.git_user_name, email=settings.git_user_email)
    objects = make_object_exchange(base)
    repo = make_repo(base, identity, objects)
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
    own_tests = ConfiguredTests(
        boxes=boxes,
        workspaces=workspaces,
        target=lambda: base.configuration().target,
        seconds=settings.test_timeout,
        environments=environments,
    )
    bench = Workbench(
        ledger=ledger,
        clock=base.clock,
        desk=base.desk,
        repo=repo,
        scanner=scanner,
        tests=make_tests(base, own_tests, objects),
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
    own_mutation = ConfiguredMutation(
        boxes=boxes,
        workspaces=workspaces,
        target=lambda: base.configuration().target,
        environments=environments,
    )

    def compare_environments(before: str, after: str) -> tuple[str, ...]:
        return environments.compare(before, after, base.configuration().target)

    mutations = make_mutations(base, own_mutation, objects)
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
        objects=objects,
        own_tests=own_tests,
        own_mutation=own_mutation,
        workspaces=workspaces,
        environments=environments,
        changes=changes,
        live_output=live_output,
        dry_runs=dry_runs,
    )


def make_environment_store(base: Base, parts: ChangeParts) -> EnvironmentStore:
    def find_needed() -> dict[str, str]:
        """Name the environments of the branch and of every change that is open."""
        target = base.configuration().target
        commits = {parts.repo.head(): "the target's branch"}
        for change in list_open_changes(parts.changes.book):
            commits |= {change.base: change.id, change.commit: change.id}
        environments = {
            parts.environments.find(commit, target).name: user for commit, user in commits.items()
        }
        return {name: user for name, user in environments.items() if name}

    return EnvironmentStore(
        environments=parts.environments,
        deployments=base.root.path.resolve() / "deployments",
        ledger=base.ledger,
        clock=base.clock,
        needed=find_needed,
        busy_for=timedelta(seconds=base.settings.test_timeout) + _LONGEST_BUILD,
    )


def list_open_changes(book: Book) -> Iterator[model.Change]:
    for state in sorted(model.OPEN):
        cursor: str | None = None
        while True:
            changes, cursor = book.list_page(state=state, cursor=cursor)
            yield from changes
            if cursor is None:
                break


def make_object_exchange(base: Base) -> ObjectExchange:
    return ObjectExchange(
        repository=base.root.git,
        read_setting=lambda: base.configuration().ledger.objects,
        ssh_key=base.root.ledger_key_file.with_name("push.key"),
    )


def make_repo(base: Base, identity: Identity, objects: ObjectExchange) -> GitChangeRepo:
    """Make the trusted repository; only machines that share a chain have it follow the others."""
    if not base.machines.own_id:
        return GitChangeRepo(base.root.git, base.branch, identity)

    def find_recorded_head() -> str:
        record = base.ledger.newest(model.EXECUTED, sync.MERGED)
        return str(record.data["commit"]) if record else ""

    return TravellingRepo(
        base.root.git,
        base.branch,
        identity,
        objects=objects,
        find_recorded_head=find_recorded_head,
    )


def make_tests(base: Base, own_tests: ConfiguredTests, objects: ObjectExchange) -> TestRuns:
    """Have workers run tests where a chain has some; a machine that is alone has none."""
    if not base.machines.own_id:
        return own_tests
    return OfferedTests(
        board=JobBoard(ledger=base.ledger, machines=base.machines),
        own=own_tests,
        objects=objects,
        labels=lambda: base.configuration().workers.test_labels,
        seconds=lambda: TEST_RUNS * base.settings.test_timeout + PREPARATION_SECONDS,
    )


def make_mutations(
    base: Base, own_mutation: ConfiguredMutation, objects: ObjectExchange
) -> MutationRuns:
    """Have workers measure mutants where a chain has some, as with tests."""
    if not base.machines.own_id:
        return own_mutation
    return OfferedMutation(
        board=JobBoard(ledger=base.ledger, machines=base.machines),
        own=own_mutation,
        objects=objects,
        labels=lambda: base.configuration().workers.test_labels,
        seconds=lambda: base.configuration().target.mutation_seconds,
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
        alerts=partial(counting.list_alerts, base.ledger),
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
