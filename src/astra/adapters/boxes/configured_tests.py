"""Runs of a change's tests and of its mutants, by whatever command is signed at the moment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from astra.adapters.boxes import target_tools
from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.environments import Environments, ProvideEnvironment, provide_nothing
from astra.adapters.mutation_runs import BoxedMutation
from astra.adapters.test_runs import BoxedTests
from astra.adapters.workspaces import Workspaces
from astra.changes.mutation import MutationEvidence
from astra.trusted.changes import admission
from astra.trusted.changes.evidence import TestReport
from astra.trusted.policy.manifest import MIB, Limits
from astra.trusted.settings.configuration import Target


@dataclass(frozen=True, kw_only=True)
class ConfiguredTests:
    boxes: BoxesOnly
    workspaces: Workspaces
    target: Callable[[], Target]
    seconds: int
    """How long one run may take."""
    environments: Environments | None = None

    def run(self, **what: Any) -> TestReport:
        return self._boxed_tests().run(**what)

    def end(self, label: str) -> None:
        self._boxed_tests().end(label)

    def _boxed_tests(self) -> BoxedTests:
        target, seconds = self.target(), max(1, self.seconds)
        return BoxedTests(
            boxes=self.boxes,
            workspaces=self.workspaces,
            test_command=target.test_command,
            test_paths=admission.list_test_places(target),
            limits=Limits(wall_seconds=seconds, cpu_seconds=4 * seconds, output_bytes=64 * MIB),
            programs=lambda: target_tools.read_toolchain(target),
            environment=_provider(self.environments, target),
            variables=dict(target.env),
        )


@dataclass(frozen=True, kw_only=True)
class ConfiguredMutation:
    boxes: BoxesOnly
    workspaces: Workspaces
    target: Callable[[], Target]
    environments: Environments | None = None

    def measure(self, **what: Any) -> MutationEvidence:
        target = self.target()
        return BoxedMutation(
            boxes=self.boxes,
            workspaces=self.workspaces,
            test_command=target.test_command,
            test_paths=admission.list_test_places(target),
            seconds=target.mutation_seconds,
            limits=Limits(cpu_seconds=4 * max(1, target.mutation_seconds), output_bytes=64 * MIB),
            programs=lambda: target_tools.read_toolchain(target),
            environment=_provider(self.environments, target),
            variables=dict(target.env),
        ).measure(**what)


def _provider(environments: Environments | None, target: Target) -> ProvideEnvironment:
    if environments is None:
        return provide_nothing
    return lambda commit, purpose: environments.provide(commit, target, purpose)
