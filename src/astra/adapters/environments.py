"""Environments of the target: built once for each state of its lock files, sealed, shared.

What tests, agent, coder and app need is built in a box from the lock files of a commit. The box
reaches the package registries that the operator signed and nothing else. The folder is named by a
digest over the lock files, the recipe, the interpreter and the registries; when it is complete it
is made read-only, and a note beside it says what it holds. A folder without a note is half-made
and is made again. Nothing in a folder is followed or trusted by the host: packages wrote it.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from astra.adapters.environment_orders import Order, Purpose, build_error, choose_recipe
from astra.adapters.package_registries import find_python
from astra.adapters.release_tree import measure, remove_tree, seal, tree_digest
from astra.adapters.repository_snapshot import read_repository
from astra.adapters.workspaces import Workspaces
from astra.adoption.environment_steps import choose_kind
from astra.trusted.changes.admission import is_dependency
from astra.trusted.git.tree_reader import TreeReader
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.kernel.private_files import write_private
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.sandbox import machine, staging, toolchain
from astra.trusted.sandbox.ports import Boxes, Edit, Workspace
from astra.trusted.sandbox.toolchain import NO_TOOLCHAIN, Toolchain
from astra.trusted.settings.configuration import Target

FOLDER = "environments"
_FORMAT = "1"
_DEEPEST_LOCK = 1
_MOST_COMPARED = 40


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A sealed environment; `toolchain` is how a box uses it."""

    name: str
    folder: Path
    toolchain: Toolchain
    digest: str = ""
    packages: tuple[str, ...] = ()
    has_project: bool = False
    """Whether the project itself is installed in it, as a pointer to the code under test."""

    @property
    def node_modules(self) -> Path | None:
        """Name its modules, if it has some: `import` of node looks nowhere but beside the code."""
        modules = self.folder / "node_modules"
        return modules if self.toolchain is not NO_TOOLCHAIN and modules.is_dir() else None

    def link_modules(self, files: Workspace) -> Workspace:
        """Have a workspace find the modules where node looks for them."""
        if self.node_modules is None or os.path.lexists(files.base / "node_modules"):
            return files
        link = Edit(path=b"node_modules", data=os.fsencode(self.node_modules), link=True)
        return replace(files, edits=(*files.edits, link))


NO_ENVIRONMENT = Environment(name="", folder=Path(), toolchain=NO_TOOLCHAIN)
ProvideEnvironment = Callable[[str, Purpose], Environment]
"""Gives the environment of a commit, built for a purpose if it is not there yet."""


def provide_nothing(_commit: str, _purpose: Purpose) -> Environment:
    return NO_ENVIRONMENT


@dataclass(frozen=True, kw_only=True)
class Environments:
    boxes: Boxes
    workspaces: Workspaces
    repository: Path
    folder: Path
    lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    """Held by whoever builds or removes one."""

    def provide(self, commit: str, target: Target, purpose: Purpose) -> Environment:
        """Give the environment of a commit, built now if it is not there yet."""
        if not target.environment:
            return NO_ENVIRONMENT
        if target.environment.startswith("/"):
            return _describe_ready_made(Path(target.environment))
        order = self._write_order(commit, target)
        with self.lock:
            if not self.note_path(order.name).exists():
                self._build(order, commit, purpose)
            self.note_path(order.name).touch()  # when it was last asked for
            return self._describe(order)

    def find(self, commit: str, target: Target) -> Environment:
        """Give the environment of a commit if it is there; build nothing."""
        if target.environment.startswith("/"):
            return _describe_ready_made(Path(target.environment))
        if not target.environment:
            return NO_ENVIRONMENT
        order = self._write_order(commit, target)
        return self._describe(order) if self.note_path(order.name).exists() else NO_ENVIRONMENT

    def compare(self, base: str, commit: str, target: Target) -> tuple[str, ...]:
        """Say what a commit installs that its base does not, and the other way round."""
        before, after = (self.find(name, target) for name in (base, commit))
        if before.name == after.name:
            return ()
        if not before.name or not after.name:
            return ("the environment of its base is not built, so nothing is compared with it",)
        removed_packages = set(before.packages) - set(after.packages)
        new = set(after.packages) - set(before.packages)
        lines = [
            *(f"+{name}" for name in sorted(new)),
            *(f"-{name}" for name in sorted(removed_packages)),
        ]
        summary = ", ".join(lines[:_MOST_COMPARED]) or "the same packages, other lock files"
        more = f" and {len(lines) - _MOST_COMPARED} more" if len(lines) > _MOST_COMPARED else ""
        return (f"it has an environment of its own: {summary}{more}",)

    def _write_order(self, commit: str, target: Target) -> Order:
        files = read_repository(self.repository, commit)
        kind = choose_kind(target.environment, files)
        if not kind:
            raise BadSetting(
                "target.environment is auto, and the repository has no file that names packages",
                next_step='commit a requirements.txt or package.json, or set environment = ""',
                key="target.environment",
            )
        python = find_python(target)
        recipe = choose_recipe(kind, files, target)
        facts = {
            "format": _FORMAT,
            "kind": kind,
            "steps": recipe.steps,
            "locks": self._read_locks(commit),
            "python": str(python.resolve()) if kind != "npm" else "",
            "registries": target.registries,
        }
        name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
        return Order(name=name, recipe=recipe, python=python, registries=target.registries)

    def _read_locks(self, commit: str) -> list[tuple[str, str]]:
        """Name the content of every file near the top that says what is installed."""
        return [
            (file.path, file.oid)
            for file in TreeReader(repository=self.repository).list_files(commit)
            if file.path.count("/") <= _DEEPEST_LOCK and is_dependency(file.path)
        ]

    def _build(self, order: Order, commit: str, purpose: Purpose) -> None:
        folder = self.folder / order.name
        self.folder.mkdir(mode=0o755, exist_ok=True)
        remove_tree(folder)
        folder.mkdir(mode=0o755)
        staging.hand_over(folder, machine.inspect_machine().identity)
        try:
            self._fill_folder(order, folder, commit, purpose)
            seal(folder)
        except BaseException:  # whatever ended it, half an environment must not stay
            remove_tree(folder)
            raise
        self._write_note(order, folder)

    def _fill_folder(self, order: Order, folder: Path, commit: str, purpose: Purpose) -> None:
        with self.workspaces.open(commit) as files:
            outcome = self.boxes.run(order.make_request(folder, files, purpose))
        if not outcome.succeeded:
            raise build_error(outcome)

    def _write_note(self, order: Order, folder: Path) -> None:
        files, size = measure(folder)
        note = {
            "digest": tree_digest(folder),
            "kind": order.recipe.kind,
            "files": files,
            "bytes": size,
            "packages": _list_packages(folder),
        }
        write_private(self.note_path(order.name), json.dumps(note, indent=1).encode())

    def note_path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def read_note(self, name: str) -> dict[str, Any]:
        """Read what a complete environment holds; empty for one that is half-made."""
        try:
            return json.loads(self.note_path(name).read_text())
        except FileNotFoundError:
            return {}

    def _describe(self, order: Order) -> Environment:
        note = self.read_note(order.name)
        folder = self.folder / order.name
        base = order.find_base()
        return Environment(
            name=order.name,
            folder=folder,
            toolchain=describe_folder(folder) | base,
            digest=str(note["digest"]),
            packages=tuple(note["packages"]),
            has_project=any("--editable" in step for step in order.recipe.steps),
        )


def describe_folder(folder: Path) -> Toolchain:
    """Say how a box uses an environment, without looking at a link inside of it."""
    modules = folder / "node_modules"
    search = [str(path) for path in (folder / "bin", modules / ".bin") if path.is_dir()]
    variables = {"VIRTUAL_ENV": str(folder)} if (folder / "pyvenv.cfg").is_file() else {}
    if modules.is_dir():
        variables |= {"NODE_PATH": str(modules)}
    return Toolchain(
        read_paths=(str(folder),), search=tuple(search), environment=MappingProxyType(variables)
    )


def _describe_ready_made(folder: Path) -> Environment:
    python = folder / "bin" / "python"
    if not folder.is_dir() or not (python.exists() or (folder / "node_modules").is_dir()):
        raise BadSetting(
            f"target.environment names {str(folder)!r}, which is no virtual environment",
            next_step="name a folder with bin/python or node_modules, then `astra config sign`",
            key="target.environment",
        )
    base = toolchain.find(python, homes=machine.own_homes()) if python.exists() else NO_TOOLCHAIN
    return Environment(name="", folder=folder, toolchain=describe_folder(folder) | base)


def _list_packages(folder: Path) -> list[str]:
    """Name what is installed, from the names of folders alone."""
    infos = sorted(path.name for path in folder.glob("lib/python*/site-packages/*.dist-info"))
    modules = folder / "node_modules"
    node = sorted(path.name for path in modules.iterdir()) if modules.is_dir() else []
    names = [name.removesuffix(".dist-info") for name in infos]
    names += [name for name in node if not name.startswith(".")]
    return [one_line(printable(name), 200) for name in names[:5000]]
