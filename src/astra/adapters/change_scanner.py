"""Looks at the text of a change in a box: one launch for the whole change, nothing of it runs.

The files are written under numbers into a folder that the box can only read. In the box our own
rules, ruff, tree-sitter grammars and `bash -n` read them. A box that fails, is late or says
something odd is a finding itself: a change that could not be looked at is never clean.
"""

import contextlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from astra.adapters.scan_worker.bundle import bundle
from astra.adapters.scan_worker.checkers import (
    RUFF_OPTIONS,
    SYNTAX_ONLY,
    WITH_SAFETY,
    ruff_findings,
)
from astra.changes.findings.examination import cap_findings
from astra.changes.findings.source import Source
from astra.trusted.changes import places
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.changes.files import LINK, SUBMODULE, ChangedFile
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line
from astra.trusted.policy.manifest import GIB, MIB, Limits, Manifest
from astra.trusted.sandbox.ports import Boxes, BoxRequest, Outcome

SECONDS = 60.0
MOST_FILES = 5_000
MOST_BYTES = 64 * MIB
_LIBRARIES = ("tree_sitter", "tree_sitter_javascript", "tree_sitter_typescript", "yaml")


@dataclass(frozen=True, kw_only=True)
class ChangeScanner:
    boxes: Boxes
    seconds: float = SECONDS
    most_files: int = MOST_FILES

    def scan(
        self,
        files: Sequence[ChangedFile],
        *,
        test_paths: Sequence[str],
        actor: str,
        correlation: str,
    ) -> tuple[Finding, ...]:
        """Give every finding about the change, the gravest first."""
        return self._scan_files(files, test_paths, actor, correlation, syntax_only=False)

    def syntax(
        self, files: Sequence[ChangedFile], *, actor: str, correlation: str
    ) -> tuple[Finding, ...]:
        """Only say which files cannot be read in their own language.

        Where all are Python, ruff alone is started, which is as quick as it gets.
        """
        return self._scan_files(files, (), actor, correlation, syntax_only=True)

    def _scan_files(
        self,
        files: Sequence[ChangedFile],
        test_paths: Sequence[str],
        actor: str,
        correlation: str,
        *,
        syntax_only: bool,
    ) -> tuple[Finding, ...]:
        scanned_files = _limit_size(files[: self.most_files])
        if syntax_only and all(file.new is None for file in scanned_files):
            return _left_out(files, scanned_files)
        try:
            with _make_scan_folder() as folder:
                index = _lay_out(folder, scanned_files, test_paths, syntax_only=syntax_only)
                start = self._run_ruff if index["only_ruff"] else self._run_worker
                outcome = start(folder, index, actor, correlation)
        except AstraError as error:
            return (*_left_out(files, scanned_files), _not_scanned(error.detail))
        answer = (
            _read_ruff(outcome, scanned_files)
            if index["only_ruff"]
            else _read_worker_answer(outcome)
        )
        return (*_left_out(files, scanned_files), *answer)

    def _run_ruff(
        self, folder: Path, index: dict[str, Any], actor: str, correlation: str
    ) -> Outcome:
        program = index["ruff"]
        request = BoxRequest(
            command=(program, *index["python"]),
            manifest=Manifest(read_paths=(str(folder),), limits=self._make_limits()),
            workdir=str(folder / "new"),
            actor=actor,
            correlation=correlation,
            programs=(Path(program),),
        )
        return self.boxes.run(request)

    def _make_limits(self) -> Limits:
        return Limits(wall_seconds=self.seconds, memory_bytes=GIB, output_bytes=16 * MIB)

    def _run_worker(
        self, folder: Path, index: dict[str, Any], actor: str, correlation: str
    ) -> Outcome:
        python = Path(getattr(sys, "_base_executable", sys.executable))
        manifest = Manifest(
            read_paths=(str(folder), *_library_folders()),
            limits=self._make_limits(),
        )
        request = BoxRequest(
            command=(str(python), "-I", "-S", str(folder / "rules.zip"), str(folder)),
            manifest=manifest,
            workdir=str(folder),
            actor=actor,
            correlation=correlation,
            programs=(python, Path(index["ruff"])),
        )
        return self.boxes.run(request)


@contextlib.contextmanager
def _make_scan_folder() -> Generator[Path, None, None]:
    """Make a folder that the boxes' user can read and nobody else can reach."""
    with tempfile.TemporaryDirectory(prefix="astra-scan-") as name:
        inner = Path(name).resolve() / "change"
        for folder in (inner, inner / "old", inner / "new"):
            folder.mkdir(mode=0o755)
            folder.chmod(0o755)
        yield inner


def _limit_size(files: Sequence[ChangedFile]) -> list[ChangedFile]:
    scanned_files: list[ChangedFile] = []
    size = 0
    for file in files:
        size += len(file.old or b"") + len(file.new or b"")
        if size > MOST_BYTES:
            break
        scanned_files.append(file)
    return scanned_files


def _lay_out(
    folder: Path, files: Sequence[ChangedFile], test_paths: Sequence[str], *, syntax_only: bool
) -> dict[str, Any]:
    entries = [_describe_file(number, file) for number, file in enumerate(files)]
    only_ruff = syntax_only and all(map(_is_python, entries))
    sides = ("new",) if only_ruff else ("old", "new")
    for entry, file in zip(entries, files, strict=True):
        _write_sides(folder, entry, file, sides)
    python = [e["name"] for e in entries if e["new"] and e["name"].endswith(".py")]
    selected = SYNTAX_ONLY if syntax_only else WITH_SAFETY
    index = {
        "files": entries,
        "test_paths": list(test_paths),
        "syntax_only": syntax_only,
        "libraries": sorted({str(Path(path).parent) for path in _library_folders()}),
        "ruff": ruff_program(),
        "python": [*RUFF_OPTIONS, "--select", selected, "--", *python] if python else [],
        "only_ruff": only_ruff,
    }
    if not only_ruff:
        _write_new_file(folder / "index.json", json.dumps(index).encode())
        _write_new_file(folder / "rules.zip", bundle())
    return index


def _describe_file(number: int, file: ChangedFile) -> dict[str, Any]:
    """Describe a file under its number; links and submodules have no text to read."""
    text = (file.new if file.new is not None else file.old or b"")[:200].decode("utf-8", "replace")
    language = places.language_of(file.path, text)
    plain = {LINK, SUBMODULE}.isdisjoint({file.old_mode, file.new_mode})
    return {
        "number": number,
        "name": f"{number}.py" if language == "python" else f"{number}.txt",
        "path": file.path,
        "old": file.old is not None and plain,
        "new": file.new is not None and plain,
        "old_mode": file.old_mode,
        "new_mode": file.new_mode,
    }


def _write_sides(
    folder: Path, entry: dict[str, Any], file: ChangedFile, sides: tuple[str, ...]
) -> None:
    for side in sides:
        data: bytes | None = getattr(file, side)
        if entry[side] and data is not None:
            _write_new_file(folder / side / entry["name"], data)


def _write_new_file(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
        file.write(data)


def _read_worker_answer(outcome: Outcome) -> tuple[Finding, ...]:
    """Take the worker's answer; anything that is not exactly findings is not an answer."""
    if not outcome.succeeded:
        return (_not_scanned(f"{outcome.reason}: {_last_line(outcome)}"),)
    try:
        entries = cast("list[dict[str, Any]]", json.loads(outcome.stdout))
        return tuple(_finding_from_entry(entry) for entry in entries)
    except (ValueError, TypeError, KeyError, RecursionError):
        return (_not_scanned("the scan gave no answer that can be read"),)


def _read_ruff(outcome: Outcome, files: Sequence[ChangedFile]) -> tuple[Finding, ...]:
    if not outcome.succeeded:
        return (_not_scanned(f"{outcome.reason}: {_last_line(outcome)}"),)
    sources = {
        number: Source(path=file.path, new=(file.new or b"").decode("utf-8", "replace"))
        for number, file in enumerate(files)
    }
    try:
        return cap_findings(ruff_findings(outcome.stdout, sources))
    except (ValueError, TypeError, KeyError):
        return (_not_scanned("ruff gave no answer that can be read"),)


def _is_python(entry: dict[str, Any]) -> bool:
    return not entry["new"] or str(entry["name"]).endswith(".py")


def _finding_from_entry(entry: dict[str, Any]) -> Finding:
    return Finding(
        rule=one_line(str(entry["rule"]), 60),
        severity=Severity(entry["severity"]),
        path=str(entry["path"]),
        line=int(entry["line"]),
        message=one_line(str(entry["message"]), 300),
        excerpt=one_line(str(entry["excerpt"]), 200),
    )


def _left_out(files: Sequence[ChangedFile], taken: Sequence[ChangedFile]) -> tuple[Finding, ...]:
    count = len(files) - len(taken)
    if not count:
        return ()
    message = f"{count} of {len(files)} files were not looked at: the change is too large"
    return (Finding(rule="not-scanned", severity=Severity.DANGER, path="", message=message),)


def _not_scanned(why: str) -> Finding:
    message = one_line(f"the change could not be looked at: {why}", 300)
    return Finding(rule="not-scanned", severity=Severity.DANGER, path="", message=message)


def _last_line(outcome: Outcome) -> str:
    lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


@cache
def ruff_program() -> str:
    from ruff import find_ruff_bin  # pyright: ignore[reportMissingTypeStubs]

    return str(find_ruff_bin())


@cache
def _library_folders() -> tuple[str, ...]:
    """Find the grammars; below /usr every box sees them anyway."""
    specs = [importlib.util.find_spec(name) for name in _LIBRARIES]
    folders = [spec.submodule_search_locations for spec in specs if spec is not None]
    paths = [str(Path(places[0]).resolve()) for places in folders if places]
    return tuple(path for path in paths if not path.startswith("/usr/"))
