"""What packages put into an environment shows nothing of the host and reaches nothing else."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.environment_orders import EnvironmentFailed, Purpose
from astra.adapters.environments import Environments
from astra.adapters.workspaces import Workspaces
from astra.testing import MemoryLedger
from astra.trusted.files.data_root import DataRoot
from astra.trusted.sandbox.ports import BoxRequest
from astra.trusted.settings.configuration import Target

PURPOSE = Purpose(actor="agent", correlation="cor_0123456789abcdef")


class Yard:
    def __init__(self, root: DataRoot, commit: str) -> None:
        self.root, self.commit = root, commit
        self.workspaces = Workspaces(root.git, root.var / "workspaces")
        self.sandbox = Sandbox(root, MemoryLedger(), check=lambda: Preflight(problems=()))
        self.environments = Environments(
            boxes=self.sandbox,
            workspaces=self.workspaces,
            repository=root.git,
            folder=root.path / "environments",
        )

    def build(self, script: str, **more: object) -> Path:
        target = Target(
            environment="command",
            environment_command=f"sh -e -c '{script}'",
            **more,  # pyright: ignore[reportArgumentType]
        )
        return self.environments.provide(self.commit, target, PURPOSE).folder


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    root, work = DataRoot(tmp_path / "data"), tmp_path / "work"
    root.path.mkdir()
    root.make_folders()
    for words in (["init", "-q", str(work)], ["init", "-q", "--bare", str(root.git)]):
        subprocess.run(["git", *words], check=True)
    (work / "requirements.txt").write_text("one\n")
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["add", "."], ["commit", "-qm", "x"], ["push", "-q", str(root.git), "HEAD:x"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    place = Yard(root, commit.stdout.strip())
    yield place
    place.workspaces.close()


def test_a_planted_interpreter_link_shows_nothing_of_the_host(yard: Yard, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the operator's key")
    secret.chmod(0o755)
    script = f"mkdir $ENVIRONMENT_FOLDER/bin; ln -s {secret} $ENVIRONMENT_FOLDER/bin/python"
    folder = yard.build(script)
    target = Target(environment="command", environment_command=f"sh -e -c '{script}'")
    tools = yard.environments.find(yard.commit, target).toolchain
    assert not any(str(tmp_path / "secret").startswith(path) for path in tools.read_paths)
    outcome = yard.sandbox.run(
        BoxRequest(
            command=("cat", str(folder / "bin" / "python")),
            actor="agent",
            correlation=PURPOSE.correlation,
            environment=tools,
        )
    )
    assert not outcome.succeeded
    assert b"operator" not in outcome.stdout


def test_a_planted_fifo_or_socket_is_refused(yard: Yard) -> None:
    with pytest.raises(Exception, match="no plain file"):
        yard.build("mkfifo $ENVIRONMENT_FOLDER/pipe")
    assert list((yard.root.path / "environments").iterdir()) == []


def test_a_build_reaches_no_host_that_is_not_a_signed_registry(yard: Yard) -> None:
    fetch = 'from urllib.request import urlopen as u; u("http://elsewhere.example/x", timeout=20)'
    with pytest.raises(EnvironmentFailed) as refused:
        yard.build(
            f'/usr/bin/env python3 -c "{fetch.replace(chr(34), chr(92) + chr(34))}"',
            registries=("https://packages.example/simple",),
        )
    assert "elsewhere.example" in refused.value.next_step


def test_a_build_writes_nothing_but_its_own_folder(yard: Yard) -> None:
    folder = yard.build("touch $ENVIRONMENT_FOLDER/../other requirements.txt || true")
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, f"{folder.name}.json"}
