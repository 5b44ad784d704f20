"""Commands that an agent runs, among them one that forks and will not end by itself."""

import json
import os
import re
import subprocess
import threading
from typing import Any

from driver import Astra

# Nobody else on this machine sleeps for exactly so long.
_SECONDS = f"100.{os.getpid():07d}"


def run_in_sandbox(astra: Astra, script: str, code: int = 0, **more: Any) -> Any:
    arguments = {"command": ["sh", "-c", script], **more}
    return astra.json("tools", "call", "run_in_sandbox", json.dumps(arguments), code=code)


def start_forking(astra: Astra) -> threading.Thread:
    """Have the agent run something that forks, daemonises and ignores every signal it can."""
    script = (
        "trap '' TERM INT HUP; echo started > started;"
        f"(setsid sh -c 'trap \"\" TERM; while :; do sleep {_SECONDS} & sleep 0.05; done' &);"
        f"while :; do sleep {_SECONDS} & sleep 0.05; done"
    )
    started = astra.root / "sandbox" / "started"
    thread = threading.Thread(target=run_in_sandbox, args=(astra, script), kwargs={"code": 0})
    thread.start()
    waiting = threading.Event()
    for _ in range(2400):
        if started.exists() and sleepers():
            return thread
        waiting.wait(0.05)
    raise AssertionError("the program never started")


def sleepers() -> list[str]:
    found = subprocess.run(
        ["pgrep", "-f", f"^sleep {re.escape(_SECONDS)}$"],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.split()
