"""Programs of other kinds below the holder: none at all, a worker, one that never finishes."""

import contextlib
import threading

import pytest

from astra.adapters.supervisor.channel import HolderRefused
from deploying import PYTHON, SERVER, Stage, fetch, until

NEVER_ANSWERS = (
    SERVER
    + """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
from pathlib import Path
class Slow(Answer):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path == "/slow":
            (Path(os.environ["ASTRA_STATE"]) / "asked").touch()
            time.sleep(3600)
        super().do_GET()
Server(Slow).serve_forever()
"""
)
WORKER = """
import os, time
from pathlib import Path
(Path(os.environ["ASTRA_STATE"]) / "began").write_text(os.environ.get("LISTEN_FDS", "none"))
print("at work", flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("script", ["missing-interpreter", "not-executable"])
def test_a_command_that_cannot_be_executed_is_refused_and_is_no_crash(
    stage: Stage, script: str
) -> None:
    spec = stage.spec()
    program = stage.root / script
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755 if script == "missing-interpreter" else 0o644)
    instance = stage.holder.launch(stage.spec(command=[str(program)]))
    until(lambda: stage.running(instance).is_over)
    running = stage.running(instance)
    assert (running.state, running.crashes) == ("refused", 0), running
    assert "cannot be started" in running.reason or "not executable" in running.reason
    stage.holder.end(instance)
    stage.serve(spec)


def test_an_app_that_says_the_words_of_the_gate_while_it_serves_has_crashed(stage: Stage) -> None:
    liar = (
        SERVER
        + """
class Lying(Answer):
    def do_GET(self):
        if self.path == "/leave":
            sys.stderr.write("astra-gate: 1: exec: app: not found\\n")
            os._exit(127)
        super().do_GET()
Server(Lying).serve_forever()
"""
    )
    instance = stage.serve(stage.spec(liar))
    with contextlib.suppress(OSError):
        stage.get("/leave")
    until(lambda: stage.running(instance).crashes == 1)
    assert stage.running(instance).state != "refused"


def test_a_worker_has_no_port_and_inherits_none(stage: Stage) -> None:
    instance = stage.holder.launch(stage.spec(WORKER, listens=False))
    began = stage.root / "app-state" / "began"
    until(lambda: began.exists() and began.read_text())
    assert began.read_text() == "none"
    stage.holder.switch(instance)
    state = stage.holder.state()
    assert state
    assert (state.port, state.live) == (None, instance)
    until(lambda: "at work" in stage.holder.read_output())
    second = stage.holder.launch(stage.spec(WORKER, listens=False))
    assert stage.holder.switch(second) == instance
    assert stage.holder.retire(instance)["killed"] is False


def test_a_variable_may_name_the_state_folder(stage: Stage) -> None:
    script = "import os, time\nopen(os.environ['PLACE'], 'w').close()\ntime.sleep(3600)"
    spec = stage.spec(script, listens=False, env=[["PLACE", "{state}/began"]])
    stage.holder.launch(spec)
    until((stage.root / "app-state" / "began").exists)


def test_what_had_no_answer_at_the_end_of_the_drain_is_counted(stage: Stage) -> None:
    stage.serve(stage.spec(NEVER_ANSWERS, drain_seconds=1))
    port = stage.holder.state().port  # type: ignore[union-attr]
    asking = threading.Thread(target=_ask_in_vain, args=(port,))
    asking.start()
    until((stage.root / "app-state" / "asked").exists)
    instance = stage.healthy(stage.spec())
    before = stage.holder.switch(instance)
    assert before
    report = stage.holder.retire(before)
    asking.join()
    assert (report["killed"], report["cut"], report["open"]) == (True, 1, 1)


def test_no_socket_of_the_host_enters_a_box_whose_network_became_its_own(stage: Stage) -> None:
    stage.serve(stage.spec())
    with pytest.raises(HolderRefused, match="another kind of network"):
        stage.holder.launch(stage.spec(network=[]))
    with pytest.raises(HolderRefused, match="another port"):
        stage.holder.launch(stage.spec(command=[PYTHON, "app.py", "{port}"]))


def _ask_in_vain(port: int) -> None:
    try:
        fetch(port, "/slow")
    except (OSError, ValueError):
        return
    raise AssertionError("nobody was to answer")


def test_the_parts_of_an_app_run_crash_and_end_with_it(stage: Stage) -> None:
    parts = [["worker", [PYTHON, "-c", WORKER]]]
    instance = stage.serve(stage.spec(parts=parts))
    began = stage.root / "app-state" / "began"
    until(lambda: began.exists() and began.read_text())
    assert began.read_text() == "none", "a part inherits no socket"
    assert stage.running(instance).state == "running"
    second = stage.serve(stage.spec(parts=[["worker", [PYTHON, "-c", "raise SystemExit(3)"]]]))
    until(lambda: stage.running(second).crashes > 0)
    running = stage.running(second)
    assert "part worker" in running.reason or running.state == "running"
    assert stage.get()["release"] == running.release
