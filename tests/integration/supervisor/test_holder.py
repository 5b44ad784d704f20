"""The holder, as a process of its own, with real boxes behind a real port."""

import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from astra.adapters.bounded_log import LARGEST
from astra.adapters.supervisor.app_log import holder_log_path
from astra.adapters.supervisor.channel import HolderRefused
from astra.deployments.ports import AppSpec
from astra.trusted.sandbox import boxes
from astra.trusted.stop import stop
from deploying import EXAMPLE, PLAIN, SERVER, Stage, Traffic, fetch, until

CRASHES_ONCE = (
    SERVER
    + """
from pathlib import Path
seen = Path(os.environ["ASTRA_STATE"]) / "crashed"

class Fragile(Answer):
    def do_GET(self):
        if self.path == "/crash" and not seen.exists():
            seen.touch()
            os._exit(7)
        super().do_GET()

Server(Fragile).serve_forever()
"""
)


def refused(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) != 0


def test_a_new_release_is_asked_for_its_health_and_gets_nothing_else(stage: Stage) -> None:
    old = stage.spec()
    stage.serve(old)
    new = stage.spec()
    instance = stage.healthy(new)
    assert {stage.get()["release"] for _ in range(30)} == {old.release}
    stage.holder.switch(instance)
    assert {stage.get()["release"] for _ in range(30)} == {new.release}


def test_only_one_release_is_started_at_a_time(stage: Stage) -> None:
    stage.serve(stage.spec())
    stage.holder.launch(stage.spec())
    with pytest.raises(HolderRefused) as refusal:
        stage.holder.launch(stage.spec())
    assert refusal.value.reason == "deploying"


def test_a_crashed_app_is_started_again_and_who_waits_is_answered(stage: Stage) -> None:
    instance = stage.serve(stage.spec(CRASHES_ONCE))
    with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
        stage.get("/crash")
    assert stage.get("/after")["path"] == "/after"
    found = stage.running(instance)
    assert (found.state, found.crashes) == ("running", 1)


def test_a_release_that_does_not_serve_is_not_started_again(stage: Stage) -> None:
    instance = stage.holder.launch(stage.spec("raise SystemExit(3)"))
    found = until(lambda: stage.running(instance).is_over and stage.running(instance))
    assert (found.crashes, found.reason) == (1, "exit code 3")


def test_a_confined_app_is_reached_through_the_relay(stage: Stage) -> None:
    first, second = stage.spec(network=()), stage.spec(network=())
    stage.serve(first)
    assert stage.get()["release"] == first.release
    stage.serve(second)
    assert {stage.get()["release"] for _ in range(5)} == {second.release}


def test_an_app_that_binds_its_own_port_is_reached_through_the_relay(stage: Stage) -> None:
    binds = SERVER.replace('os.environ.get("LISTEN_FDS")', "False")
    binds = binds.replace('os.environ["PORT"]', "sys.argv[1]") + "\nServer().serve_forever()\n"
    spec = stage.spec(binds, command=("/usr/bin/python3", "app.py", "{port}"))
    stage.serve(spec)
    assert stage.get()["release"] == spec.release


def test_the_app_gets_its_release_its_state_its_secrets_and_nothing_more(stage: Stage) -> None:
    (stage.root / "var" / "secrets" / "TOKEN").write_text("tell nobody\n")
    shows = (
        SERVER
        + """
class Shows(Answer):
    def body(self):
        said = {"all": dict(os.environ), "uid": os.getuid(), "here": os.getcwd()}
        return json.dumps(said).encode()
Server(Shows).serve_forever()
"""
    )
    spec = stage.spec(shows, secrets=("TOKEN",))
    stage.serve(spec)
    said = stage.get()
    assert said["all"]["TOKEN"] == "tell nobody"
    assert said["all"]["ASTRA_STATE"] == spec.state
    assert said["uid"] != 0
    assert said["here"] == spec.folder
    own = {"ASTRA_RELEASE", "ASTRA_STATE", "LISTEN_FDS", "LISTEN_PID", "TOKEN", "PATH", "HOME"}
    system = {"USER", "LANG", "TERM", "TMPDIR", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
    assert said["all"].keys() <= own | system | {"PWD"}


def test_a_missing_secret_keeps_the_app_from_starting(stage: Stage) -> None:
    instance = stage.holder.launch(stage.spec(secrets=("TOKEN",)))
    found = until(lambda: stage.running(instance).is_over and stage.running(instance))
    assert "TOKEN" in found.reason


def test_what_the_app_prints_is_in_the_log(stage: Stage) -> None:
    stage.serve(stage.spec('print("hello from inside", flush=True)\n' + PLAIN))
    log = stage.root / "logs" / "app.log"
    until(lambda: "hello from inside" in log.read_text())


def test_a_stop_ends_the_app_without_the_holders_help(stage: Stage) -> None:
    stage.serve(stage.spec())
    port = stage.port
    done = stop.stop_now(stage.root)
    assert done.clean
    assert done.ended == 1
    until(lambda: refused(port))


def test_a_stop_can_keep_the_app(stage: Stage) -> None:
    spec = stage.spec()
    stage.serve(spec)
    done = stop.stop_now(stage.root, keep_app=True)
    assert (done.ended, done.kept_apps) == (0, 1)
    assert stage.get()["release"] == spec.release


def test_nothing_starts_while_work_is_stopped(stage: Stage) -> None:
    stop.stop_now(stage.root)
    instance = stage.holder.launch(stage.spec())
    until(lambda: stage.running(instance) is None or stage.running(instance).is_over)
    assert boxes.list_registered(stage.root) == ([], [])


def test_the_app_dies_with_its_holder_and_another_holder_can_follow(stage: Stage) -> None:
    spec = stage.spec()
    stage.serve(spec)
    state = stage.holder.state()
    assert state is not None
    ((box,), _) = boxes.list_registered(stage.root)
    os.kill(state.pid, signal.SIGKILL)
    with boxes.hold_process(box) as process:
        assert process is None or boxes.wait_dead(process, 60)
    stage.serve(spec)
    assert stage.get()["release"] == spec.release


@pytest.mark.serial
def test_deployments_under_traffic_lose_nothing(stage: Stage) -> None:
    """Three, or as many as DEPLOYMENTS says."""
    count = int(os.environ.get("DEPLOYMENTS", "3"))
    subprocess.run(["cp", "-r", f"{EXAMPLE}/.", stage.repository], check=True)
    command = ("/usr/bin/python3", "-m", "agent_server")
    stage.serve(stage.spec(command=command))
    with Traffic(stage.port) as traffic:
        for number in range(count):
            traffic.more()
            stage.serve(stage.spec(f"# {number}\n", command=command))
        traffic.more()
    assert traffic.lost == []
    assert len(traffic.releases) == count + 1


def example(stage: Stage, **changes: str) -> AppSpec:
    """Build a release of the example agent, with some of its words replaced."""
    subprocess.run(["cp", "-r", f"{EXAMPLE}/.", stage.repository], check=True)
    api = (EXAMPLE / "agent_server" / "api.py").read_text()
    for old, new in changes.items():
        assert old in api
        api = api.replace(old, new)
    (stage.repository / "agent_server" / "api.py").write_text(api)
    return stage.spec("", command=("/usr/bin/python3", "-m", "agent_server"), reload=True)


def test_a_reload_changes_the_code_under_an_open_connection(stage: Stage) -> None:
    instance = stage.serve(example(stage))
    connection = http.client.HTTPConnection("127.0.0.1", stage.port, timeout=60)
    new = example(stage, **{"Hello from the agent": "Good morning"})
    assert _greeting(connection)["greeting"] == "Hello from the agent"
    assert stage.holder.reload(instance, new, ["agent_server/api.py"]).ok
    assert _greeting(connection) == {"greeting": "Good morning", "release": new.release}
    connection.close()
    assert stage.running(instance).release == new.release


def test_a_reload_that_does_not_fit_leaves_the_old_code_serving(stage: Stage) -> None:
    old = example(stage)
    instance = stage.serve(old)
    new = example(stage, **{"def greeting(": "def salute(", "greeting()": "salute()"})
    assert not stage.holder.reload(instance, new, ["agent_server/api.py"]).ok
    assert stage.get("/api/greeting")["release"] == old.release
    assert stage.running(instance).crashes == 0


def _greeting(connection: http.client.HTTPConnection) -> Any:
    connection.request("GET", "/api/greeting")
    return json.loads(connection.getresponse().read())


def test_the_port_is_free_again_once_the_app_is_closed(stage: Stage) -> None:
    stage.serve(stage.spec())
    port = stage.port
    assert fetch(port)["path"] == "/"
    stage.holder.close()
    assert refused(port)


def test_a_log_has_a_cap(tmp_path: Path) -> None:
    from astra.adapters.supervisor.app_log import AppLog

    log = AppLog(tmp_path / "app.log", largest=100)
    for number in range(50):
        log.write(b"line %02d\n" % number)
    log.write(b"x" * 1000)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 200
    assert log.tail(10) == "x" * 10


def test_without_a_free_descriptor_the_holder_still_answers(stage: Stage) -> None:
    """An accept that fails for want of one must not be the last."""
    stage.serve(stage.spec())
    before = stage.holder.state()
    assert before is not None
    hard = resource.prlimit(before.pid, resource.RLIMIT_NOFILE)[1]
    used = sum(1 for _ in Path(f"/proc/{before.pid}/fd").iterdir())
    resource.prlimit(before.pid, resource.RLIMIT_NOFILE, (used - 1, hard))
    try:
        for _ in range(3):
            told = until(stage.holder.state)
            assert told.pid == before.pid
    finally:
        resource.prlimit(before.pid, resource.RLIMIT_NOFILE, (hard, hard))
    assert stage.get()["path"] == "/"
    assert stage.holder.state() is not None


def test_a_holder_that_is_short_of_descriptors_says_so(stage: Stage) -> None:
    stage.serve(stage.spec())
    told = stage.holder.state()
    assert told is not None
    assert told.trouble == ""
    assert told.most_descriptors == resource.prlimit(told.pid, resource.RLIMIT_NOFILE)[1]
    assert "descriptors open" in replace(told, descriptors=told.most_descriptors).trouble


@pytest.mark.parametrize("network", ["host", ()])
def test_a_holder_that_hangs_is_replaced_and_its_port_stays_open(
    stage: Stage, network: Any
) -> None:
    old = stage.spec(network=network)
    stage.serve(old)
    port, hanging = stage.port, stage.holder.state()
    assert hanging is not None
    os.kill(hanging.pid, signal.SIGSTOP)
    with Knocking(port) as knocking:
        instance = stage.healthy(stage.spec(network=network))
        stage.holder.switch(instance)
        knocking.more()
    assert knocking.refused == 0
    told = stage.holder.state()
    assert told is not None
    assert told.pid != hanging.pid
    assert (told.port, told.live) == (port, instance)
    until(lambda: not Path(f"/proc/{hanging.pid}").exists())
    assert stage.get()["release"] != old.release


def test_a_holder_that_hangs_is_ended_with_its_app_when_everything_ends(stage: Stage) -> None:
    stage.serve(stage.spec())
    port, hanging = stage.port, stage.holder.state()
    assert hanging is not None
    os.kill(hanging.pid, signal.SIGSTOP)
    stage.holder.close()
    assert not stage.holder.is_expected()
    until(lambda: refused(port))


class Knocking:
    """Somebody who never stops connecting, and counts how often nobody listens."""

    def __init__(self, port: int) -> None:
        self.port, self.connected, self.refused = port, 0, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._knock)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    def more(self) -> None:
        before = self.connected
        until(lambda: self.connected > before + 10 or self.refused)

    def _knock(self) -> None:
        while not self._over.wait(0.01):
            if refused(self.port):
                self.refused += 1
            else:
                self.connected += 1


def test_the_holders_own_log_is_turned_over_when_it_is_large(stage: Stage) -> None:
    stage.serve(stage.spec())
    log = holder_log_path(stage.holder.data_root)
    with log.open("ab") as file:
        file.write(b"x" * (LARGEST + 1))
    until(lambda: log.stat().st_size == 0)
    assert log.with_name("holder.log.1").stat().st_size == LARGEST + 1


def test_a_port_that_another_program_has_is_named(stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        spec = replace(stage.spec(), port=other.getsockname()[1])
        with pytest.raises(HolderRefused, match="another program listens on the app's port"):
            stage.holder.launch(spec)
