"""Releases that misbehave: each is noticed, or contained, and what served goes on serving."""

import contextlib
import http.client
import json
import socket
from pathlib import Path

import pytest

from astra.adapters.release_tree import tree_digest
from astra.deployments.ports import AppSpec
from astra.trusted.sandbox import boxes
from deploying import PLAIN, SERVER, Stage, until


def outcome(stage: Stage, instance: str) -> str:
    found = until(lambda: stage.running(instance).is_over and stage.running(instance))
    return str(found.reason)


@pytest.fixture
def good(stage: Stage) -> AppSpec:
    spec = stage.spec()
    stage.serve(spec)
    return spec


def test_one_that_crashes_at_import_never_serves(stage: Stage, good: AppSpec) -> None:
    instance = stage.holder.launch(stage.spec("import nothing_of_that_name"))
    assert outcome(stage, instance) == "exit code 1"
    assert not stage.holder.check(instance, "/healthz", seconds=1).ok
    stage.holder.end(instance)
    assert stage.get()["release"] == good.release


def test_one_that_hangs_in_its_health_is_given_up_on(stage: Stage, good: AppSpec) -> None:
    hangs = (
        SERVER
        + """
class Hangs(Answer):
    def do_GET(self):
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\n")
        while True:
            self.wfile.write(b"X-Soon: yes\\r\\n")
            time.sleep(0.05)
Server(Hangs).serve_forever()
"""
    )
    instance = stage.holder.launch(stage.spec(hangs))
    until(lambda: stage.running(instance).state == "running")
    assert not stage.holder.check(instance, "/healthz", seconds=0.5).ok
    stage.holder.end(instance)
    assert stage.get()["release"] == good.release


def test_one_that_says_it_is_another_release_is_not_healthy(stage: Stage, good: AppSpec) -> None:
    lies = f'import os\nos.environ["ASTRA_RELEASE"] = "{good.release}"\n' + PLAIN
    instance = stage.holder.launch(stage.spec(lies))
    said = until(lambda: _answer(stage, instance))
    assert good.release in said


def _answer(stage: Stage, instance: str) -> str:
    checked = stage.holder.check(instance, "/healthz", seconds=5)
    assert not checked.ok
    return checked.detail if "release" in checked.detail else ""


def test_one_that_ignores_sigterm_is_ended_all_the_same(stage: Stage, good: AppSpec) -> None:
    from astra.adapters.supervisor import instances
    from astra.adapters.supervisor.app_log import AppLog
    from astra.adapters.supervisor.fronts import RelayedFront

    stubborn = stage.spec(
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + PLAIN,
        network=(),
        drain_seconds=0.5,
    )
    front = RelayedFront(0)
    made = instances.Instance(
        name="inst_0",
        spec=stubborn,
        place=front.place(stubborn),
        data_root=stage.root,
        log=AppLog(stage.root / "logs" / "app.log"),
    )
    made.start()
    until(lambda: made.check("/healthz", seconds=2).ok)
    report = made.retire()
    front.close()
    assert report["killed"]
    assert made.state == "ended"
    assert [box.label for box in boxes.list_registered(stage.root)[0]] == [good.release]


def test_one_that_leaves_a_child_behind_leaves_nothing(stage: Stage, good: AppSpec) -> None:
    daemonises = """
import os, time
if os.fork():
    time.sleep(0.2)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
time.sleep(3600)
"""
    instance = stage.holder.launch(stage.spec(daemonises))
    assert outcome(stage, instance) == "exit code 0"
    ((box,), _) = boxes.list_registered(stage.root)
    assert box.label == good.release


def test_one_that_keeps_the_port_open_in_a_child_takes_no_request_after_its_end(
    stage: Stage, good: AppSpec
) -> None:
    leaks = "import os\nif not os.fork():\n    import time\n    time.sleep(3600)\n" + PLAIN
    spec = stage.spec(leaks)
    stage.serve(spec)
    stage.serve(stage.spec())
    assert spec.release not in {stage.get()["release"] for _ in range(20)}
    assert len(boxes.list_registered(stage.root)[0]) == 1


def test_one_that_tries_to_take_all_connections_of_the_port_is_refused(
    stage: Stage, good: AppSpec
) -> None:
    """Before the switch a release must not steer the port, nor join it with a socket of its own."""
    steals = """
import ctypes, os, socket, struct
listener = socket.socket(fileno=os.dup(3))
said = []
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 1))
for option in (51, 52, 68):
    try:
        listener.setsockopt(socket.SOL_SOCKET, option, struct.pack("HL", 1, ctypes.addressof(code)))
        said.append(f"attached {option}")
    except OSError as error:
        said.append(error.strerror)
print("steering:", said, flush=True)
"""
    stage.healthy(stage.spec(steals + PLAIN))
    log = until(lambda: _line(stage, "steering:"))
    assert "attached" not in log
    assert {stage.get()["release"] for _ in range(30)} == {good.release}


def _line(stage: Stage, start: str) -> str:
    lines = (stage.root / "logs" / "app.log").read_text().splitlines(keepends=True)
    return next((line for line in lines if line.startswith(start) and line.endswith("\n")), "")


def test_a_release_that_was_written_to_does_not_start(stage: Stage, good: AppSpec) -> None:
    spec = stage.spec("# different\n" + PLAIN)
    file = Path(spec.folder) / "app.py"
    file.chmod(0o644)
    file.write_text("print('planted')\n" + PLAIN)
    instance = stage.holder.launch(spec)
    assert "not what was built" in outcome(stage, instance)
    assert tree_digest(Path(spec.folder)) != spec.digest
    assert stage.get()["release"] == good.release


def test_a_state_folder_that_is_a_link_is_refused(stage: Stage) -> None:
    (stage.root / "app-state").symlink_to(stage.root / "var")
    instance = stage.holder.launch(stage.spec())
    assert "symbolic link" in outcome(stage, instance)


def test_a_state_folder_inside_var_is_refused(stage: Stage) -> None:
    instance = stage.holder.launch(stage.spec(state=str(stage.root / "var" / "state")))
    assert "protected place" in outcome(stage, instance)


def test_a_trap_in_the_state_folder_catches_nothing(stage: Stage) -> None:
    """The holder writes there, as root perhaps; a link that waits for it is replaced."""
    spec = stage.spec(reload=True)
    instance = stage.serve(spec)
    precious, trap = stage.folder / "precious", stage.root / "app-state" / ".astra-reload"
    precious.write_text("mine")
    trap.symlink_to(precious)
    stage.holder.reload(instance, spec, ["app.py"])
    assert precious.read_text() == "mine"
    assert not trap.is_symlink()
    assert json.loads(trap.read_text())["release"] == spec.release


LOOKS = (
    SERVER
    + """
root = os.path.dirname(os.environ["ASTRA_STATE"])
release = os.getcwd()

def attempt(name, action):
    try:
        action()
        return name
    except OSError:
        return None

def write(path):
    open(path, "w").close()

class Tries(Answer):
    def body(self):
        tried = [
            attempt("reads var", lambda: os.listdir(f"{root}/var")),
            attempt("reads logs", lambda: os.listdir(f"{root}/logs")),
            attempt("reads secrets", lambda: open(f"{root}/var/secrets/OTHER").read()),
            attempt("writes the release", lambda: write(f"{release}/planted")),
            attempt("writes the code", lambda: open(f"{release}/app.py", "a").close()),
            attempt("reaches the holder", lambda: socket.socket(socket.AF_UNIX).connect(
                f"{root}/var/run/holder.sock")),
            attempt("is root", lambda: os.setuid(0)),
        ]
        write(os.environ["ASTRA_STATE"] + "/mine")
        return json.dumps({"broke": [name for name in tried if name]}).encode()

Server(Tries).serve_forever()
"""
)


@pytest.mark.parametrize("network", ["host", ()], ids=["host network", "confined"])
def test_the_app_sees_nothing_of_astra(stage: Stage, network: object) -> None:
    (stage.root / "var" / "secrets" / "OTHER").write_text("not for the app")
    stage.serve(stage.spec(LOOKS, network=network))
    assert stage.get() == {"broke": []}
    assert [path.name for path in (stage.root / "app-state").iterdir()] == ["mine"]


def test_a_confined_app_cannot_turn_any_socket_towards_the_host(stage: Stage) -> None:
    """Whatever it holds, connected or listening, `connect(AF_UNSPEC)` and out: it stays inside."""
    with socket.create_server(("127.0.0.1", 0)) as outside:
        turns = (
            SERVER
            + f"""
TARGET = ("127.0.0.1", {outside.getsockname()[1]})
import ctypes
libc = ctypes.CDLL(None, use_errno=True)

def turned():
    reached = []
    for number in range(3, 64):
        try:
            held = socket.socket(fileno=os.dup(number))
        except OSError:
            continue
        libc.connect(number, struct.pack("H14x", 0), 16)
        held.setblocking(True)
        held.settimeout(2)
        try:
            held.connect(TARGET)
            reached.append(number)
        except OSError:
            pass
        held.close()
    return reached

import struct

class Turns(Answer):
    def do_GET(self):
        if self.path == "/turn":
            with socket.socket() as fresh:
                direct = fresh.connect_ex(TARGET)
            said = json.dumps({{"direct": direct == 0, "turned": turned()}})
            with open(os.environ["ASTRA_STATE"] + "/.said", "w") as file:
                file.write(said)
            os.rename(os.environ["ASTRA_STATE"] + "/.said", os.environ["ASTRA_STATE"] + "/said")
        super().do_GET()

Server(Turns).serve_forever()
"""
        )
        stage.serve(stage.spec(turns, network=()))
        with contextlib.suppress(OSError, http.client.HTTPException):
            stage.get("/turn")
        said = until(lambda: _read(stage.root / "app-state" / "said"))
        assert json.loads(said) == {"direct": False, "turned": []}
        outside.settimeout(0.1)
        with pytest.raises(TimeoutError):
            outside.accept()


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_terminal_escapes_of_a_release_do_not_reach_what_people_read(
    stage: Stage, good: AppSpec
) -> None:
    rude = (
        SERVER
        + """
class Rude(Answer):
    def status(self):
        return 500
    def body(self):
        return b"\\x1b]0;owned\\x07\\xe2\\x80\\xae"
Server(Rude).serve_forever()
"""
    )
    instance = stage.holder.launch(stage.spec(rude))
    until(lambda: stage.running(instance).state == "running")
    detail = until(
        lambda: (
            (found := stage.holder.check(instance, "/", seconds=5).detail).startswith("status")
            and found
        )
    )
    assert detail.isascii()
    assert detail.isprintable()
    json.dumps(detail)
