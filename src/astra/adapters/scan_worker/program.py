"""Reads the numbered files of a change and prints what was found; runs in a box only.

    python -I -S rules.zip FOLDER

`FOLDER/index.json` says what each number is; `FOLDER/old/N.ext` and `FOLDER/new/N.ext` are the two
sides. Names never come from the change.
"""

import json
import sys
from pathlib import Path
from typing import Any

from astra.adapters.scan_worker import checkers
from astra.changes.findings import documents, examination
from astra.changes.findings.source import Source
from astra.changes.findings.syntax import syntax_finding
from astra.trusted.changes import places
from astra.trusted.changes.evidence import Finding

LARGEST_FILE = 1_048_576
_DOCUMENTS = frozenset({"json", "toml", "yaml"})


def main() -> None:
    folder = Path(sys.argv[1])
    index: dict[str, Any] = json.loads((folder / "index.json").read_bytes())
    sys.path += index["libraries"]
    python = checkers.Ruff(index["ruff"], folder / "new", index["python"])
    sources = {entry["number"]: _read_source(folder, entry, index) for entry in index["files"]}
    findings = [] if index["syntax_only"] else examination.examine(list(sources.values()))
    for number, source in sources.items():
        findings += _check_syntax(source, folder / "new" / _find_name(index, number))
    findings += python.findings(sources)
    json.dump([finding.as_dict() for finding in examination.cap_findings(findings)], sys.stdout)


def _find_name(index: dict[str, Any], number: int) -> str:
    return str(index["files"][number]["name"])


def _read_source(folder: Path, entry: dict[str, Any], index: dict[str, Any]) -> Source:
    sides: dict[str, str | None] = {}
    problem = ""
    for side in ("old", "new"):
        sides[side], why = _read_text(folder / side / entry["name"]) if entry[side] else (None, "")
        problem = why or problem
    return Source(
        path=entry["path"],
        old=sides["old"],
        new=sides["new"],
        old_mode=entry["old_mode"],
        new_mode=entry["new_mode"],
        is_test=places.is_test(entry["path"], index["test_paths"]),
        problem=problem,
    )


def _read_text(path: Path) -> tuple[str | None, str]:
    data = path.read_bytes()
    if len(data) > LARGEST_FILE:
        return None, f"larger than {LARGEST_FILE:,} bytes; not looked at"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return None, "is not UTF-8 text; not looked at"


def _check_syntax(source: Source, path: Path) -> list[Finding]:
    if source.new is None or source.language in {"", "python"}:
        return []
    before = _find_problem(source.language, source.old, None, source.path) if source.old else None
    problem = _find_problem(source.language, source.new, path, source.path)
    return [syntax_finding(source, problem, known=before is not None)] if problem else []


def _find_problem(
    language: str, text: str, path: Path | None, called: str
) -> documents.Problem | None:
    if language in _DOCUMENTS:
        name = called.rpartition("/")[2].lower()
        commented = language == "json" and places.COMMENTED_JSON.fullmatch(name)
        return None if commented else documents.find_problem(language, text)
    if language == "shell":
        return checkers.check_shell(path) if path else None
    return checkers.check_script(language, text)


if __name__ == "__main__":
    main()
