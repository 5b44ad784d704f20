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
GRANT = ["network_domains", "example.org"]
SCHEDULE: dict[str, Any] = {
    "cron_expression": "@yearly",
    "timezone": "UTC",
    "target_tool": "astra.health",
    "payload": {},
    "safety_tier": 0,
}


def main(folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", disk], check=True)
    (disk / "home").mkdir()
    astra = Astra(disk)
    astra.json("init", make_repository(disk / "target"), "--throwaway")
    approval = ask_to_fetch(astra)
    astra.json("grants", "add", *GRANT)
    schedules = [schedule(astra, name) for name in ("first", "second")]
    reserve = Reserve(astra.root / "var")
    assert reserve.path.stat().st_blocks * 512 >= 4 << 20, "the blocks are really there"
    try:
        steps(astra, disk, reserve, approval)
        fill(disk, leave=0)
        takes_away(astra, *schedules)
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


def takes_away(astra: Astra, first: str, second: str) -> None:
    """What an operator takes away is taken away, and is answered so."""
    assert astra.json("status")["disk"]["low"] is True
    assert astra.json("schedules", "pause", first)["state"] == "paused"
    assert astra.json("schedules", "delete", second)["state"] == "deleted"
    astra.json("grants", "remove", *GRANT)
    assert astra.json("grants", "list")["items"] == []


def schedule(astra: Astra, name: str) -> str:
    call = ["tools", "call", "astra.schedule.create", json.dumps({**SCHEDULE, "name": name})]
    return str(astra.json(*call)["id"])


def write(astra: Astra, code: int = 0) -> Any:
    return astra.json(*WRITE, json.dumps({"path": "note.md", "content": "x"}), code=code)


def ask_to_fetch(astra: Astra) -> str:
    call = ["tools", "call", "fetch_url", '{"url": "https://example.com/"}']
    return str(astra.json(*call, code=3)["approval_id"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
