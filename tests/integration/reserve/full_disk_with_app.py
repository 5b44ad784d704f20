"""A program that keeps an app on a real disk without a free block, or without a free inode.

It finds the small disk mounted at `disk` below the folder that it is given.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from deploying import PLAIN, PYTHON, SERVER, fetch, until
from driver import Astra, make_repository
from filling import fill, relieve, use_up_inodes

CONFIGURATION = f"""
[target]
branch = "trunk"

[app]
command = "{PYTHON} app.py"
health_path = "/healthz"
health_command = "{PYTHON} -c 'print(1)'"
watch_seconds = %d

[app.permissions]
network = "host"
"""
IDENTITY = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
HEALTHY_WHILE_A_FILE_IS_THERE = (
    SERVER
    + """
class Sick(Answer):
    def status(self):
        return 200 if os.path.exists(os.environ["ASTRA_STATE"] + "/healthy") else 500

Server(Sick).serve_forever()
"""
)


def main(folder: Path, without: str) -> None:
    disk = folder / "disk"
    (disk / "home").mkdir()
    astra = Astra(disk)
    try:
        prepare(astra)
        goes_back_by_hand(astra, disk, without)
        goes_back_by_itself(astra, disk, without)
        assert astra.json("ledger", "verify")["ok"] is True
    finally:
        astra.run("down")
    print("held to the end")


def goes_back_by_hand(astra: Astra, disk: Path, without: str) -> None:
    token = astra.json("tokens", "create", "ci", "--role", "viewer")["id"]
    change = propose(astra)
    first = deploy(astra, PLAIN)
    deploy(astra, PLAIN + "# second\n")
    exhaust(disk, without)
    assert astra.json("status")["disk"]["low"] is True
    assert write(astra, code=1)["code"] == "disk_low"
    assert astra.json("rollback")["release"] == first == serving(astra)
    astra.json("tokens", "revoke", token)
    assert astra.json("tokens", "list")["items"][0]["ended"]
    astra.json("changes", "reject", change, "--reason", "not on a full disk")
    assert astra.json("changes", "show", change)["state"] == "rejected"
    relieve(disk)


def goes_back_by_itself(astra: Astra, disk: Path, without: str) -> None:
    good = serving(astra)
    sign(astra, watch=600)
    (astra.root / "app-state" / "healthy").touch()
    commit(astra, HEALTHY_WHILE_A_FILE_IS_THERE)
    bad = astra.json("deploy", "--no-wait")["deployment"]["release"]
    until(lambda: astra.json("status")["app"]["deployment"]["state"] == "switched")
    assert serving(astra) == bad != good
    exhaust(disk, without)
    (astra.root / "app-state" / "healthy").unlink()
    exhaust(disk, without)
    until(lambda: astra.json("status")["app"]["deployment"]["state"] == "rolled_back")
    assert serving(astra) == good
    relieve(disk)


def prepare(astra: Astra) -> None:
    target = make_repository(astra.folder / "target")
    astra.json("init", target, "--throwaway")
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    sign(astra, watch=1)


def sign(astra: Astra, *, watch: int) -> None:
    (astra.root / "astra.toml").write_text(CONFIGURATION % watch)
    astra.json("config", "sign")


def propose(astra: Astra) -> str:
    edited = astra.folder / "edited.py"
    edited.write_text("def answer() -> int:\n    return 43\n")
    words = ["changes", "propose", "--edit", f"agent.py={edited}", "--reason", "one more"]
    return str(astra.json(*words)["id"])


def commit(astra: Astra, app: str) -> None:
    """Put an app on the trusted branch, as an approved change would."""
    work = astra.folder / "work"
    if not work.exists():
        subprocess.run(["git", "clone", "-q", astra.root / "var" / "git", work], check=True)
    (work / "app.py").write_text(app)
    for words in (["add", "-A"], ["commit", "-qm", "an app"], ["push", "-q"]):
        subprocess.run(["git", *IDENTITY, *words], cwd=work, check=True)


def deploy(astra: Astra, app: str) -> str:
    commit(astra, app)
    return str(astra.json("deploy")["deployment"]["release"])


def serving(astra: Astra) -> str:
    return str(fetch(astra.json("status")["app"]["port"], "/healthz")["release"])


def write(astra: Astra, code: int = 0) -> Any:
    call = ["tools", "call", "write_file", json.dumps({"path": "note.md", "content": "x"})]
    return astra.json(*call, code=code)


def exhaust(disk: Path, without: str) -> None:
    if without == "blocks":
        fill(disk, leave=0)
    else:
        use_up_inodes(disk)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
