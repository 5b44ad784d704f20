"""A person makes a data root for their agent's repository."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from driver import PASSPHRASE, Astra, make_repository

FOLDERS = [
    "agents",
    "code-repo",
    "conversations",
    "deployments",
    "generated_images",
    "logs",
    "models",
    "persona_space",
    "sandbox",
    "var",
]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_init_makes_folders_keys_repositories_and_the_first_records(
    empty: Astra, target: Path
) -> None:
    made = empty.json("init", target, "--throwaway")
    assert made["created"] is True
    assert made["code_repo"] == str(empty.root / "code-repo")
    assert sorted(path.name for path in empty.root.iterdir() if path.is_dir()) == FOLDERS
    key = Path(made["operator_key"])
    assert not key.is_relative_to(empty.root)
    assert mode(key) == 0o600
    assert mode(empty.root / "var") == 0o700
    assert mode(empty.root / "var" / "keys" / "ledger.key") == 0o600
    assert (empty.root / "code-repo" / "agent.py").exists()
    types = [record["type"] for record in empty.json("ledger", "tail")["items"]]
    assert types == ["data_root_created", "config_signed"]
    assert empty.json("status")["configuration"] == "signed"


def test_the_secrets_are_nowhere_in_the_data_root_nor_in_the_key_file(
    empty: Astra, target: Path
) -> None:
    made = empty.json("init", target, "--throwaway")
    recovery = made["recovery_key"]
    for secret in (PASSPHRASE, recovery, recovery.replace("-", "")):
        found = subprocess.run(
            ["grep", "-rqaF", "--", secret, empty.root, Path(made["operator_key"]).parent],
            check=False,
        )
        assert found.returncode == 1


def test_running_it_again_changes_nothing_and_says_so(empty: Astra, target: Path) -> None:
    astra = empty
    astra.json("init", target, "--throwaway")
    astra.run("down")
    before = {p: p.read_bytes() for p in astra.root.rglob("*") if p.is_file()}
    again = astra.json("init", target, "--throwaway")
    assert again["created"] is False
    assert "recovery_key" not in again
    assert {p: p.read_bytes() for p in astra.root.rglob("*") if p.is_file()} == before
    assert "nothing to do" in astra.run("init", target, "--throwaway").stdout


def test_a_data_root_keeps_its_target(astra: Astra, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "other")
    assert astra.json("init", other, "--throwaway", code=1)["code"] == "other_target"


def test_a_target_without_a_commit_is_refused_with_the_next_step(
    empty: Astra, tmp_path: Path
) -> None:
    (tmp_path / "nothing").mkdir()
    for target in (tmp_path / "nothing", tmp_path / "missing"):
        refused = empty.json("init", target, "--throwaway", code=2)
        assert refused["code"] == "no_target"
        assert refused["next_step"]
    assert not empty.root.exists()


def test_without_a_terminal_a_real_root_is_refused_and_nothing_is_made(
    empty: Astra, target: Path
) -> None:
    refused = empty.json("init", target, code=1)
    assert refused["code"] == "no_terminal"
    assert not empty.root.exists()


def test_a_hostile_targets_hooks_filters_and_configuration_never_run(
    empty: Astra, target: Path
) -> None:
    trap = target.parent / "sprung"
    hook = target / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    settings = f"""
    [core]
        fsmonitor = touch {trap}
        sshCommand = touch {trap}
        hooksPath = {hook.parent}
    [filter "evil"]
        smudge = touch {trap}
        clean = touch {trap}
        process = touch {trap}
    [uploadpack]
        packObjectsHook = touch {trap}
    """
    with (target / ".git" / "config").open("a") as file:
        file.write(settings)
    (target / ".gitattributes").write_text("* filter=evil\n")
    (target / "template" / "hooks").mkdir(parents=True)
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    quiet = ["-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null"]
    plain = ["-c", "filter.evil.clean=cat", "-c", "filter.evil.process="]
    for words in (["add", "."], [*identity, "commit", "-qm", "trap"]):
        subprocess.run(["git", *quiet, *plain, *words], cwd=target, check=True)
    trap.unlink(missing_ok=True)
    empty.json("init", target, "--throwaway")
    assert not trap.exists()


def test_a_throwaway_root_without_a_passphrase_gets_one_and_shows_it_once(
    empty: Astra, target: Path
) -> None:
    made = empty.json("init", target, "--throwaway", ASTRA_OPERATOR_PASSPHRASE="")
    assert made["passphrase"]
    flag = ["flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on"]
    assert empty.json(*flag, ASTRA_OPERATOR_PASSPHRASE=made["passphrase"])["on"] is True


def test_a_data_root_without_a_target_is_possible(empty: Astra) -> None:
    made = empty.json("init", "--throwaway")
    assert (Path(made["code_repo"]) / ".git").is_dir()
    assert empty.json("status")["code_access"] == "read"


@pytest.mark.parametrize("name", ["AGENT_CODE_REPO_PATH", "AGENT_SANDBOX_PATH"])
def test_the_environment_cannot_point_the_agent_at_another_folder(
    astra: Astra, tmp_path: Path, name: str
) -> None:
    astra.run("down")
    refused = astra.json("status", code=2, **{name: str(tmp_path)})
    assert (refused["code"], refused["key"]) == ("bad_setting", name)


def test_json_output_is_one_document_and_nothing_else(astra: Astra) -> None:
    for words in (["status"], ["flags"], ["doctor"], ["ledger", "verify"], ["config", "show"]):
        json.loads(astra.run(*words, "--json").stdout)
