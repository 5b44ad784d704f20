"""Puts the built pages, the demo's example and the bill of materials into the wheel."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_EXAMPLE = "examples/agent_server"


class WheelContents(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages; an editable install has its own copies, made by `make web`."""
        if version == "editable" or self.target_name != "wheel":
            return
        sys.path.insert(0, str(Path(self.root) / "scripts"))
        import docs_site
        import sbom
        import web

        web.build()
        docs_site.build()
        materials = Path(self.directory) / "astra.cdx.json"
        sbom.write(materials)
        build_data["sbom_files"].append(str(materials))
        build_data["force_include"].update(_example_files(Path(self.root)))


def _example_files(root: Path) -> dict[str, str]:
    files = [path.relative_to(root) for path in (root / _EXAMPLE).rglob("*") if path.is_file()]
    return {str(root / path): f"astra/{path}" for path in files if not _is_left_over(path)}


def _is_left_over(path: Path) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in path.parts)
