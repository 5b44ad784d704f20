"""Looks up every locked package in a database of advisories (`make advisories DATABASE=folder`).

The database is what OSV publishes for each ecosystem: one JSON file an advisory, in a folder or in
an `all.zip`. Nothing is sent anywhere. Without a database nothing is checked, and that is said.
Exits with 1 when a locked version is affected, 2 when the database cannot be read.
"""

import json
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import InvalidVersion, Version
from sbom import Component, list_components

Advisory = Mapping[str, Any]


class Hit(NamedTuple):
    component: Component
    advisory: str
    summary: str


def main(arguments: Sequence[str]) -> int:
    components = list_components()
    if not arguments:
        print(f"unchecked: {len(components)} packages; no database of advisories was named.")
        print("Get all.zip of PyPI and npm from OSV, then: make advisories DATABASE=FOLDER")
        return 0
    try:
        advisories = list(read_database(Path(arguments[0])))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        print(f"the database cannot be read: {error}")
        return 2
    return report(components, advisories)


def report(components: Sequence[Component], advisories: Sequence[Advisory]) -> int:
    covered = {ecosystem for advisory in advisories for ecosystem in _ecosystems(advisory)}
    unchecked = [item for item in components if item.ecosystem not in covered]
    hits = find(components, advisories)
    for hit in hits:
        print(f"{hit.component.name} {hit.component.version}: {hit.advisory}: {hit.summary}")
    checked = len(components) - len(unchecked)
    print(f"checked {checked} packages against {len(advisories)} advisories: {len(hits)} found.")
    if unchecked:
        missing = ", ".join(sorted({item.ecosystem for item in unchecked}))
        print(f"unchecked: {len(unchecked)} packages; the database has nothing for {missing}.")
    return 1 if hits else 0


def read_database(path: Path) -> Iterator[Advisory]:
    """Read every advisory in a folder and in the archives in it, or in one archive."""
    if path.is_file():
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    yield json.loads(archive.read(name))
        return
    for file in sorted(path.rglob("*.json")):
        yield json.loads(file.read_bytes())
    for file in sorted(path.rglob("*.zip")):
        yield from read_database(file)


def find(components: Sequence[Component], advisories: Sequence[Advisory]) -> list[Hit]:
    by_package = defaultdict[tuple[str, str], list[Component]](list)
    for component in components:
        by_package[component.ecosystem, component.name].append(component)
    return [
        Hit(component, advisory["id"], advisory.get("summary", "no summary"))
        for advisory in advisories
        if "withdrawn" not in advisory
        for affected in advisory.get("affected", [])
        for component in by_package.get(_package(affected), [])
        if is_affected(component.version, affected)
    ]


def is_affected(version: str, affected: Mapping[str, Any]) -> bool:
    """Tell whether a version is named, or lies in a range; one that cannot be compared counts."""
    if version in affected.get("versions", []):
        return True
    ranges = [item for item in affected.get("ranges", []) if item["type"] != "GIT"]
    try:
        return any(_within(Version(version), item["events"]) for item in ranges)
    except InvalidVersion:
        return True


def _within(version: Version, events: Sequence[Mapping[str, str]]) -> bool:
    """Follow the events in the order of their versions; the last one that applies decides."""
    inside = False
    for kind, bound in sorted(
        ((kind, Version(text)) for event in events for kind, text in event.items()),
        key=lambda event: event[1],
    ):
        if kind == "last_affected":
            inside = inside and version <= bound
        elif version >= bound:
            inside = kind == "introduced"
    return inside


def _ecosystems(advisory: Advisory) -> set[str]:
    return {_package(affected)[0] for affected in advisory.get("affected", [])}


def _package(affected: Mapping[str, Any]) -> tuple[str, str]:
    package = affected.get("package", {})
    return package.get("ecosystem", ""), package.get("name", "").lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
