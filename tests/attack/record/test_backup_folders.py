"""A folder of backups in the hands of somebody else: what was put in comes back, or nothing."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.backups.folder import BackupFolder, open_folder
from astra.adapters.backups.making import make_backup
from astra.adapters.backups.manifest import Manifest
from astra.adapters.backups.placing import place_backup
from astra.adapters.backups.secrecy import (
    NOT_ENCRYPTED,
    Secrecy,
    lock_with_passphrase,
    unlock_with_passphrase,
)
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.kernel.signatures import WrongPassphrase
from driver import Astra
from record_world import RecordWorld

PASSPHRASE = "a passphrase for backups"
ENCRYPTED = Secrecy(
    unlock=unlock_with_passphrase(lambda: PASSPHRASE), lock=lock_with_passphrase(lambda: PASSPHRASE)
)
SECRET = "the agent wrote this down"


@dataclass
class Backups:
    """Two backups in a folder, and what an attacker does to them."""

    path: Path
    secrecy: Secrecy
    new: DataRoot

    def restore(self) -> None:
        place_backup(self.path, self.new, unlock=self.secrecy.unlock)

    def refuse(self, why: str) -> None:
        with pytest.raises(AstraError, match=why):
            self.restore()
        assert not self.new.path.exists()
        assert not list(self.new.path.parent.glob(".new*"))

    def opened(self, use: Callable[[BackupFolder], Any]) -> Any:
        with open_folder(self.path, self.secrecy.unlock) as folder:
            return use(folder)

    def manifest(self) -> Manifest:
        return self.opened(lambda folder: folder.read_manifest(folder.find_id()))

    def piece_of(self, path: str, position: int = 0) -> Path:
        (entry,) = (entry for entry in self.manifest().files if entry.path == path)
        return self.path / "pieces" / entry.pieces[position]

    def newest(self) -> Path:
        return max((self.path / "backups").iterdir())

    def rewrite_manifest(self, old: bytes, new: bytes) -> None:
        """Change what a manifest says, and its name with it, as whoever reads the source can."""
        path = self.newest()
        raw = path.read_bytes()
        assert old in raw
        raw = raw.replace(old, new, 1)
        path.unlink()
        digest = hashlib.sha256(raw).hexdigest()[:16]
        time = json.loads(raw)["made_at"].replace(":", "")
        path.with_name(f"{time}-{digest}.manifest").write_bytes(raw)


def make_backups(folder: Path, pristine: Astra, secrecy: Secrecy) -> Path:
    world = RecordWorld(pristine.copied_to(Astra(folder)))
    notes = world.astra.root / "persona_space"
    (notes / "one.md").write_text(SECRET)
    (notes / "long.bin").write_bytes(b"1" * (4 << 20) + b"2" * (4 << 20) + b"3")
    for name in ("two.md", "three.md"):
        (notes / name).write_text(name)
        make_backup(world.root, folder / "backups", SystemClock(), secrecy=secrecy)
    return folder / "backups"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, pristine: Astra) -> dict[bool, Path]:
    return {
        bool(secrecy.lock): make_backups(tmp_path_factory.mktemp("backed-up"), pristine, secrecy)
        for secrecy in (NOT_ENCRYPTED, ENCRYPTED)
    }


def lay_out(prepared: dict[bool, Path], folder: Path, secrecy: Secrecy) -> Backups:
    shutil.copytree(prepared[bool(secrecy.lock)], folder / "backups")
    return Backups(path=folder / "backups", secrecy=secrecy, new=DataRoot(folder / "new"))


@pytest.fixture(params=[NOT_ENCRYPTED, ENCRYPTED], ids=["plain", "encrypted"])
def backups(request: pytest.FixtureRequest, prepared: dict[bool, Path], tmp_path: Path) -> Backups:
    return lay_out(prepared, tmp_path, request.param)


@pytest.fixture
def plain(prepared: dict[bool, Path], tmp_path: Path) -> Backups:
    return lay_out(prepared, tmp_path, NOT_ENCRYPTED)


@pytest.fixture
def encrypted(prepared: dict[bool, Path], tmp_path: Path) -> Backups:
    return lay_out(prepared, tmp_path, ENCRYPTED)


def test_untouched_it_is_restored(backups: Backups) -> None:
    backups.restore()
    notes = backups.new.path / "persona_space"
    assert (notes / "one.md").read_text() == SECRET
    assert len((notes / "long.bin").read_bytes()) == (8 << 20) + 1


def test_pieces_that_were_exchanged_are_noticed(backups: Backups) -> None:
    first = backups.piece_of("persona_space/one.md")
    second = backups.piece_of("persona_space/two.md")
    contents = first.read_bytes(), second.read_bytes()
    first.write_bytes(contents[1])
    second.write_bytes(contents[0])
    backups.refuse("not as it was made")


@pytest.mark.parametrize("left", [0, 1, 20, -1])
def test_a_piece_that_was_cut_short_is_noticed(backups: Backups, left: int) -> None:
    piece = backups.piece_of("persona_space/long.bin", 1)
    piece.write_bytes(piece.read_bytes()[:left])
    backups.refuse("not as it was made")


def test_a_piece_that_was_taken_away_is_noticed(backups: Backups) -> None:
    backups.piece_of("persona_space/long.bin", 2).unlink()
    backups.refuse("is missing")


def test_a_piece_that_got_more_is_noticed(backups: Backups) -> None:
    piece = backups.piece_of("persona_space/one.md")
    piece.write_bytes(piece.read_bytes() + b"\0")
    backups.refuse("not as it was made")


def test_pieces_in_another_order_are_noticed(plain: Backups) -> None:
    """In an encrypted folder nobody can say another order: the manifest is sealed whole."""
    names = next(
        entry.pieces for entry in plain.manifest().files if entry.path.endswith("/long.bin")
    )
    before, after = (json.dumps(order, separators=(",", ":")) for order in (names, names[::-1]))
    plain.rewrite_manifest(before.encode(), after.encode())
    plain.refuse("has other content")


def test_a_file_that_lost_its_last_piece_in_the_manifest_is_noticed(plain: Backups) -> None:
    last = plain.piece_of("persona_space/long.bin", 2).name
    plain.rewrite_manifest(f',"{last}"'.encode(), b"")
    plain.refuse("has other content")


@pytest.mark.parametrize("position", [0, 16, 100, -1])
def test_a_manifest_of_an_encrypted_folder_is_whole_or_refused(
    encrypted: Backups, position: int
) -> None:
    raw = bytearray(encrypted.newest().read_bytes())
    raw[position] ^= 1
    encrypted.newest().write_bytes(raw)
    encrypted.refuse("not as it was made")


def test_an_older_manifest_under_the_newest_name_is_noticed(backups: Backups) -> None:
    older, newest = sorted((backups.path / "backups").iterdir())
    newest.write_bytes(older.read_bytes())
    backups.refuse("other content than its name says")


def test_a_manifest_of_another_folder_with_the_same_passphrase_is_noticed(
    encrypted: Backups, world: RecordWorld
) -> None:
    other = world.astra.folder / "other"
    made = make_backup(world.root, other, SystemClock(), secrecy=ENCRYPTED)
    shutil.copy(other / "backups" / f"{made.backup_id}.manifest", encrypted.path / "backups")
    encrypted.refuse("not as it was made")


def test_a_header_of_another_folder_with_the_same_passphrase_opens_nothing(
    encrypted: Backups, world: RecordWorld
) -> None:
    other = world.astra.folder / "other"
    make_backup(world.root, other, SystemClock(), secrecy=ENCRYPTED)
    shutil.copy(other / "astra-backups.json", encrypted.path)
    encrypted.refuse("not as it was made")


def test_a_wrong_passphrase_opens_nothing_and_changes_nothing(encrypted: Backups) -> None:
    before = sorted(path.name for path in encrypted.path.rglob("*"))
    encrypted.secrecy = replace(
        ENCRYPTED, unlock=unlock_with_passphrase(lambda: "another passphrase")
    )
    with pytest.raises(WrongPassphrase):
        encrypted.restore()
    assert not encrypted.new.path.exists()
    assert sorted(path.name for path in encrypted.path.rglob("*")) == before


def test_a_header_cannot_make_the_reader_spend_all_memory(encrypted: Backups) -> None:
    path = encrypted.path / "astra-backups.json"
    header = json.loads(path.read_bytes())
    header["encryption"]["log_n"] = 40
    path.write_text(json.dumps(header))
    encrypted.refuse("does not know")


def test_a_folder_that_was_made_plain_gets_no_backup_that_is_to_be_encrypted(
    encrypted: Backups, world: RecordWorld
) -> None:
    path = encrypted.path / "astra-backups.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "encryption": None}))
    before = {piece.name for piece in (encrypted.path / "pieces").iterdir()}
    with pytest.raises(BadInput, match="not encrypted"):
        make_backup(world.root, encrypted.path, SystemClock(), secrecy=ENCRYPTED)
    assert {piece.name for piece in (encrypted.path / "pieces").iterdir()} == before
    encrypted.secrecy = NOT_ENCRYPTED
    encrypted.refuse("not as it was made")


def test_nothing_readable_is_in_an_encrypted_folder(encrypted: Backups) -> None:
    backup = encrypted.opened(lambda folder: folder.read_manifest(folder.find_id()))
    assert any(entry.path == "persona_space/one.md" for entry in backup.files)
    digests = {entry.sha256 for entry in backup.files}
    for path in encrypted.path.rglob("*"):
        raw = path.read_bytes() if path.is_file() else b""
        for text in (SECRET, "persona_space", "ledger.key", '"type":', PASSPHRASE):
            assert text.encode() not in raw, path
        assert path.name not in digests, "a name would show which file it is"


@pytest.mark.parametrize("name", ["../outside", "/outside", "var//x", "var/./x", "a\\u0000b", ""])
def test_a_manifest_cannot_name_a_place_outside(plain: Backups, tmp_path: Path, name: str) -> None:
    plain.rewrite_manifest(b'"path":"astra.toml"', f'"path":"{name}"'.encode())
    plain.refuse("not as it was made")
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "..", "A" * 64, "ab"])
def test_a_manifest_cannot_name_a_piece_outside(plain: Backups, name: str) -> None:
    piece = plain.piece_of("persona_space/one.md").name
    plain.rewrite_manifest(f'["{piece}"]'.encode(), f'["{name}"]'.encode())
    plain.refuse("pieces of no known name")


def test_a_manifest_cannot_have_files_written_through_a_link(
    plain: Backups, tmp_path: Path
) -> None:
    (tmp_path / "precious").mkdir()
    entry = (
        '{"kind":"link","mode":0,"owner":[0,0],"path":"var/git/refs","pieces":[],'
        f'"sha256":"","target":"{tmp_path}/precious"}},'
    )
    plain.rewrite_manifest(b'"entries":[', f'"entries":[{entry}'.encode())
    plain.refuse("not as it was made")
    assert not list((tmp_path / "precious").iterdir())


@pytest.mark.parametrize("number", [b"1", b"100000"])
def test_a_manifest_cannot_say_that_the_chain_ends_elsewhere(plain: Backups, number: bytes) -> None:
    """What was restored is signed for behind the record where the backup ends."""
    sequence = b'"sequence":%d' % plain.manifest().sequence
    plain.rewrite_manifest(sequence, b'"sequence":' + number)
    plain.refuse("ends at another record")


def test_a_commit_that_is_missing_in_the_repository_is_noticed(plain: Backups) -> None:
    packs = [e for e in plain.manifest().entries if e.path.endswith((".pack", ".idx", ".rev"))]
    assert packs, "a clone has a pack"
    for entry in packs:
        raw = json.loads(plain.newest().read_bytes())["entries"]
        (text,) = (
            json.dumps(e, sort_keys=True, separators=(",", ":"))
            for e in raw
            if e["path"] == entry.path
        )
        plain.rewrite_manifest(text.encode() + b",", b"")
    plain.refuse("repository is not complete")


@pytest.mark.parametrize("what", ["pieces", "backups", "piece", "manifest", "header"])
def test_links_in_the_folder_are_not_followed(backups: Backups, tmp_path: Path, what: str) -> None:
    """Even where they lead to the very content that belongs there."""
    place = {
        "pieces": backups.path / "pieces",
        "backups": backups.path / "backups",
        "piece": backups.piece_of("persona_space/one.md"),
        "manifest": backups.newest(),
        "header": backups.path / "astra-backups.json",
    }[what]
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    backups.refuse("not as it was made")


def test_a_pipe_in_the_folder_keeps_nobody_waiting(backups: Backups) -> None:
    piece = backups.piece_of("persona_space/one.md")
    piece.unlink()
    os.mkfifo(piece)
    backups.refuse("no plain file")


def test_a_backup_is_not_written_through_a_link_in_the_folder(
    world: RecordWorld, tmp_path: Path
) -> None:
    back_up = partial(make_backup, world.root, world.astra.folder / "backups", SystemClock())
    back_up()
    pieces, precious = world.astra.folder / "backups" / "pieces", tmp_path / "precious"
    precious.write_text("precious")
    piece = next(pieces.iterdir())
    piece.unlink()
    piece.symlink_to(precious)
    back_up()
    assert precious.read_text() == "precious"
    assert not piece.is_symlink(), "the piece is there again"
    shutil.move(pieces, tmp_path / "elsewhere")
    pieces.symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").iterdir())
    (world.astra.root / "persona_space" / "new.md").write_text("new")
    with pytest.raises(BadInput, match="symbolic link"):
        back_up()
    assert sorted((tmp_path / "elsewhere").iterdir()) == before


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../outside", tarfile.REGTYPE),
        ("/outside", tarfile.REGTYPE),
        ("pieces/../../outside", tarfile.REGTYPE),
        ("pieces/" + "0" * 64, tarfile.SYMTYPE),
        ("pieces/" + "0" * 64, tarfile.LNKTYPE),
        ("pieces/" + "0" * 64, tarfile.FIFOTYPE),
        ("notes.txt", tarfile.REGTYPE),
    ],
)
def test_an_archive_brings_nothing_but_what_belongs_there(
    plain: Backups, tmp_path: Path, name: str, kind: bytes
) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, "/etc/passwd"
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        archive.add(plain.path / "astra-backups.json", arcname="astra-backups.json")
        archive.addfile(member)
    plain.path = tmp_path / "evil.tar"
    plain.refuse("no part of a backup")
    assert not (tmp_path / "outside").exists()
    assert not list(tmp_path.glob(".astra-backup-*"))


def test_an_archive_that_was_cut_short_is_refused(world: RecordWorld, tmp_path: Path) -> None:
    archive = tmp_path / "backup.tar.gz"
    make_backup(world.root, archive, SystemClock(), secrecy=ENCRYPTED)
    whole = archive.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) * 9 // 10):
        archive.write_bytes(whole[:length])
        with pytest.raises(BadInput, match="not as it was made"):
            place_backup(archive, DataRoot(tmp_path / "new"), unlock=ENCRYPTED.unlock)
    assert not (tmp_path / "new").exists()


def test_an_agent_cannot_prevent_backups_with_names_and_things_it_makes(
    world: RecordWorld,
) -> None:
    sandbox = os.fsencode(world.astra.root / "sandbox")
    Path(os.fsdecode(sandbox + b"/\xff\xfe")).write_text("odd")
    Path(os.fsdecode(sandbox + b"/odd-link")).symlink_to("\udcff")
    os.mkfifo(sandbox + b"/pipe")
    deep = Path(os.fsdecode(sandbox)).joinpath(*["d" * 200] * 10)
    deep.mkdir(parents=True)
    backups, new = world.astra.folder / "backups", DataRoot(world.astra.folder / "new")
    make_backup(world.root, backups, SystemClock())
    place_backup(backups, new)
    assert Path(os.fsdecode(os.fsencode(new.path) + b"/sandbox/\xff\xfe")).read_text() == "odd"
    assert str((new.path / "sandbox" / "odd-link").readlink()) == "\udcff"


def test_an_agent_cannot_make_a_path_that_a_restore_fails_at(world: RecordWorld) -> None:
    """Step by step a path can be made that is longer than any that can be named at once."""
    make_deep(world.astra.root / "sandbox", "deep", 1500)
    make_deep(world.astra.root / "sandbox", "l" * 250, 30)
    backups, new = world.astra.folder / "backups", DataRoot(world.astra.folder / "new")
    made = make_backup(world.root, backups, SystemClock())
    assert len(made.left_out) == 2
    place_backup(backups, new)
    assert (new.path / "sandbox" / "deep" / "deep").is_dir()
    for root in (world.astra.root, new.path):
        subprocess.run(["rm", "-rf", root / "sandbox"], check=True)


def make_deep(folder: Path, name: str, depth: int) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=descriptor)
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
