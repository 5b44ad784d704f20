"""People commit to the repository that Astra was made from; their commits, and the clone."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deploying import until
from driver import Astra, make_repository

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "safe.directory=*")

TESTS = "test_command = \"/usr/bin/python3 -c 'import agent'\""


@dataclass
class Team:
    astra: Astra

    @property
    def clone(self) -> Path:
        return self.astra.root / "code-repo"

    def git(self, where: Path, *words: str) -> str:
        command = ["git", *IDENTITY, "-C", str(where), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, **files: str) -> str:
        """Commit as a person does, to the repository that the data root was made from."""
        target = self.astra.folder / "target"
        for name, text in files.items():
            (target / name.replace("_dot_", ".")).write_text(text)
        self.git(target, "add", "-A", "-f")
        self.git(target, "commit", "-qm", "by a person")
        return self.git(target, "rev-parse", "HEAD")

    def sync(self) -> str:
        """Bring what people committed in, and wait until the clone has it; says how it went."""
        synced = self.astra.json("sync", "--yes")
        assert synced["state"] == "merged"
        return until(lambda: self.find_outcome(synced["commit"]))

    def find_outcome(self, commit: str) -> str:
        records = self.astra.json("ledger", "tail", "--count", "50")["items"]
        outcomes: list[dict[str, Any]] = [
            record["data"] for record in records if record["type"] == "clone_followed"
        ]
        return next((data["how"] for data in outcomes if data["commit"] == commit), "")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    astra = Astra(tmp_path)
    astra.json("init", make_repository(tmp_path / "target"), "--throwaway")
    configuration = astra.root / "astra.toml"
    text = configuration.read_text().replace("[target]", f"[target]\n{TESTS}")
    configuration.write_text(text)
    astra.json("config", "sign")
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    yield Team(astra)
    astra.end()


def test_the_agents_clone_follows_a_sync_and_keeps_local_work(team: Team) -> None:
    (team.clone / "notes.txt").write_text("the agent's own\n")
    (team.clone / "agent.py").write_text("answer = 'being edited'\n")
    team.git(team.clone, "branch", "idea")
    first = team.commit(readme="by Ada\n")
    assert team.sync() == "forwarded"
    assert team.git(team.clone, "rev-parse", "HEAD", "trunk") == f"{first}\n{first}"
    assert (team.clone / "readme").read_text() == "by Ada\n"
    assert (team.clone / "agent.py").read_text() == "answer = 'being edited'\n"

    second = team.commit(agent_dot_py="answer = 'by Ada'\n")
    assert team.sync() == "kept", "what the agent edits is not written over"
    assert (team.clone / "agent.py").read_text() == "answer = 'being edited'\n"
    assert team.git(team.clone, "rev-parse", "refs/remotes/trusted/trunk") == second
    assert team.git(team.clone, "rev-parse", "trunk") == first

    team.git(team.clone, "commit", "-qam", "the agent's commit")
    third = team.commit(readme="by Ada again\n")
    assert team.sync() == "diverged"
    assert team.git(team.clone, "log", "-1", "--format=%s", "trunk") == "the agent's commit"

    team.git(team.clone, "checkout", "-q", "idea")
    team.git(team.clone, "branch", "-qf", "trunk", third)
    fourth = team.commit(readme="once more\n")
    assert team.sync() == "forwarded", "a branch that is not checked out moves too"
    assert team.git(team.clone, "rev-parse", "trunk") == fourth
    assert (team.clone / "notes.txt").exists()


def test_a_secret_that_people_commit_does_not_reach_the_clone(team: Team) -> None:
    commit = team.commit(_dot_env="TOKEN=canary-41f0\n", readme="by Ada\n")
    assert team.sync() == "forwarded"
    assert (team.clone / "readme").exists()
    assert not (team.clone / ".env").exists()
    command = ["git", *IDENTITY, "-C", str(team.clone), "cat-file", "-e", f"{commit}:.env"]
    assert subprocess.run(command, check=False, capture_output=True).returncode != 0
    assert team.git(team.clone, "status", "--porcelain") == ""


def test_the_clone_follows_a_change_that_was_merged(team: Team) -> None:
    edited = team.astra.folder / "edited.py"
    edited.write_text("answer = 43\n")
    made = team.astra.json(
        "changes", "propose", "--edit", f"agent.py={edited}", "--reason", "one more is better"
    )
    assert team.astra.json("changes", "approve", made["id"])["state"] == "executed"
    assert until(lambda: team.find_outcome(made["commit"])) == "forwarded"
    assert (team.clone / "agent.py").read_text() == "answer = 43\n"
