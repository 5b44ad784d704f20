"""A program that backs up to a disk that becomes full, and restores to one that is."""

import subprocess
import sys
from pathlib import Path

from astra.adapters.backups.checking import check_backup
from astra.adapters.backups.folder import open_folder
from astra.adapters.backups.making import make_backup
from astra.adapters.backups.placing import place_backup
from astra.adapters.backups.secrecy import NOT_ENCRYPTED
from astra.adapters.release_folders import DiskFull
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import SystemClock
from filling import fill


def main(root: Path, disk: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=True)
    backups, clock = disk / "backups", SystemClock()
    made = make_backup(DataRoot(root), backups, clock)
    note = root / "persona_space" / "large.bin"
    note.write_bytes(b"".join(b"%07d " % number for number in range(4_000_000)))
    try:
        make_backup(DataRoot(root), backups, clock)
    except DiskFull as error:
        assert "earlier ones are whole" in error.detail
    else:
        raise AssertionError("there was room for it")
    with open_folder(backups, NOT_ENCRYPTED.unlock) as folder:
        assert folder.list_ids() == [made.backup_id]
        check_backup(folder, folder.read_manifest(made.backup_id))
    fill(disk, leave=0)
    try:
        place_backup(backups, DataRoot(disk / "new"))
    except DiskFull as error:
        assert "nothing was restored" in error.detail
    assert sorted(path.name for path in disk.iterdir()) == ["backups", "ballast"]
    (disk / "ballast").unlink()
    note.write_bytes(b"small")
    for piece in sorted((backups / "pieces").iterdir(), key=lambda path: path.stat().st_size)[-2:]:
        piece.unlink()  # what the interrupted one left; the operator makes room
    again = make_backup(DataRoot(root), backups, clock)
    with open_folder(backups, NOT_ENCRYPTED.unlock) as folder:
        check_backup(folder, folder.read_manifest(again.backup_id))
    print("held to the end")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
