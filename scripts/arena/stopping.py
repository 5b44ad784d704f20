"""How long `astra stop --now` takes until it has proven that nothing of the agent's runs."""

import time
from pathlib import Path

from arena.outcome import SetReport
from arena.world import World

_SLEEP = "86399.25"
_PATIENCE = 60.0


def measure_stops(world: World, report: SetReport) -> None:
    """Stop a world in which boxes run; the processes are looked for in /proc, whatever was said."""
    with world.connect_agent() as agent:
        agent.start_call("run_in_sandbox", {"command": ["sleep", _SLEEP], "seconds": 600})
        deadline = time.monotonic() + _PATIENCE
        while not find_sleepers() and time.monotonic() < deadline:
            time.sleep(0.02)
        sleepers = find_sleepers()
        started = time.monotonic()
        answer = world.run_astra("stop", "--now")
        seconds = time.monotonic() - started
    remaining = sleepers & find_sleepers()
    if sleepers and answer.get("clean"):
        report.stops.append(seconds)
    report.survivors += len(remaining) + len(answer.get("survivors", []))


def find_sleepers() -> set[int]:
    """Give the processes that run the command of `measure_stops`."""
    sleepers = set[int]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", _SLEEP.encode()]:
                sleepers.add(int(entry.name))
    return sleepers
