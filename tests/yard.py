"""A yard: a data root, a readable and a writable folder, and a way to run a box between them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox import machine, staging
from astra.trusted.sandbox.launch import Box, run
from astra.trusted.sandbox.ports import Outcome


@dataclass(frozen=True, kw_only=True)
class Yard:
    data_root: Path
    work: Path
    library: Path
    launch: Callable[..., Outcome] = run

    @property
    def manifest(self) -> Manifest:
        return Manifest(read_paths=(str(self.library),), write_paths=(str(self.work),))

    def run(
        self,
        *command: str,
        manifest: Manifest | None = None,
        limits: Limits | None = None,
        box: dict[str, Any] | None = None,
        **options: Any,
    ) -> Outcome:
        staging.hand_over(self.work, machine.choose_identity())
        manifest = manifest or self.manifest
        manifest = replace(manifest, limits=limits or manifest.limits)
        return self.launch(
            Box(command=command, manifest=manifest, **(box or {})),
            data_root=self.data_root,
            **options,
        )

    def sh(self, script: str, **options: Any) -> Outcome:
        return self.run("sh", "-c", script, **options)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    made = Yard(data_root=tmp_path / "data", work=tmp_path / "work", library=tmp_path / "library")
    for folder in (made.data_root / "var", made.work, made.library):
        folder.mkdir(parents=True)
    (made.library / "page.txt").write_text("page")
    return made
