"""A program that runs a whole data root on a real disk that is full to the last block."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from astra.trusted.file_ledger.reserve import Reserve
from driver import Astra, make_repository
from filling import fill

WRITE = ["tools", "call", "write_file"]


def main(folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", disk], check=True)
    (disk / "home").mkdir()
    astra = Astra(disk)
    astra.json("init", make_repository(disk / "target"), "--throwaway")
    approval = ask_to_fetch(astra)
    reserve = Reserve(astra.root / "var")
    assert reserve.path.stat().st_blocks * 512 >= 4 << 20, "the blocks are really there"
    try:
        steps(astra, disk, reserve, approval)
    finally:
        astra.run("down")
    print("held to the end")


def steps(astra: Astra, disk: Path, reserve: Reserve, approval: str) -> None:
    fill(disk, leave=16 << 20)
    refused = write(astra, code=1)
    assert refused["code"] == "disk_low", refused
    assert astra.json("status")["disk"]["low"] is True
    assert "DISK LOW" in astra.run("status").stdout
    fill(disk, leave=0)
    assert reserve.path.exists(), "the agent's calls did not touch it"
    astra.json("approve", approval)
    assert not reserve.path.exists(), "it was given up for the decision"
    assert write(astra, code=1)["code"] == "disk_low"
    fill(disk, leave=0, name="more")
    stopped = astra.json("stop", "--now")
    assert stopped["clean"], stopped
    (disk / "more").unlink()
    assert astra.json("status")["stopped"] is True
    astra.run("down")
    assert astra.json("start")["started"] is True
    types = [r["type"] for r in astra.json("ledger", "tail", "--count", "1000")["items"]]
    assert {"approval_granted", "work_stopped", "work_started"} <= set(types), types
    (disk / "ballast").unlink()
    write(astra)
    assert reserve.path.exists(), "it was laid down again"
    assert astra.json("ledger", "verify")["ok"] is True


def write(astra: Astra, code: int = 0) -> Any:
    return astra.json(*WRITE, json.dumps({"path": "note.md", "content": "x"}), code=code)


def ask_to_fetch(astra: Astra) -> str:
    call = ["tools", "call", "fetch_url", '{"url": "https://example.com/"}']
    return str(astra.json(*call, code=3)["approval_id"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
