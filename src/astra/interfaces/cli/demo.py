"""`astra demo`: a guided story on a throwaway data root. Every step is the real command."""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from astra.interfaces.cli import demo_agent, demo_target
from astra.interfaces.cli.console import Console
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import AstraError

_WRITE = "ASTRA_CODE_WRITE_ENABLED"
_PATIENCE = 300.0
_OVER = ("settled", "failed", "rolled_back", "rollback_failed")


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=run_demo)


def run_demo(context: Context) -> None:
    folder = Path(tempfile.mkdtemp(prefix="astra-demo-"))
    story = Story(folder, context.console)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, story.ending.note)
    try:
        demo_target.make_repository(folder / "agent")
        _make_data_root(story)
        _agent_looks(story)
        _sign_contract(story)
        _first_release(story)
        _good_change(story)
        _bad_change(story)
        _stop_agent(story)
        _tamper_with_ledger(story)
        verified = _verify_ledger(story)
        if sys.stdout.isatty() and not context.console.as_json:
            _serve_dashboard(story)
    finally:
        with story.ending.hold():
            story.run_astra("down")
            shutil.rmtree(folder, ignore_errors=True)
    context.console.print_result(verified)


class Ending:
    """Ends the demo at a signal: at once, or after what may not be broken off; a second one does.

    A closed terminal leaves nothing running then, as Ctrl-C does.
    """

    def __init__(self) -> None:
        self._holds, self._asked = 0, 0

    def note(self, number: int, _frame: object) -> None:
        again, self._asked = bool(self._asked), number
        if again or not self._holds:
            self._end()

    @contextmanager
    def hold(self) -> Generator[None]:
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if self._asked and not self._holds:
                self._end()

    def _end(self) -> NoReturn:
        number, self._asked = self._asked, 0
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)


@dataclass
class Story:
    """Runs real commands in a world of its own and shows them to whoever watches."""

    folder: Path
    console: Console
    ending: Ending = field(default_factory=Ending, kw_only=True)

    def print_heading(self, text: str) -> None:
        self.say(f"\n{self.console.paint(text, 'bold')}")

    def show(self, *words: str, code: int = 0, **environment: str) -> None:
        """Run a command, print it and what it said."""
        settings = [f"{name}={value}" for name, value in environment.items()]
        self.say(f"  {self.console.paint(' '.join(['$', *settings, 'astra', *words]), 'dim')}")
        process = self.run_astra(*words, **environment)
        for line in (process.stderr + process.stdout).strip("\n").splitlines():  # as they came
            self.say(f"    {line}")
        if process.returncode != code:
            raise AstraError(
                f"`astra {' '.join(words)}` ended with {process.returncode}, not {code}",
                next_step="run `astra doctor`",
            )

    def run_json(self, *words: str) -> dict[str, Any]:
        return json.loads(self.run_astra(*words, "--json").stdout)

    def build_environment(self) -> dict[str, str]:
        """Give the environment in which this story happens."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "operator"),
            "AGENT_DATA_ROOT": str(self.folder / "data"),
            "ASTRA_OPERATOR_PASSPHRASE": "a throwaway passphrase",
        }

    def run_astra(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        with self.ending.hold():  # what it starts would be left
            return subprocess.run(
                [sys.executable, "-I", "-m", "astra.interfaces.cli.main", *words],
                env={**self.build_environment(), **environment},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )

    def play_agent(self, script: demo_agent.Script) -> dict[str, Any]:
        environment = self.build_environment()
        with self.ending.hold():  # its relay, left alone, would start the daemon again
            return demo_agent.play(
                environment, self.folder, lambda text: self.say(f"    {text}"), script
            )

    def propose_and_wait(self, script: demo_agent.Script) -> str:
        """Let the agent propose, and wait until the evidence is there."""
        change = str(self.play_agent(script)["id"])
        self.wait_until(
            lambda: self.run_json("changes", "show", change)["state"] == "awaiting_approval"
        )
        return change

    def find_app_port(self) -> int:
        return int(self.run_json("status")["app"]["port"])

    def wait_for_deployment(self) -> None:
        """Wait until the deployment that an approval brought is over."""
        self.wait_until(
            lambda: bool(self.run_json("status")["app"]["deployment"]["state"] in _OVER)
        )

    def wait_until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not reached():
            if time.monotonic() > deadline:
                raise AstraError("the demo waited in vain", next_step="run `astra doctor`")
            time.sleep(0.3)

    def report_visitors(self, visitors: demo_target.Visitors) -> None:
        self.say(
            f"    {visitors.answered} requests were answered meanwhile, {len(visitors.lost)} lost"
        )
        for greeting in sorted(visitors.greetings):
            self.say(f"    people heard: {greeting}")
        if visitors.lost:
            raise AstraError(f"a request was lost: {visitors.lost[0]}", next_step="report this")

    def run_daemon(self) -> None:
        """Run the daemon with its pages in the foreground, on a free port, until Ctrl-C."""
        command = [sys.executable, "-I", "-m", "astra.interfaces.cli.main", "up", "--port", "0"]
        daemon = subprocess.Popen(
            command, env=self.build_environment(), cwd=self.folder
        )  # ends by `down`
        try:
            daemon.wait()
        except KeyboardInterrupt:
            daemon.wait()

    def say(self, text: str) -> None:
        if not self.console.as_json:
            self.console.say(text)


def _make_data_root(story: Story) -> None:
    story.print_heading("1. An operator makes a data root for an agent's repository")
    story.show("init", "agent", "--throwaway")


def _agent_looks(story: Story) -> None:
    story.print_heading(
        "2. The agent connects over MCP (a script plays it) and tries what it may do"
    )
    story.play_agent(demo_agent.LOOKING)
    story.show("desires", "list")


def _sign_contract(story: Story) -> None:
    story.print_heading(
        "3. The operator signs what the agent's server may do, and turns code writing on"
    )
    text = demo_target.build_configuration()
    (story.folder / "data" / "astra.toml").write_text(text)
    for line in text.splitlines():
        story.say(f"    {line}")
    story.show("config", "sign")
    guess = {"ASTRA_OPERATOR_PASSPHRASE": "a guess"}
    story.show("flags", "set", _WRITE, "on", code=1, **guess)
    story.show("flags", "set", _WRITE, "on")


def _first_release(story: Story) -> None:
    story.print_heading("4. The server goes into service, in a box of its own")
    story.show("deploy")
    story.show("releases")


def _good_change(story: Story) -> None:
    story.print_heading("5. The agent proposes a change; it is scanned and tested in the sandbox")
    change = story.propose_and_wait(demo_agent.PROPOSING)
    story.show("changes", "show", change)
    story.show("changes", "diff", change)
    story.print_heading(
        "6. The operator approves exactly that, with the deploy, while people use the app"
    )
    with demo_target.Visitors(story.find_app_port()) as visitors:
        story.show("changes", "approve", change, "--deploy")
        story.wait_for_deployment()
    story.report_visitors(visitors)
    story.show("releases")


def _bad_change(story: Story) -> None:
    story.print_heading(
        "7. The agent proposes something that passes its tests and fails in service"
    )
    change = story.propose_and_wait(demo_agent.AGAIN)
    story.show("changes", "show", change)
    with demo_target.Visitors(story.find_app_port()) as visitors:
        story.show("changes", "approve", change, "--deploy", code=1)
        story.wait_for_deployment()
    story.print_heading("8. It was taken back by itself; nobody had to be awake")
    story.report_visitors(visitors)
    story.show("releases")
    story.show("changes", "list")
    story.show("deploy", code=1)


def _stop_agent(story: Story) -> None:
    story.print_heading(
        "9. One command ends everything the agent runs; only a signature starts again"
    )
    story.show("stop", "--now")
    story.show("tools", "call", "run_in_sandbox", '{"command": ["true"]}', code=1)
    story.show("start")


def _tamper_with_ledger(story: Story) -> None:
    story.print_heading("10. Somebody changes one byte of the record: verification names it")
    story.run_astra("down")
    (segment,) = (story.folder / "data" / "var" / "ledger").glob("*.ndjson")
    original = segment.read_bytes()
    segment.write_bytes(original.replace(b'"on":true', b'"on":True', 1))
    story.show("ledger", "verify", code=1)
    segment.write_bytes(original)


def _verify_ledger(story: Story) -> dict[str, Any]:
    story.print_heading("11. The byte is put back; this is the story of the change that failed")
    (failed,) = story.run_json("changes", "list", "--state", "rolled_back")["items"]
    story.show("ledger", "story", failed["id"])
    story.show("ledger", "verify")
    return story.run_json("ledger", "verify")


def _serve_dashboard(story: Story) -> None:
    story.print_heading("12. Now you: the agent asks again, and what becomes of it is yours to say")
    change = story.propose_and_wait(demo_agent.ONCE_MORE)
    for line in describe_second_terminal(story.build_environment(), change):
        story.say(line)
    story.run_astra("down", "--keep-app")
    story.run_daemon()


def describe_second_terminal(environment: dict[str, str], change: str) -> list[str]:
    """Give what a person types elsewhere to decide: the demo's world, then the real commands."""
    names = ("AGENT_DATA_ROOT", "XDG_CONFIG_HOME", "ASTRA_OPERATOR_PASSPHRASE")
    exports = [f"    export {name}={shlex.quote(environment[name])}" for name in names]
    program = shlex.quote(str(Path(sys.executable).parent))
    return [
        "  In a second terminal, paste this, which has the passphrase in it:",
        f"    export PATH={program}:$PATH",
        *exports,
        "  Then decide, in the terminal or on the page:",
        f"    astra review {change}",
        "    astra passkeys enroll --name demo   # afterwards you can approve on the page",
        "  The page: open the link below. Ctrl-C here ends everything and leaves nothing behind.",
    ]
