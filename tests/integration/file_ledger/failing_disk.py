"""A program that runs a ledger on a disk that fills up or turns read-only, and then recovers."""

import subprocess
import sys
from pathlib import Path

from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.errors import LedgerUnavailable
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event

KEY = KeyPair.generate()


def main(folder: Path, state: str) -> None:
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]
    subprocess.run(mount, check=True)
    ledger = FileLedger(disk / "var", key=KEY)
    ledger.append([happened("first")])
    kept = 0
    if state.startswith("full"):
        fill(disk)
        kept = append_until_refused(ledger, reading=state == "full for a reader")
        (disk / "ballast").unlink()
    else:
        ledger.close()
        ledger = reopen_from_read_only(disk)
    ledger.append([happened("after")])
    texts = [r.data["text"][:8] for r in views.records(ledger, type_="thing_happened", limit=999)]
    assert texts == ["first", *["x" * 8] * kept, "after"], texts
    ledger.close()
    assert check_files(disk / "var", public_key=KEY.public).ok
    print("recovered")


def append_until_refused(ledger: FileLedger, *, reading: bool) -> int:
    """Append, and read what was appended, until either is refused; a reader never sees less."""
    kept = 0
    try:
        while kept < 1000:
            ledger.append([happened("x" * 5000)])
            kept += 1
            if reading:
                found = views.records(ledger, type_="thing_happened", limit=999)
                assert len(found) == kept + 1, (len(found), kept)
    except LedgerUnavailable as refused:
        assert refused.detail, "it says what is wrong"
        assert refused.next_step, "and what to do"
        return kept
    raise AssertionError("the disk never filled up")


def fill(disk: Path) -> None:
    room = 600_000
    for _ in range(100):
        used = int(subprocess.check_output(["df", "--output=avail", "-B1", disk]).split()[-1])
        if used <= room:
            return
        with (disk / "ballast").open("ab") as file:
            file.write(b"\0" * min(used - room, 65536))


def reopen_from_read_only(disk: Path) -> FileLedger:
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    try:
        FileLedger(disk / "var", key=KEY)
    except LedgerUnavailable as refused:
        assert "read-only" in refused.detail, refused.detail
    else:
        raise AssertionError("a read-only disk was opened for writing")
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    return FileLedger(disk / "var", key=KEY)


def happened(text: str) -> Event:
    return Event(type="thing_happened", actor="agent", data={"text": text})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
