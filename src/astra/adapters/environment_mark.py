"""Seals the environment of a release together with its code: one small file inside the release.

The file says which environment the release was proven with, and is covered by the release's digest.
Going back to a release goes back to its environment. Whoever starts something in a release folder
reads it here and nowhere else.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from astra.adapters.environments import Environment
from astra.trusted.sandbox.toolchain import NO_TOOLCHAIN, Toolchain

NAME = ".astra-environment"


@dataclass(frozen=True, kw_only=True)
class Mark:
    name: str = ""
    digest: str = ""
    folder: str = ""
    toolchain: Toolchain = NO_TOOLCHAIN

    def find_program(self, name: str) -> Path | None:
        """Find a program of the environment by its name; links in it are not followed."""
        if "/" in name:
            return None
        places = (Path(place) / name for place in self.toolchain.search)
        return next((place for place in places if os.path.lexists(place)), None)


def write_mark(folder: Path, environment: Environment) -> None:
    """Write the mark anew; whatever a build left in its place goes."""
    path = folder / NAME
    path.unlink(missing_ok=True)
    tools = environment.toolchain
    if tools == NO_TOOLCHAIN:
        return
    document = {
        "name": environment.name,
        "digest": environment.digest,
        "folder": str(environment.folder),
        "read_paths": tools.read_paths,
        "links": tools.links,
        "search": tools.search,
        "environment": dict(tools.environment),
        "has_project": environment.has_project,
    }
    path.write_text(json.dumps(document, indent=1))


def link_modules(folder: Path, environment: Environment) -> None:
    """Put node's modules beside the code, where `import` looks for them."""
    place = folder / "node_modules"
    if environment.node_modules is not None and not os.path.lexists(place):
        place.symlink_to(environment.node_modules)


def read_mark(folder: Path) -> Mark:
    """Read what a release was sealed with; one without a mark has no environment."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return Mark()
    with os.fdopen(descriptor, "rb") as file:
        document: dict[str, Any] = json.load(file)
    has_project = "has_project" in document and document["has_project"]
    variables = _find_project(folder) if has_project else {}
    return Mark(
        name=str(document["name"]),
        digest=str(document["digest"]),
        folder=str(document["folder"]),
        toolchain=Toolchain(
            read_paths=tuple(document["read_paths"]),
            links=tuple((str(path), str(target)) for path, target in document["links"]),
            search=tuple(document["search"]),
            environment=MappingProxyType({**document["environment"], **variables}),
        ),
    )


def _find_project(folder: Path) -> dict[str, str]:
    """Have programs of the project import it from the release, where its pointer leads nowhere."""
    places = [str(place) for place in (folder / "src", folder) if place.is_dir()]
    return {"PYTHONPATH": ":".join(places)}
