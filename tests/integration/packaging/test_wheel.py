import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.serial
@pytest.mark.timeout(300)
def test_the_wheel_carries_the_built_dashboard(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    pages = {name.partition("astra/interfaces/web/dist/")[2] for name in names}
    assert {"index.html", "sw.js", "manifest.webmanifest", "icon-192.png"} <= pages
    assert any(name.startswith("assets/index-") and name.endswith(".js") for name in pages)
    assert not any("node_modules" in name for name in names)
