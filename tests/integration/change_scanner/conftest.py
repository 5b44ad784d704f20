"""A scanner with a real sandbox and a ledger in memory."""

from pathlib import Path

import pytest

from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.change_scanner import ChangeScanner
from astra.testing import MemoryLedger
from astra.trusted.files.data_root import DataRoot


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    root = DataRoot(tmp_path / "data")
    root.path.mkdir()
    root.make_folders()
    return Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=()))


@pytest.fixture
def scanner(sandbox: Sandbox) -> ChangeScanner:
    return ChangeScanner(boxes=sandbox)
