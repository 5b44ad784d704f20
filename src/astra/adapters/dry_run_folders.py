"""Folders of dry runs: throwaway ones below `var`, and what is kept of them beside deployments."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.private_files import write_private


@dataclass(frozen=True)
class DryRunFolders:
    root: DataRoot

    @property
    def folder(self) -> Path:
        return self.root.var / "dry-runs"

    def make(self, identifier: str) -> DataRoot:
        """Make the folders of a data root that is made to be thrown away."""
        inner = DataRoot(self.folder / identifier)
        inner.path.parent.mkdir(mode=0o700, exist_ok=True)
        inner.make_folders()
        return inner

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def keep(self, identifier: str, files: Mapping[str, bytes]) -> str:
        place = self.root.path / "deployments" / "dry-runs" / identifier
        place.mkdir(parents=True)
        for name, content in files.items():
            write_private(place / name, content)
        return str(place.relative_to(self.root.path))
