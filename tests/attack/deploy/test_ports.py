"""An app on the host's network that wants more than its port, or the place of its successor."""

import re
import socket

import pytest

from astra.trusted.sandbox import landlock
from deploying import PLAIN, SERVER, Stage, until

needs_port_rules = pytest.mark.skipif(
    not landlock.has_port_rules(), reason="this kernel has no Landlock rules for the network"
)
DISCONNECT = """
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
def disconnect(s):
    if libc.connect(s.fileno(), struct.pack("H14x", 0), 16):
        raise OSError(ctypes.get_errno(), "connect")
"""
LISTENS_AGAIN = (
    SERVER
    + DISCONNECT
    + """
import threading
class Anonymous(Answer):
    def body(self):
        return b"{}"
server = Server(Anonymous)
port = server.socket.getsockname()[1]
def listeners():
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return sum(row[3] == "0A" and row[1].endswith(":%04X" % port) for row in rows)
def take_the_place():
    while listeners() < 2:
        time.sleep(0.01)
    disconnect(server.socket)
    server.socket.listen(100)
    print("took: the place", flush=True)
threading.Thread(target=take_the_place, daemon=True).start()
server.serve_forever()
"""
)
SICK = SERVER + "\nAnswer.status = lambda self: 500\nServer().serve_forever()\n"
ALSO_JOINS = """
import os, socket
own = socket.socket(fileno=os.dup(3))
address = own.getsockname()
try:
    second = socket.socket()
    second.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    second.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    second.bind(address)
    second.listen()
    print("joining: joined", flush=True)
except OSError as error:
    print("joining:", error.strerror, flush=True)
"""
TURNS_AROUND = (
    DISCONNECT
    + """
import os, socket
own = socket.socket(fileno=os.dup(3))
client = socket.create_connection(own.getsockname())
taken, _address = own.accept()
disconnect(taken)
try:
    taken.bind(own.getsockname())
    taken.listen()
    print("turning: joined", flush=True)
except OSError as error:
    print("turning:", error.strerror, flush=True)
"""
)


def free_port() -> int:
    """Give a port that was free; one that is named stays bound when its socket is shut."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def line(stage: Stage, start: str) -> str:
    """Give a line that is printed to its end: an app's words come in pieces."""
    text = (stage.root / "logs" / "app.log").read_text()
    whole_line = re.search(rf"^({start}.*)\n", text, re.MULTILINE)
    return whole_line.group(1) if whole_line else ""


def test_a_release_that_listens_again_does_not_answer_for_a_sick_successor(stage: Stage) -> None:
    stage.serve(stage.spec(LISTENS_AGAIN, port=free_port()))
    successor = stage.holder.launch(stage.spec(SICK))
    until(lambda: line(stage, "took:"))
    until(lambda: stage.running(successor).state == "running")
    answers = [stage.holder.check(successor, "/healthz", seconds=5) for _ in range(6)]
    assert not any(answer.ok for answer in answers)
    assert any(answer.foreign for answer in answers)
    assert until(lambda: "status 500" in stage.holder.check(successor, "/", seconds=5).detail)


def test_a_release_that_listens_again_does_not_keep_a_good_successor_out(stage: Stage) -> None:
    stage.serve(stage.spec(LISTENS_AGAIN, port=free_port()))
    spec = stage.spec()
    successor = stage.holder.launch(spec)
    until(lambda: line(stage, "took:"))
    until(lambda: stage.holder.check(successor, "/healthz", seconds=5).ok)
    before = stage.holder.switch(successor)
    assert before is not None
    stage.holder.retire(before)
    assert {stage.get()["release"] for _ in range(20)} == {spec.release}


def test_a_second_socket_cannot_join_the_port(stage: Stage) -> None:
    stage.serve(stage.spec(ALSO_JOINS + PLAIN))
    assert until(lambda: line(stage, "joining:")) == "joining: Operation not permitted"


@needs_port_rules
def test_a_connection_cannot_be_turned_into_a_listener_of_the_port(stage: Stage) -> None:
    """An accepted socket has the port's options already; only the rule on ports is in its way."""
    stage.serve(stage.spec(TURNS_AROUND + PLAIN))
    assert until(lambda: line(stage, "turning:")) == "turning: Permission denied"


@needs_port_rules
def test_only_granted_ports_can_be_bound(stage: Stage) -> None:
    granted, refused = free_port(), free_port()
    tries = f"""
import socket
said = []
for family, address in ((2, "127.0.0.1"), (2, "0.0.0.0"), (10, "::1")):
    for port in ({granted}, {refused}):
        try:
            with socket.socket(family) as made:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.bind((address, port))
            said.append("bound")
        except OSError as error:
            said.append(error.strerror)
print("binding:", ", ".join(said), flush=True)
"""
    stage.serve(stage.spec(tries + PLAIN, listen_ports=[granted]))
    words = until(lambda: line(stage, "binding:"))
    assert words == "binding: " + ", ".join(["bound", "Permission denied"] * 3)


def test_probes_carry_a_nonce_that_is_new_each_time(stage: Stage) -> None:
    tells = (
        SERVER
        + """
class Tells(Answer):
    def status(self):
        print("nonce:", self.headers["Astra-Probe"], flush=True)
        return 200
Server(Tells).serve_forever()
"""
    )
    instance = stage.healthy(stage.spec(tells))
    stage.holder.check(instance, "/healthz", seconds=5)
    nonces = until(lambda: _nonces(stage))
    assert all(re.fullmatch("[0-9a-f]{32}", nonce) for nonce in nonces)


def _nonces(stage: Stage) -> set[str]:
    nonces = set(re.findall(r"^nonce: (\S+)", stage.holder.read_output(), re.MULTILINE))
    return nonces if len(nonces) > 1 else set()


def test_an_answer_to_another_probe_does_not_count(stage: Stage) -> None:
    replays = (
        SERVER
        + """
class Replays(Answer):
    def end_headers(self):
        self.send_header("Astra-Probe", "0" * 32)
        super().end_headers()
Server(Replays).serve_forever()
"""
    )
    instance = stage.holder.launch(stage.spec(replays))
    answer = until(lambda: _answered(stage, instance))
    assert answer == "it answered another probe than this one"


def _answered(stage: Stage, instance: str) -> str:
    checked = stage.holder.check(instance, "/healthz", seconds=5)
    assert not checked.ok
    return checked.detail if "probe" in checked.detail else ""
