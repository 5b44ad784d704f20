"""Putting changes together for one data root: repository, evidence, verbs, steps and dry runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from astra.adapters.waiting_flag import WaitingFlagFile
from astra.adapters.workspaces import Workspaces
from astra.bootstrap.clone_imports import BoxedImports
from astra.bootstrap.dry_run import DryRuns
from astra.bootstrap.evidence import (
    BoxesOnly,
    ConfiguredMutation,
    ConfiguredTests,
    make_mutation_runs,
    make_scanner,
    make_test_runs,
    make_workspaces,
)
from astra.bootstrap.live_output import LiveOutput
from astra.bootstrap.sandbox import Sandbox
from astra.changes.gathering import Gathering
from astra.changes.service import Changes
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes import model
from astra.trusted.changes.evidence import Scanner, TestRuns
from astra.trusted.changes.workbench import Workbench
from astra.trusted.file_ledger.check import check_files
from astra.trusted.files.data_root import DataRoot
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract
from astra.trusted.settings.environment import Settings


@dataclass(kw_only=True)
class ChangeParts:
    root: DataRoot
    settings: Settings
    ledger: Ledger
    clock: Clock
    desk: Desk
    sandbox: Sandbox
    branch: str
    closed: Callable[[], str]
    person_for_tests: Callable[[], bool]

    @cached_property
    def repo(self) -> GitChangeRepo:
        settings = self.settings
        identity = Identity(name=settings.git_user_name, email=settings.git_user_email)
        return GitChangeRepo(self.root.git, self.branch, identity)

    @cached_property
    def scanner(self) -> Scanner:
        return make_scanner(self.sandbox)

    @cached_property
    def workspaces(self) -> Workspaces:
        return make_workspaces(self.root)

    @cached_property
    def tests(self) -> TestRuns:
        return ConfiguredTests(
            make=lambda: make_test_runs(
                self.sandbox, self.workspaces, contract.in_force(self.ledger).target, self.settings
            )
        )

    @cached_property
    def mutations(self) -> ConfiguredMutation:
        return ConfiguredMutation(
            make=lambda: make_mutation_runs(
                self.sandbox, self.workspaces, contract.in_force(self.ledger).target
            )
        )

    @cached_property
    def changes(self) -> Changes:
        bench = Workbench(
            ledger=self.ledger,
            clock=self.clock,
            desk=self.desk,
            repo=self.repo,
            scanner=self.scanner,
            tests=self.tests,
            imports=BoxedImports(
                boxes=BoxesOnly(self.sandbox), clone=self.settings.code_repo, repo=self.repo
            ),
            waiting=WaitingFlagFile(self.root.path / "deployments"),
            configuration=lambda: contract.in_force(self.ledger),
            configuration_text=lambda: contract.signed_text(self.ledger),
            closed=self.closed,
            person_for_tests=self.person_for_tests,
            ledger_is_whole=self.ledger_is_whole,
        )
        changes = Changes(bench, Gathering(bench, self.live_output.feed, self.mutations))
        self.desk.conditions[model.KIND] = changes.review.check_terms
        return changes

    @cached_property
    def live_output(self) -> LiveOutput:
        return LiveOutput()

    @cached_property
    def dry_runs(self) -> DryRuns:
        return DryRuns(
            root=self.root,
            ledger=self.ledger,
            clock=self.clock,
            settings=self.settings,
            sandbox=self.sandbox,
            scanner=self.scanner,
            branch=self.branch,
        )

    def ledger_is_whole(self) -> bool:
        """Verify the whole chain, from its files."""
        key = self.root.require().data["ledger_key"]
        return check_files(self.root.var, public_key=key).ok

    def close(self) -> None:
        self.dry_runs.close()
        self.repo.close()
