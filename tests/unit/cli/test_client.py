"""What the command line takes for an error: what the daemon says is one, and nothing else."""

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from astra.interfaces import socket_path
from astra.interfaces.cli.client import Client, LostDaemonError, ReportedError, exit_code_of

PROBLEM = "application/problem+json"
Answer = tuple[int, str, dict[str, Any]]


@contextmanager
def daemon_that_answers(data_root: Path, answer: Answer, lost: int = 0) -> Iterator[Client]:
    """Serve one answer on the socket of a data root, after so many requests that get none."""
    (data_root / "var" / "run").mkdir(parents=True)
    status, media_type, document = answer
    unanswered = iter(range(lost))

    class OneAnswer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            if next(unanswered, None) is not None:
                return
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: Any) -> None:
            return

    listener = socket_path.listen(data_root / "var" / "run")
    with socketserver.ThreadingUnixStreamServer("", OneAnswer, bind_and_activate=False) as server:
        server.socket.close()
        server.socket = listener
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Client(data_root)
        server.shutdown()


@pytest.fixture
def serve(tmp_path: Path) -> Callable[[Answer], Any]:
    return lambda answer: daemon_that_answers(tmp_path, answer)


def test_an_answer_with_a_next_step_of_its_own_is_an_answer(
    serve: Callable[[Answer], Any],
) -> None:
    refusal = {"success": False, "reason": "it failed before", "next_step": "propose a change"}
    with serve((200, "application/json", refusal)) as client:
        assert client.post("/api/tools/deploy_agent_code") == refusal


@pytest.mark.parametrize(("status", "exit_code"), [(202, 3), (400, 2), (403, 1)])
def test_a_problem_is_an_error_with_its_own_words(
    serve: Callable[[Answer], Any], status: int, exit_code: int
) -> None:
    problem = {"code": "c", "detail": "not now", "next_step": "wait", "status": status}
    with serve((status, PROBLEM, problem)) as client, pytest.raises(ReportedError) as error:
        client.post("/api/tools/x")
    assert (error.value.detail, error.value.next_step) == ("not now", "wait")
    assert exit_code_of(error.value) == exit_code


def test_what_changes_nothing_is_asked_again_when_the_daemon_ends(tmp_path: Path) -> None:
    """A daemon that is killed may still take a connection before the next one is started."""
    with daemon_that_answers(tmp_path, (200, "application/json", {"ok": 1}), lost=2) as client:
        assert client.get("/api/status") == {"ok": 1}


def test_a_daemon_that_never_answers_is_asked_three_times(tmp_path: Path) -> None:
    with (
        daemon_that_answers(tmp_path, (200, "application/json", {"ok": 1}), lost=3) as client,
        pytest.raises(LostDaemonError, match="the daemon went away"),
    ):
        client.get("/api/status")


def test_what_may_have_been_done_is_never_asked_again(tmp_path: Path) -> None:
    with daemon_that_answers(tmp_path, (200, "application/json", {"ok": 1}), lost=1) as client:
        with pytest.raises(LostDaemonError) as error:
            client.post("/api/tools/x")
        assert error.value.reason == "uncertain"
        assert client.post("/api/tools/x") == {"ok": 1}, "the request was sent once"
