"""The mixed work of a soak, and the model of what must hold whatever happens meanwhile.

Workers remember what they were told. What was acknowledged has to be in the chain exactly once,
what was refused may not be there, and what was lost may be there once.
"""

import json
import random
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astra.interfaces.cli.client import Client
from astra.trusted.kernel.errors import AstraError
from astra.trusted.settings.environment import FLAGS
from deploying import PLAIN, PYTHON, SERVER
from driver import Astra

IDENTITY = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
CONFIGURATION = f"""
[target]
branch = "trunk"

[app]
command = "{PYTHON} app.py"
health_path = "/healthz"
watch_seconds = 1

[app.permissions]
network = "host"
"""
SICK = (
    SERVER
    + """
class Sick(Answer):
    def status(self):
        return 500

Server(Sick).serve_forever()
"""
)
UNKNOWN = frozenset({"daemon_unavailable", "ledger_uncertain", "uncertain"})
"""Codes after which nobody knows whether it happened."""
SPENT = "budget_spent"
REFUSALS = frozenset(
    {
        SPENT,
        "busy",
        "data_root_unwritable",
        "disk_low",
        "index_unavailable",
        "ledger_error",
        "ledger_unavailable",
        "no_data_root",
        "server_busy",
    }
)
"""Codes that a fault of the machine or a day's budget explains; nothing happened."""


@dataclass(kw_only=True)
class Worker:
    astra: Astra
    dice: random.Random
    may_work: threading.Event
    """Not set while a fault needs a moment without any work."""
    acknowledged: int = 0
    answered: int = 0
    """How often the server answered in its own right, if only with a spent budget."""
    is_working: bool = False
    """Whether a step is under way; told before `may_work` is asked, so that none slips through."""
    surprises: Counter[str] = field(default_factory=Counter[str])
    codes: Counter[str] = field(default_factory=Counter[str])

    def work(self, over: threading.Event) -> None:
        while not over.is_set():
            self.may_work.wait(1)
            self.is_working = True
            try:
                if self.may_work.is_set():
                    self.take_step()
            except AstraError as error:
                self.note_error(error.reason, error.detail)
            finally:
                self.is_working = False
            over.wait(self.dice.uniform(0.0, 0.2))

    def take_step(self) -> None:
        raise NotImplementedError

    def note_success(self) -> None:
        self.acknowledged += 1
        self.answered += 1

    def note_error(self, code: str, detail: str) -> None:
        self.codes[code] += 1
        self.answered += code == SPENT
        if code not in UNKNOWN | REFUSALS:
            self.surprises[f"{type(self).__name__}: {code}: {detail}"] += 1


@dataclass(kw_only=True)
class FlagWorker(Worker):
    """Turns flags off, which is taken even on a full disk, and remembers the records."""

    records: dict[int, str] = field(default_factory=dict[int, str])
    unsure: int = 0

    def take_step(self) -> None:
        flag = self.dice.choice(sorted(set(FLAGS) - {"PERSONA_MODE_ENABLED"}))
        try:
            answer = Client(self.astra.root).post("/api/flags", {"name": flag, "on": False})
        except AstraError as error:
            self.unsure += error.reason in UNKNOWN
            raise
        self.records[answer["sequence"]] = flag
        self.note_success()


@dataclass(kw_only=True)
class NoteWorker(Worker):
    """Has a tool write files, each once and under a name of its own."""

    names: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    count: int = 0

    def take_step(self) -> None:
        self.count += 1
        name = f"soak-{self.count}.md"
        arguments = {"path": name, "content": name}
        try:
            Client(self.astra.root).post("/api/tools/write_file", arguments)
        except AstraError as error:
            if error.reason not in UNKNOWN:
                self.refused.append(name)
            raise
        self.names.append(name)
        self.note_success()


@dataclass(kw_only=True)
class Reader(Worker):
    """Looks at pages; that they are answered at all is what counts."""

    pages: tuple[str, ...] = (
        "/api/status",
        "/api/inbox",
        "/api/ledger",
        "/api/tasks",
        "/api/schedules",
        "/api/deployments",
    )

    def take_step(self) -> None:
        Client(self.astra.root).get(self.dice.choice(self.pages))
        self.note_success()


@dataclass(kw_only=True)
class Deployer(Worker):
    """Puts good and sick apps on the trusted branch in turn, and has them deployed."""

    work_tree: Path
    base: str
    sick_commits: set[str] = field(default_factory=set[str])
    count: int = 0

    def take_step(self) -> None:
        self.count += 1
        self.deploy(is_sick=self.dice.random() < 0.3)

    def deploy(self, *, is_sick: bool) -> None:
        commit = self.commit((SICK if is_sick else PLAIN) + f"# {self.count}\n")
        if is_sick:
            self.sick_commits.add(commit)
        done = self.astra.run("deploy", "--json")
        if "Traceback" in done.stderr + leave_out_app_output(done.stdout):
            self.surprises[f"deploy: {done.stderr[-600:]}\n{done.stdout[-1200:]}"] += 1
            return
        answer = json.loads(done.stdout or done.stderr or "{}")
        if "deployment" in answer:
            self.note_success()
        else:
            self.codes[str(answer.get("code"))] += 1

    def commit(self, app: str) -> str:
        """Put an app on the branch; none has another behind it, which may be quarantined."""
        reset = ["git", "reset", "-q", "--hard", self.base]
        subprocess.run(reset, cwd=self.work_tree, check=True)
        (self.work_tree / "app.py").write_text(app)
        for words in (["add", "-A"], ["commit", "-qm", "an app"]):
            subprocess.run(["git", *IDENTITY, *words], cwd=self.work_tree, check=True)
        push = ["git", "push", "-q", "--force", "origin", "HEAD:trunk"]
        subprocess.run(push, cwd=self.work_tree, check=False, capture_output=True)
        head = ["git", "rev-parse", "HEAD"]
        return subprocess.check_output(head, cwd=self.work_tree, text=True).strip()


def leave_out_app_output(stdout: str) -> str:
    """Give an answer without what the app printed, which may be a traceback of the app's own."""
    try:
        answer = json.loads(stdout)
    except ValueError:
        return stdout
    (answer.get("deployment") or {}).pop("output", None)
    return json.dumps(answer)


# What must hold


def examine(astra: Astra, workers: list[Worker]) -> list[str]:
    """Compare what the workers were told with the chain; gives what does not hold."""
    violations = [surprise for worker in workers for surprise in worker.surprises]
    if not astra.json("ledger", "verify")["ok"]:
        violations.append("the chain does not verify")
    check = astra.json("ledger", "rebuild", "--check")
    if not check["same"]:
        violations.append(f"the index differs: {check['differences']}")
    lines = astra.run("ledger", "export").stdout.splitlines()
    records = [json.loads(line) for line in lines]
    if [record["sequence"] for record in records] != list(range(1, len(records) + 1)):
        violations.append("records are missing or twice in the chain")
    for worker in workers:
        if isinstance(worker, FlagWorker):
            violations += examine_flags(worker, records)
        elif isinstance(worker, NoteWorker):
            violations += examine_notes(worker, records)
        elif isinstance(worker, Deployer):
            violations += examine_deployments(worker, astra)
    return violations + examine_keys(records)


def examine_flags(worker: FlagWorker, records: list[dict[str, Any]]) -> list[str]:
    chain_flags = {item["sequence"]: item["data"] for item in records if item["type"] == "flag_set"}
    return [
        f"record {sequence} was acknowledged and is not in the chain as it was said"
        for sequence, flag in worker.records.items()
        if chain_flags.get(sequence) != {"flag": flag, "on": False}
    ]


def examine_notes(worker: NoteWorker, records: list[dict[str, Any]]) -> list[str]:
    """Every acknowledged call began once, ended once and left its file; a refused one nothing."""
    starts = Counter(
        str(item["data"]["arguments"].get("path"))
        for item in records
        if item["type"] == "tool_started" and item["data"].get("tool") == "write_file"
    )
    folder = worker.astra.root / "persona_space"
    violations = [
        f"{name} was written and never began" for name in worker.names if not starts[name]
    ]
    violations += [f"{name} began {count} times" for name, count in starts.items() if count > 1]
    violations += [f"{name} was refused and began" for name in worker.refused if starts[name]]
    for name in worker.names:
        files = list(folder.rglob(name))
        if [path.read_text() for path in files] != [name]:
            violations.append(f"{name} was acknowledged and is not there")
    return violations


def examine_deployments(worker: Deployer, astra: Astra) -> list[str]:
    """Every deployment came to an end, and no sick release was settled."""
    deployments = Client(astra.root).get("/api/deployments", limit=200)["items"]
    violations = [
        f"deployment {item['id']} is still {item['state']}"
        for item in deployments
        if item["state"] in {"requested", "built", "switched", "rolling_back"}
    ]
    return violations + [
        f"the sick release {item['release']} was settled"
        for item in deployments
        if item["state"] == "settled" and item["commit"] in worker.sick_commits
    ]


def examine_keys(records: list[dict[str, Any]]) -> list[str]:
    keys = Counter(record["key"] for record in records if record.get("key"))
    return [f"the key {key} was claimed {count} times" for key, count in keys.items() if count > 1]
