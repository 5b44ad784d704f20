"""Backups that share a folder: each is whole, only what is new is copied, none harms another."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from astra.adapters.backups.checking import check_backup
from astra.adapters.backups.folder import open_folder
from astra.adapters.backups.making import Made, make_backup
from astra.adapters.backups.placing import place_backup
from astra.adapters.backups.secrecy import (
    NOT_ENCRYPTED,
    Secrecy,
    lock_with_passphrase,
    unlock_with_passphrase,
)
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import BadInput
from deploying import until
from driver import COMMAND, Astra
from record_world import RecordWorld
from warm_start import cold

HERE = Path(__file__).parent
PASSPHRASE = "a passphrase for backups"
ENCRYPTED = Secrecy(
    unlock=unlock_with_passphrase(lambda: PASSPHRASE), lock=lock_with_passphrase(lambda: PASSPHRASE)
)


def back_up(world: RecordWorld, secrecy: Secrecy = NOT_ENCRYPTED) -> Made:
    return make_backup(world.root, world.astra.folder / "backups", SystemClock(), secrecy=secrecy)


def check_all(world: RecordWorld, secrecy: Secrecy = NOT_ENCRYPTED) -> list[int]:
    """Check every backup in the folder, and give the records of each."""
    with open_folder(world.astra.folder / "backups", secrecy.unlock) as folder:
        manifests = [folder.read_manifest(backup_id) for backup_id in folder.list_ids()]
        return [check_backup(folder, manifest).records for manifest in manifests]


@pytest.mark.parametrize("secrecy", [NOT_ENCRYPTED, ENCRYPTED], ids=["plain", "encrypted"])
def test_a_second_backup_copies_only_what_is_new_and_each_is_restored_on_its_own(
    world: RecordWorld, secrecy: Secrecy
) -> None:
    notes = world.astra.root / "persona_space"
    (notes / "kept.bin").write_bytes(os.urandom(1 << 20))
    (notes / "note.md").write_text("one")
    first = back_up(world, secrecy)
    assert first.new_bytes > 1 << 20
    (notes / "note.md").write_text("two")
    with world.opened() as runtime:
        world.note(runtime, 3)
    second = back_up(world, secrecy)
    assert second.size > 1 << 20
    assert second.new_bytes < 1 << 19
    assert second.manifest.sequence > first.manifest.sequence
    assert check_all(world, secrecy) == [first.manifest.sequence, second.manifest.sequence]
    for name, made, text in (("old", first, "one"), ("new", second, "two")):
        root = DataRoot(world.astra.folder / name)
        place_backup(
            world.astra.folder / "backups", root, unlock=secrecy.unlock, backup_id=made.backup_id
        )
        assert (root.path / "persona_space" / "note.md").read_text() == text
        assert len((root.path / "persona_space" / "kept.bin").read_bytes()) == 1 << 20


def test_what_is_restored_names_no_database(world: RecordWorld) -> None:
    """Its chain is in files, wherever that of the original is."""
    settings = world.astra.root / ".env"
    settings.write_text("ASTRA_MODEL=some\nASTRA_DATABASE_URL=postgresql://db/astra\n")
    settings.chmod(0o600)
    back_up(world)
    new = DataRoot(world.astra.folder / "new")
    assert place_backup(world.astra.folder / "backups", new).left_database
    restored = new.path / ".env"
    text = "ASTRA_MODEL=some\n# ASTRA_DATABASE_URL=postgresql://db/astra\n"
    assert (restored.read_text(), restored.stat().st_mode & 0o777) == (text, 0o600)


def test_a_backup_of_what_did_not_change_copies_nothing(world: RecordWorld) -> None:
    back_up(world)
    again = back_up(world)
    assert again.new_bytes == 0
    assert len(check_all(world)) == 2


def test_commits_of_the_repository_come_back_piece_by_piece(world: RecordWorld) -> None:
    back_up(world)
    git = ["git", "--git-dir", str(world.root.git)]
    identity = ["-c", "user.name=x", "-c", "user.email=x@localhost"]

    def run(*words: str) -> str:
        done = subprocess.run([*git, *words], capture_output=True, check=True, text=True)
        return done.stdout.strip()

    commit = run(*identity, "commit-tree", "-m", "more", "HEAD^{tree}", "-p", "HEAD")
    run("update-ref", "refs/heads/more", commit)
    made = back_up(world)
    assert 0 < made.new_bytes < 10_000
    new = DataRoot(world.astra.folder / "new")
    place_backup(world.astra.folder / "backups", new)
    git[2] = str(new.git)
    assert run("rev-parse", "refs/heads/more") == commit
    assert run("log", "--format=%s", "-1", "more") == "more"


def test_a_backup_that_was_killed_harms_none_before_it_and_the_next_goes_on(
    world: RecordWorld,
) -> None:
    back_up(world)
    pieces = world.astra.folder / "backups" / "pieces"
    before = set(pieces.iterdir())
    sandbox = world.astra.root / "sandbox"
    (sandbox / "a-new.bin").write_bytes(os.urandom(1 << 20))
    (sandbox / "b-endless.bin").touch()
    os.truncate(sandbox / "b-endless.bin", 1 << 40)
    with subprocess.Popen(
        cold(COMMAND, "backup", world.astra.folder / "backups"),
        env=world.astra.environment,
        cwd=world.astra.folder,
        start_new_session=True,
    ) as process:
        until(lambda: set(pieces.iterdir()) - before)
        assert process.poll() is None, "a terabyte of nothing is not read so quickly"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    (sandbox / "b-endless.bin").unlink()
    assert len(check_all(world)) == 1
    (pieces / ".partial-left").write_bytes(b"half")
    back_up(world)
    assert len(check_all(world)) == 2
    assert not list(pieces.glob(".partial-*"))


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_what_was_damaged_in_the_folder_is_copied_again(world: RecordWorld, damage: str) -> None:
    back_up(world)
    for piece in (world.astra.folder / "backups" / "pieces").iterdir():
        piece.unlink() if damage == "gone" else os.truncate(piece, 1)
    with pytest.raises(BadInput):
        check_all(world)
    back_up(world)
    assert len(check_all(world)) == 2, "what both have in common is whole again"


def test_on_a_full_disk_earlier_backups_stay_whole(world: RecordWorld) -> None:
    disk = world.astra.folder / "disk"
    disk.mkdir()
    done = subprocess.run(
        [
            *("unshare", "--user", "--map-root-user", "--mount", sys.executable),
            *(HERE / "full_backup_disk.py", world.astra.root, disk),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
    )
    assert done.stdout.strip() == "held to the end", done.stderr


def test_a_place_that_is_not_for_backups_is_refused_and_left_alone(world: RecordWorld) -> None:
    folder = world.astra.folder
    (folder / "letters").mkdir()
    (folder / "letters" / "mine").write_text("mine")
    (folder / "way-in").symlink_to(world.astra.root / "sandbox")
    for to, why in (
        (folder / "letters", "no folder of backups"),
        (folder / "letters" / "mine", "no folder of backups"),
        (folder / "none" / "backups", "no folder"),
        (world.astra.root, "lost with it"),
        (world.astra.root / "backups", "lost with it"),
        (folder / "way-in", "lost with it"),
        (folder / "way-in" / "backups", "lost with it"),
    ):
        with pytest.raises(BadInput, match=why):
            make_backup(world.root, to, SystemClock())
    assert [path.name for path in (folder / "letters").iterdir()] == ["mine"]


def test_a_chain_that_was_changed_is_not_backed_up_as_if_it_were_whole(world: RecordWorld) -> None:
    back_up(world)
    world.chain.write_bytes(world.chain.read_bytes().replace(b'"operator"', b'"Operator"', 1))
    with pytest.raises(Exception, match="not as it was written") as refused:
        back_up(world)
    assert "verify" in getattr(refused.value, "next_step", "")
    assert len(check_all(world)) == 1


def test_an_encrypted_folder_takes_no_backup_with_another_passphrase(world: RecordWorld) -> None:
    back_up(world, ENCRYPTED)
    with pytest.raises(BadInput, match="does not open"):
        back_up(
            world, replace(ENCRYPTED, unlock=unlock_with_passphrase(lambda: "another passphrase"))
        )
    with pytest.raises(BadInput, match="passphrase was not given"):
        back_up(world)
    assert len(check_all(world, ENCRYPTED)) == 1


def test_the_commands_list_verify_and_restore_an_encrypted_folder(world: RecordWorld) -> None:
    astra, folder = world.astra, world.astra.folder / "backups"
    secret = {"ASTRA_BACKUP_PASSPHRASE": PASSPHRASE}
    first = astra.json("backup", folder, "--encrypt", **secret)
    assert first["encrypted"]
    (astra.root / "persona_space" / "later.md").write_text("later")
    second = astra.json("backup", folder, **secret)
    assert second["new_bytes"] < first["new_bytes"] <= first["bytes"]
    listed = astra.json("backup", "list", folder, **secret)
    assert listed["encrypted"]
    assert [item["id"] for item in listed["backups"]] == [first["id"], second["id"]]
    verified = astra.json("backup", "verify", folder, **secret)["verified"]
    assert [item["records"] for item in verified] == [first["records"], second["records"]]
    refuse_what_is_wrong(astra, folder, secret)
    new = {"AGENT_DATA_ROOT": str(astra.folder / "new"), **secret}
    back = astra.json("restore", folder, "--backup", first["id"], **new)
    astra.json("down", **new)
    assert back["manifest"] == first["manifest"]
    assert not (astra.folder / "new" / "persona_space" / "later.md").exists()


def refuse_what_is_wrong(astra: Astra, folder: Path, secret: dict[str, str]) -> None:
    wrong = {"ASTRA_BACKUP_PASSPHRASE": "another passphrase"}
    assert astra.json("backup", "list", folder, code=1)["code"] == "no_terminal"
    for words in (("backup", "list", folder), ("backup", folder)):
        assert astra.json(*words, code=1, **wrong)["code"] == "wrong_backup_passphrase"
    assert astra.json("restore", folder, code=2, **secret)["code"] == "not_empty"
    assert astra.json("backup", "list", code=2)["code"] == "bad_input"
    assert astra.json("backup", "verfy", folder, code=2, **secret)["code"] == "bad_input"
    short = {"ASTRA_BACKUP_PASSPHRASE": "short"}
    assert "8 characters" in astra.json("backup", "new", code=2, **short)["detail"]
    assert not (astra.folder / "new" / "astra-backups.json").exists()


def test_backups_for_a_recipient_are_added_without_its_private_key_and_restored_with_it(
    world: RecordWorld,
) -> None:
    astra, folder = world.astra, world.astra.folder / "backups"
    identity = astra.folder / "identity"
    recipient = astra.json("backup", "keygen", identity)["recipient"]
    assert identity.stat().st_mode & 0o077 == 0
    assert astra.json("backup", "keygen", identity, code=2)["code"] == "bad_input"
    assert astra.json("backup", folder, "--recipient", "0" * 64, code=2)["code"] == "bad_recipient"
    first = astra.json("backup", folder, "--recipient", recipient)
    assert first["encrypted"]
    second = astra.json("backup", folder)
    assert second["new_bytes"] < first["new_bytes"]
    new = {"AGENT_DATA_ROOT": str(astra.folder / "new")}
    assert astra.json("restore", folder, code=2, **new)["code"] == "backup_locked"
    other = astra.folder / "other"
    astra.json("backup", "keygen", other)
    refused = astra.json("restore", folder, "--identity", other, code=1, **new)
    assert refused["code"] == "wrong_backup_identity"
    (astra.folder / "none").write_text("{}")
    refused = astra.json("restore", folder, "--identity", astra.folder / "none", code=2, **new)
    assert refused["code"] == "bad_identity"
    assert not (astra.folder / "new").exists()
    back = astra.json("restore", folder, "--identity", identity, **new)
    astra.json("down", **new)
    assert back["manifest"] == second["manifest"]
