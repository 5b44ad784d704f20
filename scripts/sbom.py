"""The bill of materials of Astra (CycloneDX 1.6), made from the lock files.

It lists what an installation has besides Astra itself: the locked Python packages and the npm
packages that are built into the dashboard, each with the hashes of the files that the lock allows.
The same lock files give the same bytes. The wheel carries it in `.dist-info/sboms` (PEP 770):

    python scripts/sbom.py [FILE]
"""

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


class Component(NamedTuple):
    """A package at one version, with the digests of the files that may be installed for it."""

    ecosystem: str
    name: str
    version: str
    hashes: tuple[tuple[str, str], ...]

    @property
    def purl(self) -> str:
        kind = {"PyPI": "pypi", "npm": "npm"}[self.ecosystem]
        return f"pkg:{kind}/{quote(self.name, safe='/')}@{quote(self.version)}"


def list_components(root: Path = ROOT) -> list[Component]:
    """List the packages of an installation, those for Python first."""
    return [
        *read_requirements((root / "requirements" / "runtime.txt").read_text()),
        *read_package_lock(json.loads((root / "web" / "package-lock.json").read_text())),
    ]


def read_requirements(text: str) -> Iterator[Component]:
    """Read a hashed requirements file; a block ends where the next package begins."""
    matches = list(_REQUIREMENT.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=True):
        digests = _HASH.findall(text, match.end(), end)
        yield Component(
            "PyPI", match[1].lower(), match[2], tuple(("SHA-256", digest) for digest in digests)
        )


def read_package_lock(lock: dict[str, Any]) -> Iterator[Component]:
    """Read what npm installs for the dashboard itself, without tools for building it."""
    for path, package in sorted(lock["packages"].items()):
        if path and not package.get("dev"):
            name = path.rpartition("node_modules/")[2]
            algorithm, _, encoded = package["integrity"].partition("-")
            digest = base64.b64decode(encoded).hex()
            hashes = ((algorithm.upper().replace("SHA", "SHA-"), digest),)
            yield Component("npm", name, package["version"], hashes)


def describe(components: list[Component], version: str) -> dict[str, Any]:
    """Give the document; without a time or a random number, so that builds can be compared."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"pkg:pypi/astra@{version}",
                "name": "astra",
                "version": version,
                "purl": f"pkg:pypi/astra@{version}",
            }
        },
        "components": [_describe(component) for component in components],
    }


def _describe(component: Component) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": component.purl,
        "name": component.name,
        "version": component.version,
        "purl": component.purl,
        "hashes": [
            {"alg": algorithm, "content": digest}
            for algorithm, digest in dict.fromkeys(component.hashes)
        ],
    }


def read_version(root: Path = ROOT) -> str:
    match = _VERSION.search((root / "src" / "astra" / "__init__.py").read_text())
    if match is None:
        raise SystemExit("src/astra/__init__.py names no version")
    return match[1]


def write(target: Path, root: Path = ROOT) -> None:
    document = describe(list_components(root), read_version(root))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "astra.cdx.json")
