"""Wiring for what a reviewer decides on: the scanner and the runs of tests of one data root."""

from astra.adapters.change_scanner import ChangeScanner
from astra.adapters.data_root import DataRoot
from astra.adapters.test_runs import BoxedTests
from astra.adapters.workspaces import Workspaces
from astra.bootstrap.sandbox import Sandbox
from astra.policy.manifest import MIB, Limits
from astra.settings.configuration import Target
from astra.settings.environment import Settings


def make_scanner(sandbox: Sandbox) -> ChangeScanner:
    return ChangeScanner(boxes=sandbox)


def make_workspaces(root: DataRoot) -> Workspaces:
    """Make it once a daemon: it removes what an earlier one left half-made."""
    return Workspaces(root.var / "git", root.var / "workspaces")


def make_test_runs(
    sandbox: Sandbox, workspaces: Workspaces, target: Target, settings: Settings
) -> BoxedTests:
    """Make runs of the signed command; make them anew when the configuration changes."""
    seconds = max(1, settings.test_timeout)
    return BoxedTests(
        boxes=sandbox,
        workspaces=workspaces,
        test_command=target.test_command,
        test_paths=target.test_paths,
        limits=Limits(wall_seconds=seconds, cpu_seconds=4 * seconds, output_bytes=64 * MIB),
    )
