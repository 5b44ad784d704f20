"""An agent over MCP has its own change deployed: the whole way, and everything that bars it."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from changing import IDENTITY, git
from deploying import PYTHON, SERVER, fetch, until
from driver import Astra, make_repository
from mcp_driver import RawClient, raw

AGENT = "def answer() -> int:\n    return 42\n"
TESTS = "from agent import answer\n\n\ndef test_answer():\n    assert answer() > 40\n"
APP = (
    SERVER
    + """
import agent

class Told(Answer):
    def body(self):
        told = {"release": os.environ["ASTRA_RELEASE"], "answer": agent.answer()}
        return json.dumps(told).encode()

Server(Told).serve_forever()
"""
)
CONFIGURATION = f"""
[target]
branch = "trunk"
test_command = "{sys.executable} -m pytest -q --disable-plugin-autoload -p no:cacheprovider"
mutation_seconds = 0

[app]
command = "{PYTHON} app.py"
watch_seconds = 1

[app.permissions]
network = "host"
"""
DIES = """import itertools, os

CALLS = itertools.count()


def answer() -> int:
    if "ASTRA_RELEASE" in os.environ and next(CALLS):
        os._exit(9)
    return 42
"""
"""Its first answer makes it healthy and live; at the second one it is gone."""


@dataclass
class Site:
    """A data root with an app and tests, an agent at its MCP door, and the operator beside it."""

    astra: Astra
    agent: RawClient

    def propose(self, *, wait: bool = True, **files: str) -> Any:
        """Have the agent propose whole files; with `wait`, until a person can decide."""
        edits = [
            {"path": name.replace("__", "/") + ".py", "content": text}
            for name, text in files.items()
        ]
        made = self.call("schedule_code_modification", reason="better", edits=edits)
        if wait:
            until(lambda: self.change(made["id"])["state"] == "awaiting_approval")
        return made

    def change(self, identifier: str) -> Any:
        return self.astra.json("changes", "show", identifier)

    def merge(self, **files: str) -> str:
        made = self.propose(**files)
        assert self.astra.json("changes", "approve", made["id"])["state"] == "executed"
        return made["commit"]

    def ask(self, **arguments: Any) -> Any:
        """Have the agent ask for a deployment, which takes the operator's one-time approval."""
        waiting = self.call("deploy_agent_code", **arguments)
        assert waiting["code"] == "needs_approval"
        self.astra.json("approve", waiting["approval_id"])
        return self.call("deploy_agent_code", **arguments)

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.agent.call(tool, **arguments)["structuredContent"]

    def served(self) -> Any:
        return fetch(self.astra.json("status")["app"]["port"])

    def commit_served(self) -> str:
        return self.astra.json("status")["app"]["commit"]


def configure(astra: Astra, text: str) -> None:
    (astra.root / "astra.toml").write_text(text)
    astra.json("config", "sign")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """An app with tests, and a data root that knows how to run both."""
    made = Astra(tmp_path_factory.mktemp("site"))
    target = make_repository(made.folder / "target")
    (target / "agent.py").write_text(AGENT)
    (target / "app.py").write_text(APP)
    (target / "conftest.py").write_text("")
    (target / "tests").mkdir()
    (target / "tests/test_agent.py").write_text(TESTS)
    git(target, "add", "-A")
    git(target, *IDENTITY, "commit", "-qm", "an app with tests")
    made.json("init", target, "--throwaway")
    configure(made, CONFIGURATION)
    made.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    made.run("down")
    return made


@pytest.fixture
def site(empty: Astra, prepared: Astra) -> Iterator[Site]:
    with raw(prepared.copied_to(empty)) as agent:
        agent.introduce()
        yield Site(empty, agent)


def test_from_a_proposal_to_a_live_release(site: Site) -> None:
    commit = site.merge(agent=AGENT.replace("42", "43"))
    done = site.ask(commit_message="the next answer")
    assert done == {
        "success": True,
        "commit_hash": commit,
        "tests_passed": True,
        "human_approval_required": False,
        "deployed": True,
        "backup_location": None,
    }
    assert site.served()["answer"] == 43
    assert site.astra.json("ledger", "verify")["ok"]


def test_what_failed_its_tests_is_not_deployed(site: Site) -> None:
    made = site.propose(wait=False, agent=AGENT.replace("42", "0"))
    until(lambda: site.change(made["id"])["state"] == "tests_failed")
    merged = site.astra.json("changes", "approve", made["id"], "--despite-tests")
    assert merged["state"] == "executed"
    broken = made["commit"]
    refused = site.ask()
    assert (refused["success"], refused["deployed"]) == (False, False)
    assert (refused["code"], refused["tests_passed"]) == ("tests_missing", False)
    assert refused["commit_hash"] == broken
    assert "did not pass" in refused["reason"]
    assert site.astra.json("releases")["items"] == []


def test_what_was_taken_back_is_not_deployed_again(site: Site) -> None:
    assert site.astra.json("deploy")["deployed"]
    # Long enough for the second crash on a busy machine; trouble ends the watch at once.
    configure(site.astra, CONFIGURATION.replace("watch_seconds = 1", "watch_seconds = 300"))
    deadly = site.merge(agent=DIES)
    deployed = site.ask()
    assert deployed.get("commit_hash") == deadly, deployed
    until(lambda: "commit_quarantined" in types(site))
    until(lambda: site.astra.json("status")["app"]["deployment"]["state"] == "rolled_back")
    waiting = site.call("deploy_agent_code", commit_message="once more")
    looked = site.astra.run("approve", waiting["approval_id"])
    assert looked.returncode == 0, looked.stderr
    for words in (
        f"deploy “better”, commit {deadly[:12]} commit_message=",
        "live now   ",
        "FAILED     in service before: ",
        "in it      “better”",
        "differs    1 file, +7 -0",
        "+        os._exit(9)",
    ):
        assert words in looked.stderr
    refused = site.call("deploy_agent_code", commit_message="once more")
    assert (refused["code"], refused["deployed"]) == ("quarantined", False)
    assert "mends it" in refused["next_step"]
    assert site.served()["answer"] == 42


def test_an_approval_of_what_moved_since_needs_the_operators_fresh_word(site: Site) -> None:
    commit = site.merge(agent=AGENT.replace("42", "44"))
    configure(site.astra, CONFIGURATION + "\n[deploy]\nkeep = 4\n")
    refused = site.ask()
    assert (refused["code"], refused["human_approval_required"]) == ("stale_approval", True)
    assert "the signed configuration changed" in refused["reason"]
    would_be = site.astra.json("deploy", "--preview")
    assert (would_be["commit"], would_be["live"]) == (commit, None)
    assert site.astra.json("releases")["items"] == [], "looking signs nothing"
    ordered = site.astra.json("deploy")
    assert (ordered["commit_hash"], ordered["deployed"]) == (commit, True)
    assert site.served()["answer"] == 44


def types(site: Site) -> list[str]:
    listed = site.astra.json("ledger", "tail", "--count", "60")["items"]
    return [record["type"] for record in listed]


def test_while_a_change_to_tests_waits_an_agent_deploys_nothing(site: Site) -> None:
    made = site.propose(tests__test_agent=TESTS.replace("> 40", "== 42"))
    flag = site.astra.root / "deployments/human_approval_required.flag"
    assert flag.read_text() == f"{made['id']}\n"
    refused = site.ask()
    assert (refused["code"], refused["change_id"]) == ("human_approval_required", made["id"])
    assert (refused["human_approval_required"], refused["deployed"]) == (True, False)
    configure(
        site.astra,
        CONFIGURATION.replace(
            "[target]", "[target]\nrequire_human_approval_for_test_changes = false"
        ),
    )
    until(lambda: site.change(made["id"])["state"] == "awaiting_approval")
    assert site.ask(commit_message="it does not wait for that")["deployed"]
    site.astra.json("changes", "reject", made["id"], "--reason", "it proves nothing new")
    assert not flag.exists()


def test_only_an_operator_forces_and_an_approval_holds_for_one_commit(site: Site) -> None:
    refused = site.call("deploy_agent_code", force_deploy=True)
    assert refused["code"] == "operator_only"
    assert "astra deploy --force" in refused["next_step"]
    assert site.astra.json("approvals")["items"] == [], "nobody is asked about what cannot be"

    first = site.call("deploy_agent_code")
    site.astra.json("approve", first["approval_id"])
    site.merge(agent=AGENT.replace("42", "45"))
    second = site.call("deploy_agent_code")
    assert second["code"] == "needs_approval", "what was approved is another commit"
    assert second["approval_id"] != first["approval_id"]
    assert "deployment_requested" not in types(site)


def test_loose_edits_in_the_clone_become_a_change_first(site: Site) -> None:
    clone = Path(site.astra.json("init", "--throwaway")["code_repo"])
    (clone / "agent.py").write_text(AGENT.replace("42", "46"))
    (clone / "new.py").write_text("LOOSE = True\n")
    told = site.ask(commit_message="from my work tree")
    assert (told["code"], told["deployed"]) == ("loose_edits", False)
    assert told["human_approval_required"]
    change = site.change(told["change_id"])
    assert change["reason"] == "from my work tree"
    assert [file["path"] for file in change["files"]] == ["agent.py", "new.py"]
    assert site.ask(commit_message="again")["change_id"] == change["id"], "and not another one"

    until(lambda: site.change(change["id"])["state"] == "awaiting_approval")
    site.astra.json("changes", "approve", change["id"], "--deploy")
    until(lambda: site.astra.json("status")["app"])
    until(lambda: site.commit_served() == change["commit"])
    assert site.served()["answer"] == 46
    until(lambda: site.astra.json("status")["app"]["deployment"]["state"] == "settled")
    done = site.ask(commit_message="nothing is loose any more")
    assert done["success"], done["reason"]
