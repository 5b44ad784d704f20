"""Lists the files of Astra whose functions run in the daemon while one change becomes a release.

The daemon runs in this process, so that its threads can be traced; the agent and the operator are
processes of their own, as they always are. Prints a JSON list of paths.
"""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from astra.interfaces.cli import demo_agent, demo_target
from astra.interfaces.cli.console import Console
from astra.interfaces.cli.demo import Story
from astra.interfaces.daemon import server

UNRELATED = ("notif", "scheduler", "plan", "quick", "preflight")
"""Threads that go on meanwhile for other parts."""
SOURCE = Path(server.__file__).resolve().parents[2]


class Trace:
    """The files in which a function began while the trace was on."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.on = False

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if not self.on or event != "call" or frame.f_code.co_name == "<module>":
            return
        if not threading.current_thread().name.startswith(UNRELATED):
            self.files.add(frame.f_code.co_filename)


def main() -> int:
    trace = Trace()
    with tempfile.TemporaryDirectory(prefix="astra-flow-") as name:
        story = Story(folder=Path(name), console=Console(as_json=True))
        os.environ.update(story.build_environment())
        demo_target.make_repository(story.folder / "agent")
        story.run_astra("init", "agent", "--throwaway")
        (story.folder / "data" / "astra.toml").write_text(demo_target.build_configuration())
        play = threading.Thread(target=play_flow, args=[story, trace])
        threading.setprofile(trace)
        sys.setprofile(trace)
        runtime = server.open_runtime(story.folder / "data")
        play.start()
        try:
            asyncio.run(server.serve(runtime, idle=False))
        finally:
            runtime.close()
            play.join()
    inside = sorted(
        str(Path(file).relative_to(SOURCE)) for file in trace.files if file.startswith(str(SOURCE))
    )
    print(json.dumps(inside))
    return 0


def play_flow(story: Story, trace: Trace) -> None:
    try:
        story.wait_until((story.folder / "data/var/run/astra.sock").exists)
        story.run_astra("config", "sign")
        story.run_astra("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
        story.run_astra("deploy")
        story.wait_until(lambda: count_settled(story) == 1)
        trace.on = True
        change = str(story.play_agent(demo_agent.PROPOSING)["id"])
        story.wait_until(lambda: in_chain(story, "approval_requested", change))
        story.run_astra("changes", "approve", change, "--deploy")
        story.wait_until(lambda: count_settled(story) > 1)
        trace.on = False
    finally:
        with contextlib.suppress(Exception):
            story.run_astra("stop", "--now")
        story.run_astra("down")


def in_chain(story: Story, event: str, about: str) -> bool:
    return any(f'"type":"{event}"' in line and about in line for line in read_chain(story))


def count_settled(story: Story) -> int:
    return sum('"type":"deployment_settled"' in line for line in read_chain(story))


def read_chain(story: Story) -> list[str]:
    """Look into the files themselves: asking the daemon would add to the trace."""
    segments = (story.folder / "data" / "var" / "ledger").glob("*.ndjson")
    return [line for segment in segments for line in segment.read_text().splitlines()]


if __name__ == "__main__":
    sys.exit(main())
