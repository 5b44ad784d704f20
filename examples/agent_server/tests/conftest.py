from pathlib import Path

import pytest
from running import Running


@pytest.fixture
def running(tmp_path: Path) -> Running:
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").write_text("<h1>page</h1>")
    return Running(tmp_path / "state", tmp_path / "static")
