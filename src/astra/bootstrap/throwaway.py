"""Putting a dry run's stage together: changes over a data root that is thrown away afterwards."""

import shutil
from contextlib import ExitStack
from dataclasses import replace
from typing import cast

from astra.adapters.boxes.app_screenshot import AppScreenshots
from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.configured_tests import ConfiguredMutation, ConfiguredTests
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.environments import Environments
from astra.adapters.waiting_flag import WaitingFlagFile
from astra.adapters.workspaces import Workspaces
from astra.bootstrap import PROJECTIONS
from astra.bootstrap.base import Base
from astra.changes.dry_run import NoImports, Stage
from astra.changes.gathering import Gathering
from astra.changes.service import Changes
from astra.deployments.changes import AfterChanges
from astra.flow import Background, ChangeWork, lanes
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes import model
from astra.trusted.changes.evidence import Scanner
from astra.trusted.changes.workbench import Workbench
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.files.data_root import DataRoot
from astra.trusted.files.withholding import secret_rules
from astra.trusted.git import trusted_repo
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.kernel.ids import random_id
from astra.trusted.policy import contract


def open_stage(
    base: Base,
    inner: DataRoot,
    *,
    boxes: BoxesOnly,
    scanner: Scanner,
    environments: Environments,
    sandbox: Sandbox,
) -> Stage:
    """Open a ledger, a repository and workspaces of its own, below the folders of `inner`."""
    trusted_repo.make_trusted(inner.git, base.root.git, base.branch)
    key = inner.make_ledger_key()
    with ExitStack() as exit_stack:
        ledger = FileLedger(inner.var, projections=PROJECTIONS, key=key, clock=base.clock)
        exit_stack.callback(ledger.close)
        bench = _make_bench(base, inner, ledger, boxes=boxes, scanner=scanner, opened=exit_stack)
        bench = _with_environments(bench, inner, environments)
        changes = Changes(bench, Gathering(bench, mutations=_measure_like(bench)))
        screenshots = AppScreenshots(
            base=base.root.path.resolve() / "deployments",
            sandbox=sandbox,
            environments=_copy_environments(bench, inner, environments),
            configuration=base.configuration,
        )
        story = random_id("cor")
        bench.desk.conditions[model.KIND] = changes.review.check_terms
        after = AfterChanges(changes=changes, deploy=_never_deployed)
        work = ChangeWork(changes.gathering, changes.merges, changes.remarks, after)
        lane = lanes.changes_lane(ledger, base.clock, work, closed=str)
        return Stage(
            ledger=ledger,
            changes=changes,
            steps=Background(ledger, base.clock, [lane]),
            take_screenshot=lambda commit: screenshots.take(inner.git, commit, correlation=story),
            verify=lambda: check_files(inner.var, public_key=key.public),
            close=exit_stack.pop_all().close,
            discard=lambda: shutil.rmtree(inner.path, ignore_errors=True),
        )


def _make_bench(
    base: Base,
    inner: DataRoot,
    ledger: FileLedger,
    *,
    boxes: BoxesOnly,
    scanner: Scanner,
    opened: ExitStack,
) -> Workbench:
    settings, configuration = base.settings, base.configuration()
    identity = Identity(name=settings.git_user_name, email=settings.git_user_email)
    repo = GitChangeRepo(inner.git, base.branch, identity)
    opened.callback(repo.close)
    workspaces = Workspaces(
        inner.var / "git", inner.var / "workspaces", secrets=lambda: secret_rules(base.ledger)
    )
    opened.callback(workspaces.close)
    return Workbench(
        ledger=ledger,
        clock=base.clock,
        desk=Desk(ledger, base.clock),
        repo=repo,
        scanner=scanner,
        tests=ConfiguredTests(
            boxes=boxes,
            workspaces=workspaces,
            target=lambda: configuration.target,
            seconds=settings.test_timeout,
        ),
        imports=NoImports(),
        waiting=WaitingFlagFile(inner.path / "deployments"),
        configuration=lambda: configuration,
        configuration_text=lambda: contract.signed_text(base.ledger),
        closed=str,
        tests_required=base.switches.tests_required,
    )


def _with_environments(bench: Workbench, inner: DataRoot, environments: Environments) -> Workbench:
    """Have the stage's tests use the data root's environments, for commits of its own."""
    tests = cast("ConfiguredTests", bench.tests)
    stage_environments = _copy_environments(bench, inner, environments)
    return replace(bench, tests=replace(tests, environments=stage_environments))


def _measure_like(bench: Workbench) -> ConfiguredMutation:
    """Try mutants where the stage runs its tests: the same boxes, workspaces and environments."""
    tests = cast("ConfiguredTests", bench.tests)
    return ConfiguredMutation(
        boxes=tests.boxes,
        workspaces=tests.workspaces,
        target=tests.target,
        environments=tests.environments,
    )


def _copy_environments(
    bench: Workbench, inner: DataRoot, environments: Environments
) -> Environments:
    tests = cast("ConfiguredTests", bench.tests)
    return replace(environments, workspaces=tests.workspaces, repository=inner.git)


def _never_deployed(_change: str, _story: str) -> None:
    """Stand where a deployment would begin: a dry run ends with the merge."""
