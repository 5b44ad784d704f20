"""From a desire to a deployed change with a real model, measured: `make autonomy`.

Each story begins with a fresh data root on the example server: a wish is recorded and adopted as a
goal with its plan, the model writes the change, its tests run, a scripted operator signs the diff
with its deployment, and the deployed server is asked whether it does what was wished for. The
operator signs what it is asked for and nothing else: no path is consented to, no failed test
overridden.

    python benchmarks/autonomy/run.py                       # serves the small model
    QUIXBUGS=folder AUTONOMY_MINUTES=60 python benchmarks/… # and the bugs of a copy of QuixBugs
    ASTRA_MODEL=name ASTRA_MODEL_BASE_URL=http://… [AUTONOMY_MODEL_KEY=…] python benchmarks/…
    CODER=mini-swe-agent make autonomy                      # by a coding agent of somebody else's

There a plan with one change of code takes the place of the goal; the rest is the same.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from coders import find_command, write_plan, write_settings  # noqa: E402 - beside this file
from quixbugs import list_bugs  # noqa: E402
from recording import Player, Recorder  # noqa: E402
from report import Outcome, keep_outcome, name_run, write_report  # noqa: E402
from stories import STORIES, Story  # noqa: E402

PROJECT = HERE.parents[1]
EXAMPLE = PROJECT / "examples" / "agent_server"
CACHE = PROJECT / ".venv-autonomy"
TAPES = HERE / "tapes"
MODEL_NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
PLUGINS = "-p no:cacheprovider -p pytest_timeout --timeout=60"
ENDS = {"satisfied", "abandoned", "failed"}
PLAN_ENDS = {"completed", "aborted", "rejected", "plan_failed", "paused"}
SETTLED = "deployment_settled"
DEPLOYMENT_ENDS = {SETTLED, "deployment_failed", "deployment_declined"}
CONFIGURATION = """
[target]
branch = "trunk"
test_command = "{python} -m pytest -q --disable-plugin-autoload {plugins} {tests}"
test_paths = ["{tests}/", "tests/", "json_testcases/"]
mutation_seconds = 20

[app]
command = "/usr/bin/python3 -m agent_server"
health_path = "/healthz"
watch_seconds = 1

[app.permissions]
network = "host"

[model]
silence_seconds = 3000
call_seconds = 7200
output_tokens = 700
context_tokens = 8192

[[methods]]
name = "change_and_deploy"
task = "achieve"
when = ["code_write", "app"]
cost = 1

[[methods.subtasks]]
id = "change"
task = "CODE_MODIFY"
arguments = {{ instruction = "${{text}}" }}

[[methods.subtasks]]
id = "deploy"
task = "DEPLOY"
after = ["change"]
arguments = {{ change = "${{change.change}}" }}
"""


class Astra:
    """The command line on a data root of its own, with a throwaway operator."""

    def __init__(self, folder: Path, model: str, url: str) -> None:
        self.folder, self.root = folder, folder / "data"
        self.signatures = 0
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "AGENT_DATA_ROOT": str(self.root),
            "ASTRA_OPERATOR_PASSPHRASE": "a passphrase of a throwaway root",
            "ASTRA_MODEL": model,
            "ASTRA_MODEL_BASE_URL": url,
        }

    def call(self, *words: str | Path) -> Any:
        done = subprocess.run(
            [PROJECT / ".venv" / "bin" / "astra", *words, "--json"],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise RuntimeError(f"{words}: {done.stdout[-500:]}{done.stderr[-500:]}") from None

    def sign(self, *words: str | Path) -> Any:
        self.signatures += 1
        return self.call(*words)


def main() -> None:
    coder = os.environ.get("CODER", "")
    ends = time.monotonic() + 60 * float(os.environ.get("AUTONOMY_MINUTES", "60"))
    with serve_model() as (model, url, key):
        for story in chosen_stories():
            if time.monotonic() > ends:
                sys.stderr.write(f"{story.name}: the time is over, it was not begun\n")
                break
            with Recorder(url, key) as recorder:
                outcome = live(story, model, recorder, command=find_coder(coder, story))
            keep_outcome(CACHE / "outcomes.json", name_run(model, coder), outcome)
            if story in STORIES and not coder:
                keep_tape(story, recorder)
            write_report(CACHE / "outcomes.json", model)
            sys.stderr.write(f"{story.name}: {'passed' if outcome.passed else outcome.why}\n")


def find_coder(name: str, story: Story) -> str:
    """Give the command of the coding agent that is measured; the built-in coder has none."""
    return find_command(name, PROJECT, list_writable(story)) if name else ""


def list_writable(story: Story) -> list[str]:
    """List the files that an agent is told of and may change."""
    package = EXAMPLE / "agent_server"
    theirs = [f"agent_server/{path.name}" for path in sorted(package.glob("*.py"))]
    return [story.may_touch] if story.may_touch else theirs


def keep_tape(story: Story, recorder: Recorder) -> None:
    if not os.environ.get("AUTONOMY_KEEP_TAPES"):
        TAPES.mkdir(exist_ok=True)
        tape = json.dumps(recorder.tape, indent=1, ensure_ascii=False)
        (TAPES / f"{story.name}.json").write_text(tape + "\n")


def chosen_stories() -> list[Story]:
    """Give the stories and, where a copy of QuixBugs is named, its bugs; or those asked for."""
    folder = os.environ.get("QUIXBUGS", "")
    stories = [*STORIES, *(list_bugs(Path(folder)) if folder else ())]
    names = os.environ.get("AUTONOMY_STORIES", "").split(",")
    return [story for story in stories if names == [""] or story.name in names]


@contextlib.contextmanager
def serve_model() -> Iterator[tuple[str, str, str]]:
    """Give the model that the environment names, or serve the small one."""
    if url := os.environ.get("ASTRA_MODEL_BASE_URL"):
        yield os.environ["ASTRA_MODEL"], url, os.environ.get("AUTONOMY_MODEL_KEY", "")
        return
    python = CACHE / "bin" / "python"
    script = PROJECT / "scripts" / "autonomy_server.py"
    with subprocess.Popen(
        [str(python), str(script), str(CACHE / f"{MODEL_NAME}.gguf")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # the kernel shares the machine by sessions
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield MODEL_NAME, server.stdout.readline().strip(), ""
        server.stdin.close()


def live(story: Story, model: str, tape: Recorder | Player, *, command: str = "") -> Outcome:
    """Live a story from the wish to the deployed server; an end in words is an end, too.

    With a command it is a coding agent's, and the wish is a plan's.
    """
    outcome = Outcome(story=story.name, wish=story.wish)
    folder = Path(tempfile.mkdtemp(prefix="autonomy-"))
    astra = Astra(folder, model, tape.url)
    began = time.monotonic()
    try:
        prepare(astra, story, write_settings(command) if command else "")
        before = read_files(folder)
        run_story(astra, story, outcome, by_plan=bool(command))
        outcome.harmful = count_harmful(before, read_files(folder))
        outcome.ledger = read_ledger(astra)
    finally:
        astra.call("down")
        shutil.rmtree(folder, ignore_errors=True)
    outcome.seconds = round(time.monotonic() - began, 1)
    outcome.signatures = astra.signatures
    if isinstance(tape, Recorder):
        outcome.calls = len(tape.tape)
        outcome.model_seconds = sum(item["seconds"] for item in tape.tape)
        outcome.tokens = sum(
            item["answer"].get("usage", {}).get("total_tokens", 0) for item in tape.tape
        )
    return outcome


def prepare(astra: Astra, story: Story, settings: str = "") -> None:
    """Make the target with the story's test, sign its settings, and let code be written."""
    for name in ("home", "config"):
        (astra.folder / name).mkdir()
    target = astra.folder / "target"
    shutil.copytree(
        EXAMPLE, target, ignore=shutil.ignore_patterns("__pycache__", "state", "static")
    )
    for path, text in story.list_files().items():
        (target / path).parent.mkdir(exist_ok=True)
        (target / path).write_text(text)
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    for words in (["init", "-qb", "trunk"], ["add", "-A"], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=target, check=True)
    astra.call("init", target, "--throwaway")
    (astra.root / "astra.toml").write_text(
        CONFIGURATION.format(python=sys.executable, plugins=PLUGINS, tests=story.tests_folder)
        + settings
    )
    astra.call("config", "sign")
    astra.call("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")


def run_story(astra: Astra, story: Story, outcome: Outcome, *, by_plan: bool = False) -> None:
    change = change_by_plan(astra, story, outcome) if by_plan else change_by_goal(astra, outcome)
    if change is None:
        return
    outcome.diff = str(astra.call("changes", "diff", change).get("diff", ""))
    if story.may_touch and outcome.diff.count("diff --git") != outcome.diff.count(
        f"diff --git a/{story.may_touch} "
    ):
        outcome.why = f"the change touches more than {story.may_touch}: not signed"
        return
    outcome.stopped_at = "deployment"
    astra.sign("approve", change, "--deploy")
    outcome.why = wait_for_release(astra) if by_plan else wait_for_goal(astra)
    if outcome.why:
        return
    outcome.stopped_at = "behaviour"
    port = astra.call("status")["app"]["port"]
    outcome.passed = story.holds(lambda path: fetch(port, path), lambda p, d: fetch(port, p, d))
    outcome.stopped_at = "" if outcome.passed else "behaviour"
    outcome.why = "" if outcome.passed else "the deployed server does not do what was wished for"


def change_by_goal(astra: Astra, outcome: Outcome) -> Any:
    """Have the built-in coder write the change, for a goal that one signature adopts."""
    outcome.stopped_at = "desire"
    desire = astra.call("desires", "record", outcome.wish)["id"]
    outcome.stopped_at = "goal"
    astra.sign("goals", "adopt", "--desire", desire)
    goal = find_goal(astra)
    outcome.stopped_at = "change"
    return wait_for(lambda: find_change(astra, outcome, lambda: find_goals_end(astra, goal)))


def change_by_plan(astra: Astra, story: Story, outcome: Outcome) -> Any:
    """Have the configured coding agent write the change, under a plan that one signature allows."""
    outcome.stopped_at = "plan"
    file = astra.folder / "plan.json"
    file.write_text(json.dumps(write_plan(story.wish, list_writable(story))))
    plan = astra.call("plans", "draft", "--file", file)["id"]
    astra.sign("plans", "approve", plan)
    outcome.stopped_at = "change"
    return wait_for(lambda: find_change(astra, outcome, lambda: find_plans_end(astra, plan)))


def find_goal(astra: Astra) -> str:
    return wait_for(lambda: astra.call("goals", "list")["items"])[0]["id"]


def find_goals_end(astra: Astra, goal: str) -> str:
    """Say why a goal will make no change any more, in its own words, or nothing."""
    shown = astra.call("goals", "show", goal)
    if shown["state"] not in ENDS and not shown.get("held"):
        return ""
    failed = [task for task in shown["tasks"] if task.get("detail")]
    return failed[0]["detail"] if failed else str(shown.get("why") or shown["held"])


def find_plans_end(astra: Astra, plan: str) -> str:
    """Say why a plan will make no change any more, in its own words, or nothing."""
    shown = astra.call("plans", "show", plan)
    is_over = shown["state"] in PLAN_ENDS or shown["state"].startswith("blocked_")
    results = [step["result"] for step in shown["steps_taken"] if step.get("result")]
    return f"{shown['state']}: {[shown['reason'], *results][-1]}" if is_over else ""


def wait_for_release(astra: Astra) -> str:
    """Wait until the change is in service; gives why it is not, or nothing."""

    def list_ends() -> list[dict[str, Any]]:
        records = astra.call("ledger", "tail", "--count", "1000")["items"]
        return [item for item in records if item["type"] in DEPLOYMENT_ENDS]

    end = wait_for(list_ends)[-1]
    reason = end["data"].get("reason") or end["data"].get("why") or "no reason was recorded"
    return "" if end["type"] == SETTLED else f"{end['type']}: {reason}"


def wait_for_goal(astra: Astra) -> str:
    """Wait until the goal has ended; gives why it was not reached, or nothing."""
    goal = find_goal(astra)
    shown = wait_for(lambda: find_end(astra, goal))
    is_reached = shown["state"] == "satisfied" or _all_succeeded(shown)
    return "" if is_reached else str(shown.get("why") or shown["state"])


def find_change(astra: Astra, outcome: Outcome, find_end: Callable[[], str]) -> Any:
    """Find a change that waits for its signature; None ends the story, `why` says how."""
    end = find_end()  # before the changes are read: an end right after its change is no end
    changes = astra.call("changes", "list")["items"]
    outcome.tries = len(changes)
    for change in changes:
        if change["state"] == "awaiting_approval":
            return change["id"]
    outcome.why = end
    return None if end else False


def _all_succeeded(goal: dict[str, Any]) -> bool:
    """Tell a goal that has nothing left to do: without criteria a person calls it satisfied."""
    return all(task["state"] == "succeeded" for task in goal["tasks"])


def find_end(astra: Astra, goal: str) -> Any:
    shown = astra.call("goals", "show", goal)
    return shown if shown["state"] in ENDS or shown.get("held") else False


def wait_for(condition: Callable[[], Any], *, seconds: float = 5_400.0) -> Any:
    """Wait until a condition gives something other than False or an empty list."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value is None or value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError("it took longer than an hour and a half")
        time.sleep(5.0)  # each look starts a command


def fetch(port: int, path: str, document: dict[str, str] | None = None) -> tuple[int, str]:
    data = json.dumps(document).encode() if document is not None else None
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}{path}", data), timeout=30) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def read_files(folder: Path) -> dict[str, bytes]:
    """Read what the agent must not touch: the target's repository and the signed settings."""
    files = [*(folder / "target").rglob("*"), folder / "data" / "astra.toml"]
    return {
        str(path): path.read_bytes()
        for path in files
        if path.is_file() and ".git/" not in str(path)
    }


def count_harmful(before: dict[str, bytes], after: dict[str, bytes]) -> int:
    paths = before.keys() | after.keys()
    return sum(before.get(path) != after.get(path) for path in paths)


def read_ledger(astra: Astra) -> list[str]:
    verified = astra.call("ledger", "verify")["ok"]
    records = astra.call("ledger", "tail", "--count", "1000")["items"]
    skipped = ("tool_", "budget", "flow_", "notification")
    types = [item["type"] for item in records if not item["type"].startswith(skipped)]
    return [*types, f"(the chain {'verifies' if verified else 'DOES NOT VERIFY'})"]


if __name__ == "__main__":
    main()
