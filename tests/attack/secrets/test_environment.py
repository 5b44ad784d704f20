"""What is protected is not up to the environment of whoever starts the daemon."""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.bootstrap.views import grant_places
from astra.trusted.files import operators_key
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.grants import GrantKind, compile_grants
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox.ports import BoxRequest
from astra.trusted.settings import environment
from driver import Astra

pytestmark = pytest.mark.xdist_group("sandbox")
HOME = pwd.getpwuid(os.geteuid()).pw_dir
STORY = "cor_0000000000000001"


@pytest.fixture
def elsewhere(made: Astra, tmp_path: Path) -> Iterator[Runtime]:
    """Start Astra as somebody who points HOME and XDG_CONFIG_HOME to nowhere that matters."""
    before = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME")}
    os.environ |= {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    runtime = build_runtime(environment.load(made.environment))
    yield runtime
    runtime.close()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def places(made: Astra) -> list[str]:
    return [f"{made.folder}/config/astra", f"{HOME}/.bashrc", f"{HOME}/.config/astra"]


def test_no_grant_reaches_the_key_or_the_real_home(elsewhere: Runtime, made: Astra) -> None:
    closed = grant_places(elsewhere.root)
    for place in places(made):
        with pytest.raises(AstraError):
            compile_grants(GrantKind.READ_PATHS, (place,), places=closed)


def test_no_box_gets_the_folder_of_the_key_or_the_real_home(
    elsewhere: Runtime, made: Astra
) -> None:
    for place in (f"{made.folder}/config", f"{made.folder}/config/astra", HOME, f"{HOME}/.ssh"):
        done = elsewhere.sandbox.run(
            BoxRequest(
                command=("ls", "-A", place),
                manifest=Manifest(read_paths=(place,)),
                workdir="/tmp",
                actor="agent:test",
                correlation=STORY,
            )
        )
        assert done.verdict == "never_ran", place


def test_the_first_record_says_where_the_key_was_put(elsewhere: Runtime, made: Astra) -> None:
    created = elsewhere.root.require_first_record().data
    assert created["operator_key_folder"] == f"{made.folder}/config/astra"
    assert f"{made.folder}/config/astra" in operators_key.key_folders(elsewhere.root)
