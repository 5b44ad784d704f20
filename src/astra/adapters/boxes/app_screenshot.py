"""A picture of the app as a change leaves it: built, started and looked at in one box.

The box is that of the configuration check: no network but its own loopback, no secret, nothing to
write but a folder that is thrown away. The browser runs in it beside the app, so whatever the app
shows can at most spoil its own picture; what comes out is bounded, and has to begin as a PNG does.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from astra.adapters.boxes.app_commands import BuildSteps
from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.config_check import describe_start
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.boxes.start_probe import SCREENSHOT_PROBE
from astra.adapters.environment_orders import Purpose
from astra.adapters.environments import Environments
from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.release_tree import remove_tree
from astra.changes.dry_run import Screenshot
from astra.deployments.app_plan import build_steps, secret_filter
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.policy.manifest import Limits
from astra.trusted.sandbox import machine, staging
from astra.trusted.sandbox.ports import BoxRequest
from astra.trusted.settings.app_settings import App
from astra.trusted.settings.configuration import Configuration

BROWSERS = ("/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome")
"""Debian's own first: its command is a script that reads files outside `/usr`."""
LARGEST = 5_000_000
_SECONDS = 150
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_FILE = "app.png"
_PURPOSE = Purpose(actor="operator", label="dry run", correlation="")


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@dataclass(frozen=True, kw_only=True)
class AppScreenshots:
    base: Path
    """Where the release is built and removed again."""
    sandbox: Sandbox
    environments: Environments
    configuration: Callable[[], Configuration]
    find_browser: Callable[[], str | None] = find_browser

    def take(self, repository: Path, commit: str, *, correlation: str) -> Screenshot:
        """Take a picture of the app at a commit, or say why there is none."""
        configuration = self.configuration()
        browser = self.find_browser()
        if reason := _find_obstacle(configuration.app, browser):
            return Screenshot(why=reason)
        if self.sandbox.is_off:
            return Screenshot(why="the sandbox is switched off")
        releases = self._make_releases(configuration, repository)
        try:
            folder = Path(releases.build(random_id("chk"), commit, correlation=correlation).folder)
            purpose = replace(_PURPOSE, correlation=correlation)
            return self._look(configuration, folder, str(browser), purpose)
        except (AstraError, OSError, ValueError) as error:
            detail = error.detail if isinstance(error, AstraError) else str(error)
            return Screenshot(why=one_line(printable(detail), 300))
        finally:
            remove_tree(releases.base)

    def _make_releases(self, configuration: Configuration, repository: Path) -> ReleaseFolders:
        return ReleaseFolders(
            base=self.base / f"check-{random_id('run')}",
            repository=repository,
            steps=lambda: build_steps(configuration),
            run=BuildSteps(sandbox=self.sandbox, configuration=lambda: configuration).run,
            secret_filter=lambda: secret_filter(configuration),
            environment=lambda commit, purpose: self.environments.provide(
                commit, configuration.target, purpose
            ),
        )

    def _look(
        self, configuration: Configuration, folder: Path, browser: str, purpose: Purpose
    ) -> Screenshot:
        state = folder.parent.parent / "state"
        state.mkdir(mode=0o700)
        staging.hand_over(state, machine.inspect_machine().identity)
        request = describe_start(configuration, folder, state, purpose)
        outcome = BoxesOnly(self.sandbox).run(_add_browser(request, browser, state))
        picture = _read_picture(state / _FILE)
        if outcome.succeeded and picture:
            return Screenshot(picture=picture)
        output = (outcome.stderr or outcome.stdout).decode("utf-8", "replace")
        last_line = (output.strip().splitlines() or [""])[-1]
        return Screenshot(why=one_line(printable(f"{outcome.reason}: {last_line}"), 300))


def _find_obstacle(app: App, browser: str | None) -> str:
    if not app.command:
        return "there is no [app] command"
    if not (app.listens and app.probe_path):
        return "the app has no health page ([app] health_path)"
    return "" if browser else "there is no Chromium on this machine"


def _add_browser(request: BoxRequest, browser: str, state: Path) -> BoxRequest:
    """Have the script of the start look at the app with a browser once it is healthy."""
    script = request.command.index("-c") + 1
    probe_start = (*request.command[:script], SCREENSHOT_PROBE, browser, str(state / _FILE))
    limits = Limits(
        wall_seconds=request.manifest.limits.wall_seconds + _SECONDS,
        processes=512,
    )
    return replace(
        request,
        command=(*probe_start, *request.command[script + 1 :]),
        manifest=replace(request.manifest, limits=limits),
        programs=(*request.programs, Path(browser)),
    )


def _read_picture(path: Path) -> bytes:
    """Read what should be a picture: hostile code may have written it, or put a link there."""
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    return content if content.startswith(_SIGNATURE) and len(content) <= LARGEST else b""
