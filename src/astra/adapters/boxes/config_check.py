"""Tries a configuration once, in boxes, before anybody signs it, and says line by line what fails.

It goes by the `astra.toml` of the data root, signed or not, so it grants less than a signature
would: no secret, no folder of this machine (`unsigned_places`), no network for the app, and no
registry but those that are signed or that pip and npm of this user go by. Whatever it made of the
release is removed again; the environment stays, and is the one that tests use after the signature.
"""

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from astra.adapters.boxes.app_commands import BuildSteps, CommandTools
from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.configured_tests import ConfiguredTests
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.boxes.start_probe import START_PROBE
from astra.adapters.boxes.unsigned_places import list_unsigned_places
from astra.adapters.environment_orders import Purpose
from astra.adapters.environments import Environments
from astra.adapters.package_registries import propose_registries
from astra.adapters.release_folders import ReleaseFolders
from astra.adapters.release_tree import remove_tree
from astra.adapters.supervisor.app_box import INHERITED, INSIDE_PORT
from astra.adapters.workspaces import Workspaces
from astra.deployments.app_plan import build_steps, secret_filter
from astra.deployments.ports import fill_state
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox import machine, staging
from astra.trusted.sandbox.ports import BoxRequest, Outcome
from astra.trusted.settings import configuration
from astra.trusted.settings.app_settings import App, AppPermissions
from astra.trusted.settings.configuration import Configuration, Target

_LABEL = "config check"
_ACTOR = "operator"
_WORKER_SECONDS = 3
_MORE_TIME = (
    "set AGENT_DEPLOY_TEST_TIMEOUT to more seconds (in .env of the data root, then astra down), or"
    " have test_command run fewer tests"
)
_LAST_LINES = 4
_ERROR = re.compile(r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception)\b")
_FIXES = (
    (r"timed out: not done", _MORE_TIME),
    (r"No module named '?([\w.]+)", "add {0} to what the target installs, or set environment"),
    (r"Cannot find (?:module|package) '([^']+)'", "add {0} to package.json, or set environment"),
    (r"cannot be started|No such file", "name a program of /usr, of the environment or toolchain"),
    (r"HTTP status 404", "set [app] health_path to an address that answers 200"),
    (r"HTTP status", "look at what the app printed; set [app] health_path"),
    (r"not healthy|nothing answered", "have it listen on {{port}}, or raise [app] start_seconds"),
    (r"Read-only file system", "have it write to the folder in ASTRA_STATE"),
)


@dataclass(frozen=True, kw_only=True)
class Item:
    name: str
    ok: bool
    detail: str
    fix: str = ""

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True, kw_only=True)
class ConfigCheck:
    sandbox: Sandbox
    root: DataRoot
    workspaces: Workspaces
    environments: Environments
    head: Callable[[], str]
    signed: Callable[[], Configuration]
    seconds: int
    story: str = field(default_factory=lambda: random_id("cor"))

    def run(self) -> list[Item]:
        """Check the configuration in the data root; a step that fails ends what rests on it."""
        check = replace(self, story=random_id("cor"))
        return check.run_steps()

    def run_steps(self) -> list[Item]:
        """Run the steps as one story of the record."""
        items: list[Item] = []
        try:
            checked = self._read_configuration()
        except (AstraError, OSError) as error:
            return [_failed("configuration", error)]
        items.append(Item(name="configuration", ok=True, detail="astra.toml can be read"))
        for step in (self._check_places, self._check_sandbox, self._check_environment):
            items.append(step(checked))
            if not items[-1].ok:
                return items
        items.append(self._check_tests(checked))
        items += self._check_app(checked)
        return items

    def _read_configuration(self) -> Configuration:
        checked = configuration.parse(self.root.configuration.read_text())
        signed_files = set(self.signed().app.permissions.secret_files)
        secret_files = (f for f in checked.app.permissions.secret_files if f in signed_files)
        permissions = replace(AppPermissions(), secret_files=tuple(secret_files))
        return replace(checked, app=replace(checked.app, permissions=permissions))

    def _check_places(self, checked: Configuration) -> Item:
        """Refuse to open a folder of this machine that nobody signed for."""
        unsigned = list_unsigned_places(checked, self.signed())
        if not unsigned:
            return Item(name="places", ok=True, detail="no folder is opened that is not signed")
        return Item(
            name="places",
            ok=False,
            detail=f"{one_line(printable(unsigned[0]), 200)} is not signed, and its folder would"
            " be readable in a box",
            fix="astra config sign, then astra config check",
        )

    def _check_sandbox(self, _checked: Configuration) -> Item:
        try:
            self.sandbox.require_proof()
        except AstraError as error:
            return _failed("sandbox", error)
        return Item(name="sandbox", ok=True, detail="boxes hold on this machine")

    def _check_environment(self, checked: Configuration) -> Item:
        target = checked.target
        if not target.environment:
            return Item(name="environment", ok=True, detail="none is asked for")
        unsigned = set(target.registries) - self._known_registries(target)
        if unsigned:
            return Item(
                name="environment",
                ok=False,
                detail=f"the registry {min(unsigned)} is not signed, and not this machine's",
                fix="astra config sign, then astra config check",
            )
        try:
            built = self.environments.provide(self.head(), target, self._purpose)
        except (AstraError, OSError) as error:
            return _failed("environment", error)
        count = len(built.packages)
        return Item(name="environment", ok=True, detail=f"{count} packages in {built.folder}")

    @property
    def _purpose(self) -> Purpose:
        return Purpose(actor=_ACTOR, correlation=self.story, label=_LABEL)

    def _known_registries(self, target: Target) -> set[str]:
        """Give the registries that a check may reach before anybody signed for them."""
        kinds = ("venv", "npm") if target.registries else ()
        proposed_registries = {address for kind in kinds for address in propose_registries(kind)}
        return proposed_registries | set(self.signed().target.registries)

    def _check_tests(self, checked: Configuration) -> Item:
        if not checked.target.test_command:
            fix = "set [target] test_command; without it changes are reviewed untested"
            return Item(name="tests", ok=False, detail="there is no test_command", fix=fix)
        tests = ConfiguredTests(
            boxes=BoxesOnly(self.sandbox),
            workspaces=self.workspaces,
            target=lambda: checked.target,
            seconds=self.seconds,
            environments=self.environments,
        )
        report = tests.run(
            commit=self.head(),
            tests_from=None,
            label=_LABEL,
            actor=_ACTOR,
            correlation=self.story,
            show=self._purpose.show,
        )
        detail = f"{str(report.verdict).replace('_', ' ')}: {report.reason}"
        has_passed = report.verdict in {TestVerdict.PASSED, TestVerdict.UNKNOWN}
        last_lines = " ".join(report.output_tail.strip().splitlines()[-3:])
        shown_detail = detail if has_passed else one_line(f"{detail} {last_lines}", 500)
        fix = (
            ""
            if has_passed
            else _suggest_fix(f"{detail} {report.output_tail}", "mend test_command")
        )
        return Item(name="tests", ok=has_passed, detail=shown_detail, fix=fix)

    def _check_app(self, checked: Configuration) -> Iterator[Item]:
        if not checked.app.command:
            yield Item(name="app", ok=True, detail="there is no [app] command, so nothing to start")
            return
        identifier = random_id("chk")
        releases = self._make_releases(checked)
        try:
            built = releases.build(identifier, self.head(), correlation=self.story)
            steps = len(build_steps(checked))
            yield Item(name="build", ok=True, detail=f"{built.files} files, {steps} build steps")
            yield from self._check_start(checked, Path(built.folder))
        except (AstraError, OSError) as error:
            yield _failed("build", error)
        finally:
            remove_tree(releases.base)

    def _make_releases(self, checked: Configuration) -> ReleaseFolders:
        return ReleaseFolders(
            base=self.root.path.resolve() / "deployments" / f"check-{random_id('run')}",
            repository=self.root.git,
            steps=lambda: build_steps(checked),
            run=BuildSteps(sandbox=self.sandbox, configuration=lambda: checked).run,
            secret_filter=lambda: secret_filter(checked),
            environment=lambda commit, purpose: self.environments.provide(
                commit, checked.target, purpose
            ),
        )

    def _check_start(self, checked: Configuration, folder: Path) -> list[Item]:
        state = folder.parent.parent / "state"
        state.mkdir(mode=0o700)
        staging.hand_over(state, machine.inspect_machine().identity)
        items = self._run_before_start(checked, folder, state) if checked.app.before_start else []
        if not all(item.ok for item in items):
            return items
        try:
            request = describe_start(checked, folder, state, self._purpose)
            outcome = BoxesOnly(self.sandbox).run(request)
        except (AstraError, OSError, ValueError) as error:
            return [*items, _failed("start", error)]
        return [*items, *_judge_start(outcome, checked.app)]

    def _run_before_start(self, checked: Configuration, folder: Path, state: Path) -> list[Item]:
        try:
            request = _describe_before_start(checked, folder, state, self._purpose)
            outcome = BoxesOnly(self.sandbox).run(request)
        except (AstraError, OSError, ValueError) as error:
            return [_failed("before_start", error)]
        if outcome.succeeded:
            return [Item(name="before_start", ok=True, detail="it ran on an empty state folder")]
        output = _read_output(outcome)
        fix = _suggest_fix(output, "mend [app] before_start; the detail has its last lines")
        detail = f"{outcome.reason}: {_find_last_lines(output)}"
        return [Item(name="before_start", ok=False, detail=detail, fix=fix)]


def describe_start(
    checked: Configuration, folder: Path, state: Path, purpose: Purpose
) -> BoxRequest:
    """Describe the box in which an app is started once, from a folder, without secrets."""
    app = checked.app
    command = tuple(shlex.split(app.command))
    tools = CommandTools.find(command, folder, checked.target.toolchain)
    python = Path(getattr(sys, "_base_executable", sys.executable))
    mode, seconds = _choose_mode(app)
    places = {"{fd}": str(INHERITED), "{port}": str(INSIDE_PORT)}
    app_words = [_fill_word(word, places) for word in tools.command]
    probe_words = (mode, str(INSIDE_PORT), app.probe_path or "/", str(seconds), *app_words)
    request = _describe_box(checked, folder, state, purpose, tools=tools, seconds=seconds + 30)
    return replace(
        request,
        command=(str(python), "-I", "-c", START_PROBE, *probe_words),
        programs=(python, *tools.programs),
    )


def _describe_before_start(
    checked: Configuration, folder: Path, state: Path, purpose: Purpose
) -> BoxRequest:
    app = checked.app
    command = tuple(shlex.split(app.before_start))
    tools = CommandTools.find(command, folder, checked.target.toolchain)
    seconds = app.before_start_seconds
    return _describe_box(checked, folder, state, purpose, tools=tools, seconds=seconds)


def _describe_box(
    checked: Configuration,
    folder: Path,
    state: Path,
    purpose: Purpose,
    *,
    tools: CommandTools,
    seconds: int,
) -> BoxRequest:
    """Describe the box of an app: its release to read, a state folder to write, its variables."""
    signed_variables = {**dict(checked.target.env), **dict(checked.app.env)}
    variables = {**fill_state(signed_variables.items(), str(state)), "ASTRA_STATE": str(state)}
    variables |= {"PORT": str(INSIDE_PORT), "PYTHONUNBUFFERED": "1", "ASTRA_RELEASE": "check"}
    return BoxRequest(
        command=tools.command,
        manifest=Manifest(
            read_paths=(str(folder),),
            write_paths=(str(state),),
            limits=Limits(wall_seconds=seconds, processes=512),
            environment=variables,
        ),
        workdir=str(folder),
        actor=purpose.actor,
        correlation=purpose.correlation,
        programs=tools.programs,
        environment=tools.environment,
        label=purpose.label,
    )


def _choose_mode(app: App) -> tuple[str, int]:
    if not app.listens or not app.probe_path:
        return "alone", _WORKER_SECONDS
    return ("inherited" if "{fd}" in app.command else "port"), app.start_seconds


def _fill_word(word: str, places: dict[str, str]) -> str:
    for place, value in places.items():
        word = word.replace(place, value)
    return word


def _judge_start(outcome: Outcome, app: App) -> list[Item]:
    """Tell an app that did not start from one that is not healthy."""
    is_server = _choose_mode(app)[0] != "alone"
    start = Item(name="start", ok=True, detail="it started and stayed")
    if outcome.succeeded:
        health = Item(name="health", ok=True, detail=f"{app.probe_path} answered")
        return [start, health] if is_server else [start]
    output = _read_output(outcome)
    last_lines = _find_last_lines(output)
    fix = _suggest_fix(output, "mend [app] command; the detail has its last lines")
    trouble = Item(name="start", ok=False, detail=f"{outcome.reason}: {last_lines}", fix=fix)
    return [start, replace(trouble, name="health")] if "was not healthy" in output else [trouble]


def _read_output(outcome: Outcome) -> str:
    return (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace")


def _find_last_lines(output: str) -> str:
    r"""Give the last lines, and before them the last error, which servers print much after.

    >>> _find_last_lines("OSError: read-only\n[3] Worker exiting\n[3] a\n[3] b\n[3] c")
    'OSError: read-only … [3] Worker exiting [3] a [3] b [3] c'
    """
    lines = output.strip().splitlines()
    errors = [line.strip() for line in lines[:-_LAST_LINES] if _ERROR.match(line.strip())]
    shown_lines = [*(f"{error} …" for error in errors[-1:]), *lines[-_LAST_LINES:]]
    return one_line(printable(" ".join(shown_lines)), 500)


def _suggest_fix(text: str, otherwise: str) -> str:
    for pattern, fix in _FIXES:
        if match := re.search(pattern, text):
            return fix.format(*(one_line(printable(group), 100) for group in match.groups()))
    return otherwise


def _failed(name: str, error: Exception) -> Item:
    if isinstance(error, AstraError):
        return Item(name=name, ok=False, detail=error.detail, fix=error.next_step)
    return Item(name=name, ok=False, detail=one_line(str(error), 300), fix="astra doctor")
