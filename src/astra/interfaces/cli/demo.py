"""`astra demo`: a guided story on a throwaway data root. Every step is the real command."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.interfaces.cli.console import Console
from astra.interfaces.cli.main import Context
from astra.kernel.errors import AstraError

_WRITE = "ASTRA_CODE_WRITE_ENABLED"
_KILLS = 5


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=tell)


def tell(context: Context) -> None:
    folder = Path(tempfile.mkdtemp(prefix="astra-demo-"))
    story = Story(folder, context.console)
    try:
        _make_target(folder / "agent")
        _birth(story)
        _agent(story)
        _decision(story)
        _switches(story)
        _stop(story)
        _crash(story)
        _tamper(story)
        verified = _ending(story)
    finally:
        story.astra("down")
        shutil.rmtree(folder, ignore_errors=True)
    context.console.result(verified)


@dataclass
class Story:
    """Runs real commands in a world of its own and shows them to whoever watches."""

    folder: Path
    console: Console

    def heading(self, text: str) -> None:
        self.say(f"\n{self.console.paint(text, 'bold')}")

    def show(self, *words: str, code: int = 0, **environment: str) -> None:
        """Run a command, print it and what it said."""
        settings = [f"{name}={value}" for name, value in environment.items()]
        self.say(f"  {self.console.paint(' '.join(['$', *settings, 'astra', *words]), 'dim')}")
        done = self.astra(*words, **environment)
        for line in (done.stdout + done.stderr).strip("\n").splitlines():
            self.say(f"    {line}")
        if done.returncode != code:
            raise AstraError(
                f"`astra {' '.join(words)}` ended with {done.returncode}, not {code}",
                next_step="run `astra doctor`",
            )

    def answer(self, *words: str) -> dict[str, Any]:
        return json.loads(self.astra(*words, "--json").stdout)

    def world(self) -> dict[str, str]:
        """Give the environment in which this story happens."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "operator"),
            "AGENT_DATA_ROOT": str(self.folder / "data"),
            "ASTRA_OPERATOR_PASSPHRASE": "a throwaway passphrase",
        }

    def astra(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-m", "astra.interfaces.cli.main", *words],
            env={**self.world(), **environment},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def say(self, text: str) -> None:
        if not self.console.as_json:
            self.console.say(text)


def _birth(story: Story) -> None:
    story.heading("1. An operator makes a data root for an agent's repository")
    story.show("init", "agent", "--throwaway")
    story.show("status")


def _agent(story: Story) -> None:
    from astra.interfaces.cli import demo_agent

    story.heading("2. The agent connects over MCP (a script plays it) and tries what it may do")
    demo_agent.play(story.world(), story.folder, lambda text: story.say(f"    {text}"))


def _decision(story: Story) -> None:
    story.heading("3. What it may not do alone waits for the operator")
    story.show("approvals")
    (waiting,) = story.answer("approvals")["items"]
    story.show("reject", waiting["id"], "--reason", "not needed today")
    story.show("desires", "list")


def _switches(story: Story) -> None:
    story.heading("4. Nothing but the operator's signature turns code writing on")
    guess = {"ASTRA_OPERATOR_PASSPHRASE": "a guess"}
    story.show("flags", "set", _WRITE, "on", code=1, **guess)
    story.show("flags", "set", _WRITE, "on")
    story.show("flags", "set", _WRITE, "off")


def _stop(story: Story) -> None:
    story.heading("5. One command ends everything the agent runs; only a signature starts again")
    story.show("stop", "--now")
    story.show("tools", "call", "run_in_sandbox", '{"command": ["true"]}', code=1)
    story.show("start")


def _crash(story: Story) -> None:
    story.heading(f"6. The daemon is killed {_KILLS} times; what was acknowledged stays")
    acknowledged = 0
    for _ in range(_KILLS):
        acknowledged = story.answer("flags", "set", _WRITE, "off")["sequence"]
        os.kill(story.answer("status")["daemon"]["pid"], signal.SIGKILL)
    story.show("ledger", "tail", "--count", "3")
    records = story.answer("ledger", "verify")["records"]
    if records < acknowledged:
        raise AstraError("an acknowledged record was lost", next_step="report this")


def _tamper(story: Story) -> None:
    story.heading("7. Somebody changes one byte of the record: verification names it")
    story.astra("down")
    (segment,) = (story.folder / "data" / "var" / "ledger").glob("*.ndjson")
    original = segment.read_bytes()
    segment.write_bytes(original.replace(b'"on":true', b'"on":True', 1))
    story.show("ledger", "verify", code=1)
    segment.write_bytes(original)


def _ending(story: Story) -> dict[str, Any]:
    story.heading("8. The byte is put back, and the record is whole")
    story.show("ledger", "verify")
    return story.answer("ledger", "verify")


def _make_target(folder: Path) -> None:
    folder.mkdir()
    (folder / "agent.py").write_text('def greet() -> str:\n    return "hello"\n')
    identity = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True, stdin=subprocess.DEVNULL)
