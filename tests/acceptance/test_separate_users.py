"""The page about an OS user for the agent, walked line by line as the users it makes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WALK = Path(__file__).parents[1] / "two_users.py"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make users")
@pytest.mark.skipif(
    shutil.which("sudo") is None, reason="needs sudo: scripts/system-packages installs it"
)
def test_every_line_of_the_page_works_and_the_agent_gets_no_further(tmp_path: Path) -> None:
    own = ["unshare", "--mount", "--propagation", "private"]
    done = subprocess.run(
        [*own, sys.executable, WALK, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.stdout == "walked to the end\n", done.stdout + done.stderr
