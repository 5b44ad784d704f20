"""Walks docs/howto/separate-users.md line by line, as root, in a mount namespace of its own.

Users are made for real, by the page's own commands: below an `/etc`, `/opt` and `/home` that go
away with the namespace. The checkout is mounted where the page has Astra cloned and set up.
"""

import json
import os
import pty
import pwd
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from open_ways import open_ways

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs/howto/separate-users.md"
PASSPHRASE = b"a passphrase that is long enough"
ROOT, ASTRA = Path("/opt/agent-data/root"), "/opt/astra/.venv/bin/astra"


def main(scratch: Path) -> None:
    users, init, sudoers, mcp, approvals = read_page()
    make_machine(scratch)
    make_users(users)
    make_repository(Path("/opt/agent-repository"))
    answer_prompts(init.split())
    allow(sudoers, Path("/etc/sudoers.d/astra"))
    try:
        speak_mcp(mcp.split())
        try_what_is_closed(mcp)
        run(*approvals.split())
    finally:
        run("sudo", "-u", "astra", ASTRA, "down", "--data-root", str(ROOT))
    print("walked to the end")


def read_page() -> list[str]:
    blocks = re.findall(r"^ *```[a-z]*\n(.*?)^ *```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return ["\n".join(line.strip() for line in block.splitlines()) + "\n" for block in blocks]


def make_machine(scratch: Path) -> None:
    """Put layers over what the page changes, and open the way to the interpreter."""
    run("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", str(scratch))
    for name in ("upper", "work", "kept"):
        (scratch / name).mkdir()
    layers = f"lowerdir=/etc,upperdir={scratch}/upper,workdir={scratch}/work"
    run("mount", "-t", "overlay", "-o", layers, "overlay", "/etc")
    open_ways((CHECKOUT, Path(sys.base_prefix)), scratch / "kept")
    for folder in ("/opt", "/home"):
        run("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", folder)
    Path("/opt/astra").mkdir()
    run("mount", "--bind", str(CHECKOUT), "/opt/astra")


def make_users(block: str) -> None:
    *commands, clone_and_setup = block.splitlines()
    assert clone_and_setup.endswith("/opt/astra && make -C /opt/astra setup")
    for command in commands:
        run(*command.split())


def make_repository(folder: Path) -> None:
    """Make it as root: the page says nothing about whose it is."""
    identity = ("-c", "user.name=Someone", "-c", "user.email=someone@localhost")
    run("git", "init", "-q", "-b", "main", str(folder))
    (folder / "agent.py").write_text("answer = 42\n")
    run("git", "-C", str(folder), "add", "-A")
    run("git", "-C", str(folder), *identity, "commit", "-qm", "an agent")


def answer_prompts(command: Sequence[str]) -> None:
    """Run a command on a terminal, and type the passphrase wherever it is asked for."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], list(command))
    shown, answers = b"", 0
    while text := _read(terminal):
        shown += text
        if shown.endswith(b": "):
            os.write(terminal, PASSPHRASE + b"\n")
            answers += 1
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 0, shown.decode(errors="replace")
    assert answers == 2, shown.decode(errors="replace")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


def allow(rule: str, file: Path) -> None:
    """Do what `visudo -f` does with the rule that somebody typed."""
    file.write_text(rule)
    file.chmod(0o440)
    run("visudo", "-c")


def speak_mcp(command: Sequence[str]) -> None:
    """Connect as the agent's user, as its MCP client would, list the tools and call one.

    The relay lists them by itself; the call is answered by the daemon, which is there from then on.
    """
    client = {"name": "agent", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "astra_health"}},
    ]
    answers = dict[int, Any]()
    with subprocess.Popen(
        command, user="agent", extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin
        assert server.stdout
        for request in requests:
            server.stdin.write(json.dumps(request).encode() + b"\n")
            server.stdin.flush()
            while "id" in request and request["id"] not in answers:
                message = json.loads(server.stdout.readline())
                answers[message.get("id", 0)] = message
        server.stdin.close()
    names = {tool["name"] for tool in answers[2]["result"]["tools"]}
    assert {"read_source_code", "search_source"} <= names
    assert answers[3]["result"]["structuredContent"]["status"] == "ok"


def try_what_is_closed(mcp: str) -> None:
    """Try as the agent what the page says it cannot do."""
    key = next(Path("/opt/agent-data").rglob("operator*.key"), ROOT / "var")
    for path in (ROOT / "var", ROOT / "var/keys/ledger.key", ROOT / "astra.toml", key):
        refused(["cat", str(path)], "Permission denied")
    refused(["sudo", "-n", "-u", "astra", ASTRA, "status", "--data-root", str(ROOT)], "password")
    refused(["sudo", "-n", "-u", "astra", "sh", "-c", "id"], "password")
    refused(["sudo", "-n", "ASTRA_SANDBOX=off-unsafe", *mcp.split()[2:]], "not allowed")
    for pid in filter(str.isdigit, (path.name for path in Path("/proc").iterdir())):
        if pid_owner(pid) == pwd.getpwnam("astra").pw_uid:
            refused(["cat", f"/proc/{pid}/environ"], "Permission denied")
            return
    raise AssertionError("there is no daemon of astra's")


def pid_owner(pid: str) -> int:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return -1


def refused(command: Sequence[str], why: str) -> None:
    done = subprocess.run(
        command, user="agent", extra_groups=[], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0, f"{command} was let through: {done.stdout}"
    assert why in done.stderr, f"{command}: {done.stderr}"


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
