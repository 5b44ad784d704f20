"""The attempt of `astra doctor --attack` to keep an operator's stop waiting behind an agent.

A data root of its own is made in a temporary folder, and thrown away afterwards. An agent at the
daemon's socket asks for more sleeping boxes than it may have; then the operator looks, and stops.
It held where both were answered while every box still slept.
"""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from astra.interfaces import socket_path

CALLS = 45
_SLEEP = {"command": ["sleep", "90"], "seconds": 120}
_PATIENCE, _QUIET = 60.0, 3.0
HELD = ("answered while every box slept",)


def try_to_delay_stop() -> str:
    """Fill the daemon and stop it; gives how that ended, `HELD` where nobody waited."""
    with tempfile.TemporaryDirectory(prefix="astra-load-") as folder:
        try:
            with _run_daemon(Path(folder)) as run_folder:
                return _stop_under_load(run_folder)
        except (OSError, subprocess.SubprocessError, http.client.HTTPException) as error:
            return f"not tried: {error}"[:300]


def _stop_under_load(run: Path) -> str:
    verdicts: list[str] = []
    agents = [
        threading.Thread(target=_request_box, args=(run, verdicts), daemon=True)
        for _ in range(CALLS)
    ]
    for thread in agents:
        thread.start()
    boxes = _wait_until_settled(run, verdicts)
    if not boxes:
        return f"not tried: no box began ({', '.join(sorted(set(verdicts))[:3])})"
    began = time.monotonic()
    _send_request(run, "GET", "/api/status")
    stop_report = _send_request(run, "POST", "/api/stop", {})
    stop_seconds = time.monotonic() - began
    for thread in agents:
        thread.join(_PATIENCE)
    if "succeeded" in verdicts or not stop_report.get("clean"):
        return f"out: the stop took {stop_seconds:.1f} s, until boxes had ended by themselves"
    return HELD[0]


def _request_box(run: Path, verdicts: list[str]) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        answer = _send_request(run, "POST", "/api/tools/run_in_sandbox", _SLEEP)
        verdicts.append(str(answer.get("verdict") or answer.get("code")))


def _wait_until_settled(run: Path, verdicts: list[str]) -> int:
    """Wait until nothing more begins; gives how many boxes sleep."""
    deadline, before, since = time.monotonic() + _PATIENCE, (0, 0), time.monotonic()
    while time.monotonic() < deadline:
        now = (_count_boxes(run), len(verdicts))
        if now != before:
            before, since = now, time.monotonic()
        elif sum(now) >= CALLS or (now[0] and time.monotonic() - since > _QUIET):
            break
        time.sleep(0.1)
    return before[0]


def _count_boxes(run: Path) -> int:
    from astra.trusted.sandbox import boxes

    return len(boxes.list_registered(run.parents[1])[0])


def _send_request(run: Path, method: str, path: str, body: Any = None) -> dict[str, Any]:
    connection = http.client.HTTPConnection("localhost", timeout=_PATIENCE * 2)
    try:
        connection.sock = socket_path.connect(run, timeout=_PATIENCE * 2)
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": "application/json"})
        return dict(json.loads(connection.getresponse().read()))
    finally:
        connection.close()


@contextlib.contextmanager
def _run_daemon(folder: Path) -> Generator[Path]:
    """Make a throwaway data root with a daemon, its key beside it; gives where its sockets are."""
    inherited_variables = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
    }
    environment = {
        **inherited_variables,
        "XDG_CONFIG_HOME": str(folder / "config"),
        "AGENT_DATA_ROOT": str(folder / "data"),
        "ASTRA_OPERATOR_PASSPHRASE": "thrown away with this folder",
    }

    def command(*words: str) -> None:
        line = [sys.executable, "-m", "astra.interfaces.cli.main", *words]
        subprocess.run(line, env=environment, cwd=folder, check=True, capture_output=True)

    command("init", "--throwaway")
    try:
        command("status")
        yield folder / "data" / "var" / "run"
    finally:
        command("down")
