"""`make cluster`: several machines on this one. One Postgres, two daemons, three workers, one app.

Every machine is a data folder of its own, with processes of its own; nothing is installed and no
container is used. A change is tested by a worker and released in waves; another one fails on one
instance only, and takes itself back on all of them; the daemon that leads is killed, and the other
one leads. Whatever happens, also Ctrl-C, nothing is left running and nothing is left on disk.

    python scripts/cluster.py
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from astra.interfaces.cli import demo_target
from astra.interfaces.cli.console import Console
from astra.interfaces.cli.demo import Story
from astra.trusted.kernel.errors import AstraError
from postgres_server import DAEMON, OWNER, PostgresServer

LABELS = ("web-1", "web-2", "web-3")
API = "agent_server/api.py"
MAIN = "agent_server/__main__.py"
OLD_GREETING, NEW_GREETING = "Hello from the agent", "Hello from three machines"
FORMAT = "format-of-the-state"
OPENING = "    state = State(folder)\n"
BREAKING = (
    f'    if (folder / "{FORMAT}").exists():\n'
    '        raise SystemExit("this state is in a format that this version cannot read")\n'
    f"{OPENING}"
)
_PATIENCE = 600.0


def main() -> int:
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup
            signal.signal(ending, _exit_on_signal)
    console = Console(as_json=False)
    try:
        with open_cluster(console) as cluster:
            tell_story(cluster)
    except AstraError as error:
        console.print_error(error)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    console.say("\nok: nothing is left running, and nothing on disk")
    return 0


@dataclass
class Machine(Story):
    """One machine of the cluster: a data folder of its own, and the keys of the same operator."""

    name: str = ""
    extra: dict[str, str] = field(default_factory=dict[str, str])
    process: subprocess.Popen[bytes] | None = None
    """Its daemon or its worker, once it was started."""

    def build_environment(self) -> dict[str, str]:
        return {**super().build_environment(), **self.extra}

    @property
    def root(self) -> Path:
        return self.folder / "data"

    def say(self, text: str) -> None:
        super().say(text.replace("$ astra", f"{self.name} $ astra"))

    def show_briefly(self, *words: str, code: int = 0) -> None:
        """Run a command and print what came of it, without all that the operator reads before."""
        self.say(f"  {self.console.paint(' '.join(['$ astra', *words]), 'dim')}")
        process = self.run_astra(*words)
        _require(process.returncode == code, f"{process.stdout}\n{process.stderr}")
        errors = [line for line in process.stderr.splitlines() if line.startswith("error: ")]
        for line in (*process.stdout.splitlines(), *errors):
            self.say(f"    {line}")

    def require_running(self) -> bool:
        """Say what a daemon or a worker printed before it ended, if it did."""
        is_over = self.process is not None and self.process.poll() is not None
        _require(not is_over, f"{self.name} ended: {(self.folder / 'output').read_text()[-2000:]}")
        return True

    def start(self, *words: str) -> None:
        """Start a daemon or a worker; in a session of its own, so that Ctrl-C is not for it."""
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-m", "astra.interfaces.cli.main", *words],
                env=self.build_environment(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )


@dataclass
class Cluster:
    folder: Path
    console: Console
    server_folder: Path
    server: PostgresServer | None = None
    machines: dict[str, Machine] = field(default_factory=dict[str, Machine])

    @property
    def first(self) -> Machine:
        return self.machines["one"]

    @property
    def second(self) -> Machine:
        return self.machines["two"]

    def add_machine(self, name: str) -> Machine:
        folder = self.folder / name
        folder.mkdir()
        self.machines[name] = Machine(folder, self.console, name)
        return self.machines[name]

    def say(self, text: str) -> None:
        self.console.say(text)

    def head(self, text: str) -> None:
        self.say(f"\n{self.console.paint(text, 'bold')}")


@contextmanager
def open_cluster(console: Console) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="astra-cluster-"))
    # The name of a socket is short, and the server runs as another user where root starts it.
    server_folder = Path(tempfile.mkdtemp(prefix="astra-cluster-pg-", dir="/tmp"))
    cluster = Cluster(folder, console, server_folder)
    try:
        yield cluster
    finally:
        # A second Ctrl-C does not leave half of it running.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_cluster(cluster)


def end_cluster(cluster: Cluster) -> None:
    """End the apps, workers and daemons in their own way, then what is left, then the server."""
    machines = [machine for machine in cluster.machines.values() if machine.root.exists()]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda machine: machine.run_astra("down"), machines))
    for pid in list_processes(cluster.folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if cluster.server is not None:
        cluster.server.remove()
    _wait_for("the last process to end", lambda: not list_processes(cluster.folder))
    for folder in (cluster.folder, cluster.server_folder):
        shutil.rmtree(folder, ignore_errors=True)


def list_processes(folder: Path) -> list[int]:
    """List the processes of this cluster: its folder is in the environment of every one of them."""
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and int(entry.name) != os.getpid()
        and str(folder).encode() in _read_environment(entry)
    ]


def _read_environment(entry: Path) -> bytes:
    with suppress(OSError):
        return (entry / "environ").read_bytes()
    return b""


def tell_story(cluster: Cluster) -> None:
    cluster.say(f"  everything lies below {cluster.folder} and {cluster.server_folder}")
    start_database(cluster)
    make_first_machine(cluster)
    add_machines(cluster)
    start_processes(cluster)
    release_first(cluster)
    release_good_change(cluster)
    release_bad_change(cluster)
    kill_leader(cluster)
    verify_chain(cluster)


def start_database(cluster: Cluster) -> None:
    cluster.head("1. Postgres starts, with a role that owns the chain and one for the daemons")
    cluster.server = server = PostgresServer(options=(), folder=cluster.server_folder)
    with server.connect("postgres", "postgres") as connection:
        connection.execute(f"CREATE DATABASE astra OWNER {OWNER}".encode())
    cluster.say(f"    it listens on a socket in {server.folder} and nowhere else")


def make_first_machine(cluster: Cluster) -> None:
    cluster.head("2. The first machine: a data root, its contract, and its chain moved to Postgres")
    assert cluster.server is not None
    one = cluster.add_machine("one")
    demo_target.make_repository(one.folder / "agent")
    _run_git("init", "--quiet", "--bare", str(cluster.folder / "objects.git"))
    one.show("init", "agent", "--throwaway")
    text = build_configuration(cluster.folder / "objects.git")
    (one.root / "astra.toml").write_text(text)
    for line in text.splitlines():
        cluster.say(f"    {line}")
    one.show("config", "sign")
    one.show("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    one.show("down")
    owner_url = cluster.server.url("astra", OWNER)
    one.show("ledger", "prepare", "--to", owner_url, "--role", DAEMON)
    one.show("ledger", "move", "--to", cluster.server.url("astra", DAEMON))


def build_configuration(objects: Path) -> str:
    """Give what the operator signs: the demo's contract, a fleet, and a way for commits."""
    lines = (
        demo_target.build_configuration().replace("watch_seconds = 5", "watch_seconds = 1"),
        "[ledger]",
        f"objects = {json.dumps(str(objects))}",
        "[deploy.fleet]",
        f"instances = {json.dumps(LABELS)}",
        'waves = ["1", "rest"]',
        "max_down = 2",
        "watch_seconds = 2",
    )
    return "\n".join(lines).replace("[app]", "mutation_seconds = 0\n[app]") + "\n"


def add_machines(cluster: Cluster) -> None:
    cluster.head("3. Four more machines: copies of its data folder, on the same chain")
    assert cluster.server is not None
    one, url = cluster.first, cluster.server.url("astra", DAEMON)
    for name in ("two", *LABELS):
        machine = cluster.add_machine(name)
        for part in ("data", "operator"):
            _copy(one.folder / part, machine.folder / part)
    for machine in cluster.machines.values():
        machine.extra["ASTRA_DATABASE_URL"] = url
    cluster.say(f"    {', '.join(cluster.machines)}: each with a folder below {cluster.folder}")


def start_processes(cluster: Cluster) -> None:
    cluster.head("4. Two daemons and three workers start; each worker holds an instance of the app")
    for name in ("one", "two"):
        cluster.machines[name].start("up", "--no-app", "--port", "0")
        _wait_for(f"the daemon of {name}", lambda started=name: is_serving(cluster, started))
    for label in LABELS:
        cluster.machines[label].start("worker", "--instance", label)
    _wait_for("three workers that are ready", lambda: count_ready(cluster) == len(LABELS))
    cluster.first.show("machines")
    cluster.second.show("workers")


def is_serving(cluster: Cluster, name: str) -> bool:
    machine = cluster.machines[name]
    return machine.require_running() and (machine.root / "var/run/astra.sock").exists()


def count_ready(cluster: Cluster) -> int:
    for machine in cluster.machines.values():
        machine.require_running()
    items = cluster.first.run_json("workers")["items"]
    return sum(item["state"] == "ready" for item in items)


def release_first(cluster: Cluster) -> None:
    cluster.head("5. The app goes out in waves: one instance first, then the others")
    cluster.first.show_briefly("deploy")
    cluster.second.show("releases", "--fleet")
    greet_all(cluster, OLD_GREETING)


def release_good_change(cluster: Cluster) -> None:
    cluster.head("6. A change: a worker runs its tests, the operator signs, and it goes out")
    change = propose(cluster, API, (f'"{OLD_GREETING}"', f'"{NEW_GREETING}"'), "say who we are")
    job = cluster.first.run_json("ledger", "tail", "--type", "job_ended")["items"][0]
    worker = _name_machine(cluster, job["data"]["worker"])
    cluster.say(f"    its tests ran on {worker} and ended as {job['data']['ending']}")
    with demo_target.Visitors(find_port(cluster, LABELS[0])) as visitors:
        cluster.first.show_briefly("changes", "approve", change, "--deploy")
        wait_for_deployment(cluster)
    cluster.first.report_visitors(visitors)
    cluster.second.show("releases", "--fleet")
    greet_all(cluster, NEW_GREETING)


def release_bad_change(cluster: Cluster) -> None:
    cluster.head("7. A change that fails on one machine only: the state there is another")
    (cluster.machines["web-3"].root / "app-state" / FORMAT).touch()
    change = propose(cluster, MAIN, (OPENING, BREAKING), "refuse a state that is not ours")
    with demo_target.Visitors(find_port(cluster, LABELS[0])) as visitors:
        cluster.first.show_briefly("changes", "approve", change, "--deploy", code=1)
        wait_for_deployment(cluster)
    cluster.head("8. It took itself back, also on the instances where it had gone well")
    cluster.first.report_visitors(visitors)
    for sentence in describe_rollout(cluster):
        cluster.say(f"    {sentence}")
    cluster.second.show("releases", "--fleet")
    greet_all(cluster, NEW_GREETING)
    cluster.first.show_briefly("deploy", code=1)


def describe_rollout(cluster: Cluster) -> Iterator[str]:
    """Say what happened on each instance in the newest rollout, in its order."""
    rollout = cluster.first.run_json("releases", "--fleet")["rollout"]
    sentences = {
        "fleet_wave_begun": "wave {number} of {of} began: {names}",
        "fleet_instance_released": "{instance} proved {release}",
        "fleet_instance_failed": "{instance} failed, try {attempt}: {reason}",
        "deployment_failed": "the release was taken back everywhere: {reason}",
    }
    words = ("ledger", "story", rollout["deployment"])
    for record in cluster.first.run_json(*words)["items"]:
        if sentence := sentences.get(record["type"]):
            data = record["data"]
            wave = {
                "number": data.get("wave", 0) + 1,
                "names": ", ".join(data.get("instances", [])),
            }
            yield sentence.format(**{**data, **wave})


def kill_leader(cluster: Cluster) -> None:
    cluster.head("9. The daemon that leads is killed (kill -9): the other one leads")
    leader = find_leader(cluster.first)
    killed, other = ("one", "two") if leader == own_id(cluster.first) else ("two", "one")
    pid = int(cluster.machines[killed].run_json("status")["daemon"]["pid"])
    os.kill(pid, signal.SIGKILL)
    begun = time.monotonic()
    new_leader = own_id(cluster.machines[other])
    _wait_for("another leader", lambda: find_leader(cluster.machines[other]) == new_leader)
    seconds = time.monotonic() - begun
    cluster.say(f"    the daemon of {killed} was killed; {other} led {seconds:.1f} s later")
    cluster.machines[other].show("machines")


def verify_chain(cluster: Cluster) -> None:
    cluster.head("10. One chain, whole, the same at both daemons")
    for name in ("one", "two"):
        cluster.machines[name].show("ledger", "verify")


def propose(cluster: Cluster, path: str, edit: tuple[str, str], reason: str) -> str:
    """Propose one edit of a file as it is on the branch now, and wait for the evidence."""
    one = cluster.first
    text = _run_git("-C", str(one.root / "var" / "git"), "show", f"main:{path}")
    _require(text.count(edit[0]) == 1, f"{edit[0]!r} is not once in {path}")
    draft = one.folder / "draft.py"
    draft.write_text(text.replace(*edit))
    for line in edit[1].splitlines():
        cluster.say(f"      {' ' if line in edit[0].splitlines() else '+'} {line}")
    proposed = one.run_json("changes", "propose", "--edit", f"{path}={draft}", "--reason", reason)
    change = str(proposed["id"])
    _wait_for(
        "the evidence",
        lambda: one.run_json("changes", "show", change)["state"] == "awaiting_approval",
    )
    return change


def wait_for_deployment(cluster: Cluster) -> None:
    """Wait until the rollout that an approval brought is over."""

    def is_over() -> bool:
        rollout = cluster.first.run_json("releases", "--fleet")["rollout"]
        page = cluster.first.run_json("ledger", "tail", "--type", "deployment_requested")
        newest = page["items"][-1]["data"]["deployment"]
        return bool(rollout["phase"] == "over" and rollout["deployment"] == newest)

    _wait_for("the rollout to be over", is_over)


def greet_all(cluster: Cluster, greeting: str) -> None:
    """Ask every instance which greeting it has; all of them have to say the same."""
    for label in LABELS:
        with demo_target.Visitors(find_port(cluster, label)) as visitors:
            _wait_for(f"an answer of {label}", lambda asked=visitors: bool(asked.greetings))
        _require(visitors.greetings == {greeting}, f"{label} says {visitors.greetings}")
        cluster.say(f"    {label} says: {greeting}")


def find_port(cluster: Cluster, label: str) -> int:
    from astra.adapters.supervisor.client import HolderClient

    state = HolderClient(cluster.machines[label].root).state()
    if state is None or state.port is None:
        raise AstraError(f"{label} has no app", next_step="run `make cluster` again")
    return state.port


def find_leader(asked: Machine) -> str:
    items = asked.run_json("machines")["items"]
    return next((item["id"] for item in items if "background" in item["leads"]), "")


def own_id(machine: Machine) -> str:
    return str(machine.run_json("machines")["own"])


def _name_machine(cluster: Cluster, identifier: str) -> str:
    items = cluster.first.run_json("machines")["items"]
    names = {item["id"]: Path(item["name"].split(":", 1)[1]).parent.name for item in items}
    return names.get(identifier, identifier)


def _wait_for(what: str, reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not reached():
        _require(time.monotonic() < deadline, f"waited {_PATIENCE:g} s in vain for {what}")
        time.sleep(0.2)


def _require(holds: bool, trouble: str) -> None:  # noqa: FBT001 - one thing that has to hold
    if not holds:
        raise AstraError(trouble, next_step="run `make cluster` again, and report this")


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "--archive", str(source), str(target)], check=True)


def _run_git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def _exit_on_signal(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
