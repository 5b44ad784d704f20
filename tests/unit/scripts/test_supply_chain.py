"""The bill of materials lists what the locks say, and advisories are matched by version."""

import importlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    return importlib.import_module(name)


@pytest.fixture
def sbom(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("sbom", monkeypatch)


@pytest.fixture
def advisories(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("advisories", monkeypatch)


def an_advisory(*, name: str, events: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": name}
    ranges = [{"type": "ECOSYSTEM", "events": events}]
    return {"id": "X-1", "affected": [{"package": package, "ranges": ranges}], **more}


def test_every_locked_package_is_listed_with_the_hashes_of_its_lock(sbom: ModuleType) -> None:
    text = "One.Two==1.0 ; python_version < '4' \\\n    --hash=sha256:" + "a" * 64
    text += " \\\n    --hash=sha256:" + "b" * 64 + "\n    # via three\nthree[extra]==2.0b1 \\\n"
    text += "    --hash=sha256:" + "c" * 64 + "\n"
    first, second = sbom.read_requirements(text)
    assert (first.name, first.version) == ("one.two", "1.0")
    assert [digest[0] for _, digest in first.hashes] == ["a", "b"]
    assert second.purl == "pkg:pypi/three@2.0b1"
    assert len(second.hashes) == 1


def test_tools_that_only_build_the_dashboard_are_left_out(sbom: ModuleType) -> None:
    lock = {
        "packages": {
            "": {"version": "0"},
            "node_modules/@a/b": {"version": "1.2.3", "integrity": "sha512-AAEC"},
            "node_modules/vite": {"version": "1.0.0", "integrity": "sha512-AAEC", "dev": True},
        }
    }
    (component,) = sbom.read_package_lock(lock)
    assert component.purl == "pkg:npm/%40a/b@1.2.3"
    assert component.hashes == (("SHA-512", "000102"),)


def test_the_same_locks_give_the_same_document(sbom: ModuleType, tmp_path: Path) -> None:
    sbom.write(tmp_path / "one")
    sbom.write(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    document = json.loads((tmp_path / "one").read_text())
    references = [component["bom-ref"] for component in document["components"]]
    assert len(references) == len(set(references)) > 50
    assert all(component["hashes"] for component in document["components"])


@pytest.mark.parametrize(
    ("version", "affected"),
    [("0.9", False), ("1.0", True), ("1.4", True), ("1.5", False), ("2.0", True), ("2.2", False)],
)
def test_a_version_is_affected_between_introduced_and_fixed(
    advisories: ModuleType, version: str, *, affected: bool
) -> None:
    events = [{"introduced": "2.0"}, {"last_affected": "2.1"}, {"introduced": "1.0"}]
    record = an_advisory(name="a", events=[*events, {"fixed": "1.5"}])
    assert advisories.is_affected(version, record["affected"][0]) is affected


def test_a_version_that_cannot_be_compared_counts_as_affected(advisories: ModuleType) -> None:
    record = an_advisory(name="a", events=[{"introduced": "0"}])
    assert advisories.is_affected("not a version", record["affected"][0])


def test_withdrawn_advisories_and_other_packages_are_not_reported(
    advisories: ModuleType, sbom: ModuleType
) -> None:
    component = sbom.Component("PyPI", "a", "1.0", ())
    events = [{"introduced": "0"}]
    withdrawn = an_advisory(name="a", events=events, withdrawn="2026-01-01")
    other = an_advisory(name="b", events=events)
    assert advisories.find([component], [withdrawn, other]) == []
    assert len(advisories.find([component], [an_advisory(name="A", events=events)])) == 1


def look_up(*database: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPTS / "advisories.py", *database],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_says_what_it_did_not_check(tmp_path: Path) -> None:
    assert look_up().stdout.startswith("unchecked: ")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        hit = an_advisory(name="fastapi", events=[{"introduced": "0"}], summary="everything")
        archive.writestr("X-1.json", json.dumps(hit))
    answer = look_up(tmp_path)
    assert answer.returncode == 1
    assert "fastapi" in answer.stdout
    assert "everything" in answer.stdout
    assert "the database has nothing for npm" in answer.stdout
    (tmp_path / "broken.json").write_text("{")
    assert look_up(tmp_path).returncode == 2
