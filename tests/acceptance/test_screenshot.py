"""A dry run has a picture of the app in its evidence, or says why there is none."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.boxes.app_screenshot import BROWSERS
from deploying import EXAMPLE, PYTHON
from driver import Astra

APP = f"""
[app]
command = "{PYTHON} -m agent_server"
client_build = "{PYTHON} build_client.py"
health_path = "/healthz"
"""


@pytest.fixture
def site(empty: Astra) -> Astra:
    target = empty.folder / "target"
    shutil.copytree(EXAMPLE, target)
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    for words in (["init", "-qb", "trunk"], ["add", "-A"], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=target, check=True)
    empty.json("init", target, "--throwaway")
    return empty


def rehearse(site: Astra, app: str) -> Any:
    test = f'test_command = "{PYTHON} run_tests.py {{junit}}"'
    (site.root / "astra.toml").write_text(f'[target]\nbranch = "trunk"\n{test}\n{app}')
    site.json("config", "sign")
    return site.json("changes", "dry-run")


@pytest.mark.skipif(
    not any(map(shutil.which, BROWSERS)), reason="needs Chromium, which `make setup` installs"
)
def test_the_evidence_of_a_dry_run_has_a_picture_of_the_app(site: Astra) -> None:
    done = rehearse(site, APP)
    assert done["screenshot"] == "app.png"
    picture = (site.root / Path(done["folder"]) / "app.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20]) == 1280
    assert len(picture) > 5_000, "the page is not empty"
    assert not list((site.root / "deployments").glob("check-*")), "nothing is left of the release"


def test_an_app_without_a_health_page_is_said_to_have_no_picture(site: Astra) -> None:
    worker = 'command = "sleep 600"\nhealth_command = "true"'
    done = rehearse(site, f"[app]\n{worker}\n")
    assert done["screenshot"].startswith("not taken: ")
