"""Wiring for what a reviewer decides on: the scanner and the runs of tests of one data root.

Nothing of a change ever runs outside a box: where the sandbox is switched off (`off-unsafe`), that
is refused here, and the review says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from astra.adapters.change_scanner import ChangeScanner
from astra.adapters.mutation_runs import BoxedMutation
from astra.adapters.test_runs import BoxedTests
from astra.adapters.workspaces import Workspaces
from astra.bootstrap import target_tools
from astra.bootstrap.sandbox import Sandbox
from astra.changes.mutation import MutationEvidence
from astra.trusted.changes import admission
from astra.trusted.changes.evidence import TestReport
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy.manifest import MIB, Limits, Manifest
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.sandbox.outcome import Outcome
from astra.trusted.settings.configuration import Target
from astra.trusted.settings.environment import Settings


@dataclass(frozen=True)
class BoxesOnly:
    """The sandbox, for what must never run without one."""

    sandbox: Sandbox

    def run(self, command: tuple[str, ...], manifest: Manifest, **how: Any) -> Outcome:
        if self.sandbox.off:
            raise SandboxUnavailable(
                "nothing of a change runs outside a box, and the sandbox is switched off",
                next_step="unset ASTRA_SANDBOX, then look at `astra doctor`",
            )
        return self.sandbox.run(command, manifest, **how)

    def end(self, label: str, why: str) -> None:
        self.sandbox.end(label, why)


@dataclass(frozen=True, kw_only=True)
class ConfiguredTests:
    """Runs of whatever command is signed at the moment."""

    make: Callable[[], BoxedTests]

    def run(self, **what: Any) -> TestReport:
        return self.make().run(**what)

    def end(self, label: str) -> None:
        self.make().end(label)


@dataclass(frozen=True, kw_only=True)
class ConfiguredMutation:
    """Mutants against whatever command is signed at the moment."""

    make: Callable[[], BoxedMutation]

    def measure(self, **what: Any) -> MutationEvidence:
        return self.make().measure(**what)


def make_scanner(sandbox: Sandbox) -> ChangeScanner:
    return ChangeScanner(boxes=BoxesOnly(sandbox))


def make_workspaces(root: DataRoot) -> Workspaces:
    """Make it once a daemon: it removes what an earlier one left half-made."""
    return Workspaces(root.var / "git", root.var / "workspaces")


def make_test_runs(
    sandbox: Sandbox, workspaces: Workspaces, target: Target, settings: Settings
) -> BoxedTests:
    """Make runs of the signed command; make them anew when the configuration changes."""
    seconds = max(1, settings.test_timeout)
    return BoxedTests(
        boxes=BoxesOnly(sandbox),
        workspaces=workspaces,
        test_command=target.test_command,
        test_paths=admission.tests_of(target),
        limits=Limits(wall_seconds=seconds, cpu_seconds=4 * seconds, output_bytes=64 * MIB),
        programs=lambda: target_tools.declared(target),
    )


def make_mutation_runs(sandbox: Sandbox, workspaces: Workspaces, target: Target) -> BoxedMutation:
    """Make runs of mutants by the signed command and within the signed time."""
    return BoxedMutation(
        boxes=BoxesOnly(sandbox),
        workspaces=workspaces,
        test_command=target.test_command,
        test_paths=admission.tests_of(target),
        seconds=target.mutation_seconds,
        limits=Limits(cpu_seconds=4 * max(1, target.mutation_seconds), output_bytes=64 * MIB),
        programs=lambda: target_tools.declared(target),
    )
