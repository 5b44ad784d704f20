"""A copy that is one state, made while the daemon goes on; and what a plain copy does instead."""

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from astra.adapters.backups.making import make_backup
from astra.adapters.backups.placing import place_backup
from astra.adapters.conversation_texts import ConversationTexts
from astra.bootstrap.build import build_runtime
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import BadInput, LedgerDamaged
from astra.trusted.policy import restoring
from astra.trusted.settings import environment
from driver import copy
from record_world import RecordWorld


def listed(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.parametrize("name", ["backup", "backup.tar.gz", "backup.tar"])
def test_a_backup_made_while_records_are_appended_is_one_state_and_starts(
    world: RecordWorld, name: str
) -> None:
    to, new = world.astra.folder / name, DataRoot(world.astra.folder / "new")
    with world.opened() as runtime:
        world.note(runtime, 5)
        leaving = threading.Event()

        def append() -> None:
            while not leaving.is_set():
                world.note(runtime)

        writing = threading.Thread(target=append)
        writing.start()
        made = make_backup(world.root, to, SystemClock())
        leaving.set()
        writing.join()
        end = runtime.ledger.head().sequence
    assert 7 <= made.manifest.sequence <= end
    placed = place_backup(to, new)
    assert placed.manifest == made.manifest
    with world.opened(new.path) as runtime:
        assert [hold.reason for hold in runtime.ledger.holds] == [restoring.FROM_BACKUP]
        assert runtime.ledger.head().sequence == made.manifest.sequence
        world.restore(runtime)


def test_a_backup_keeps_what_cannot_be_made_again_and_nothing_of_the_operators(
    world: RecordWorld,
) -> None:
    root = world.astra.root
    (root / "persona_space" / "note.md").write_text("hello")
    ConversationTexts(root / "var" / "conversations").keep("chat_0011223344556677", b"{}")
    (root / "persona_space" / "link").symlink_to("note.md")
    (root / "persona_space" / "away").symlink_to("/etc")
    (root / "persona_space" / "run.sh").write_text("#!/bin/sh\n")
    (root / "persona_space" / "run.sh").chmod(0o755)
    os.mkfifo(root / "sandbox" / "pipe")
    (root / ".env").write_text("MODEL=secret\n")
    backup, new = world.astra.folder / "backup", DataRoot(world.astra.folder / "new")
    make_backup(world.root, backup, SystemClock())
    assert backup.stat().st_mode & 0o077 == 0
    place_backup(backup, new)
    kept = listed(new.path)
    assert {"astra.toml", ".env", "persona_space/note.md", "code-repo/agent.py"} <= kept
    assert [path for path in kept if path.startswith("var/conversations/chat_0011223344556677/")]
    assert {"var/keys/ledger.key", "var/git/HEAD", "var/restored.json"} <= kept
    assert not any(path.startswith("var/index/") for path in kept)
    assert "sandbox/pipe" not in kept
    assert not any("operator" in path for path in kept)
    assert str((new.path / "persona_space" / "away").readlink()) == "/etc"
    assert (new.path / "persona_space" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (new.var / "keys" / "ledger.key").stat().st_mode & 0o777 == 0o600
    refs = [
        subprocess.run(
            ["git", "--git-dir", str(git), "for-each-ref"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for git in (world.root.git, new.git)
    ]
    assert refs[0] == refs[1] != ""


def test_a_backup_is_never_written_over_something_or_into_the_data_root(world: RecordWorld) -> None:
    (world.astra.folder / "there").write_text("mine")
    with pytest.raises(BadInput, match="is there already"):
        make_backup(world.root, world.astra.folder / "there", SystemClock())
    with pytest.raises(BadInput, match="lost with it"):
        make_backup(world.root, world.astra.root / "sandbox" / "backup", SystemClock())
    assert (world.astra.folder / "there").read_text() == "mine"
    assert not list(world.astra.folder.glob(".*.partial"))


def test_a_live_copy_whose_parts_are_of_different_moments_says_what_to_do_instead(
    world: RecordWorld,
) -> None:
    """The chain is copied first, as `cp` does by name; checkpoints and index a moment later."""
    other = world.astra.folder / "copy"
    other.mkdir()
    with world.opened() as runtime:
        chain = world.chain.read_bytes()
        world.note(runtime, 3)
        runtime.ledger.write_checkpoint()
        copy(world.astra.root, other)
    (other / "data" / "var" / "ledger" / world.chain.name).write_bytes(chain)
    environ = {**world.astra.environment, "AGENT_DATA_ROOT": str(other / "data")}
    with pytest.raises(LedgerDamaged) as refused:
        build_runtime(environment.load(environ))
    assert refused.value.reason == "ledger_cut"
    assert "astra backup" in refused.value.next_step
    assert "astra down" in refused.value.next_step


def test_the_commands_back_up_and_restore_with_a_daemon_running(witnessed: RecordWorld) -> None:
    astra, new = witnessed.astra, witnessed.astra.folder / "new"
    astra.json("status")
    made = astra.json("backup", astra.folder / "backup.tar.gz")
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    astra.json("down")
    copied = {"AGENT_DATA_ROOT": str(new)}
    back = astra.json("restore", astra.folder / "backup.tar.gz", **copied)
    try:
        assert back["content"]["reasons"] == ["behind_witness", "restored_backup"]
        assert back["manifest"] == made["manifest"]
        status = astra.json("status", **copied)
        assert status["stopped"]
        assert status["held"] == []
        assert not status["flags"]["ASTRA_CODE_WRITE_ENABLED"]["on"]
        assert astra.json("start", **copied)["started"]
        assert astra.json("restore", code=1, **copied)["code"] == "not_held"
    finally:
        astra.json("down", **copied)
    assert astra.json("ledger", "verify", **copied)["ok"]
    types = [
        json.loads(line)["type"]
        for line in (new / "var" / "ledger" / witnessed.chain.name).read_text().splitlines()
    ]
    assert types[made["records"] :] == ["ledger_restored", "work_stopped", "work_started"]
