"""The command line's way to the daemon: HTTP over its socket, starting it when there is none."""

import contextlib
import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from astra.interfaces import socket_path
from astra.interfaces.cli import http_socket
from astra.trusted.kernel.errors import AstraError, BadInput, DaemonUnavailable, LedgerLocked
from astra.trusted.settings import environment

_TIMEOUT = 600.0
_START_SECONDS = 60.0
_READ_ATTEMPTS = 3
Answer = TypeVar("Answer")
_PROBLEM = "application/problem+json"
_KEPT_VARIABLES = frozenset({"HOME", "PATH", "LANG", "TZ", "TMPDIR", "XDG_CONFIG_HOME"})
_NEVER_PASSED = frozenset({"ASTRA_OPERATOR_PASSPHRASE", "ASTRA_BACKUP_PASSPHRASE"})


class ReportedError(AstraError):
    """An error the daemon reported: the same words, the same exit code."""

    def __init__(self, body: dict[str, Any]) -> None:
        facts = {
            name: value
            for name, value in body.items()
            if name not in {"code", "detail", "next_step", "title", "status"}
        }
        super().__init__(
            str(body.get("detail", "the daemon answered with an error")),
            next_step=str(body.get("next_step", "look at logs/daemon.log in the data root")),
            code=str(body.get("code", "failed")),
            **facts,
        )
        self.status = int(body.get("status", 500))


class LostDaemonError(DaemonUnavailable):
    """The daemon ended between a request and its answer."""


def exit_code_of(error: AstraError) -> int:
    if isinstance(error, ReportedError):
        return {400: 2, 422: 2, 202: 3}.get(error.status, 1)
    return error.exit_code


class Client:
    def __init__(
        self,
        data_root: Path,
        *,
        off: frozenset[str] = frozenset(),
        asked_on: frozenset[str] = frozenset(),
    ) -> None:
        self.data_root = data_root
        self._run = data_root / "var" / "run"
        self._headers = {
            "Host": "localhost",
            "Astra-Off": ",".join(sorted(off)),
            "Astra-Asked-On": ",".join(sorted(asked_on)),
        }

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self._request_json("GET", path, query, None)

    def post(self, path: str, body: dict[str, Any] | None = None, **query: Any) -> dict[str, Any]:
        return self._request_json("POST", path, query, body or {})

    def delete(self, path: str, **query: Any) -> dict[str, Any]:
        return self._request_json("DELETE", path, query, None)

    def events(self, after: int | None) -> Iterator[dict[str, Any]]:
        """Follow the ledger; ends when the daemon leaves."""
        query = {} if after is None else {"after": after}
        target = _build_target("/api/events", query)
        response = _read_again(lambda: self._send_request("GET", target, None))
        with response, contextlib.suppress(OSError):
            for _kind, data in _read_events(response):
                yield data

    def stream(self, path: str, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Follow an answer as it comes, event by event; whoever stops listening ends it."""
        response = self._send_request("POST", path, body, Accept="text/event-stream")
        try:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                yield from _read_events(response)
            else:
                raise ReportedError(
                    _problem_from_answer(json.loads(response.read()), response.status)
                )
        except (ValueError, OSError):
            raise _lost_daemon_error("POST") from None
        finally:
            response.close()

    def is_running(self) -> bool:
        try:
            socket_path.connect(self._run).close()
        except OSError:
            return False
        return True

    def _request_json(
        self, method: str, path: str, query: dict[str, Any], body: dict[str, Any] | None
    ) -> dict[str, Any]:
        target = _build_target(path, query)
        if method == "GET":
            return _read_again(lambda: self._exchange_json(method, target, None))
        return self._exchange_json(method, target, body)

    def _exchange_json(
        self, method: str, target: str, body: dict[str, Any] | None
    ) -> dict[str, Any]:
        response = self._send_request(method, target, body)
        try:
            answer = json.loads(response.read() or b"{}")
        except (ValueError, OSError):
            raise _lost_daemon_error(method) from None
        finally:
            response.close()
        if _is_problem(response):
            raise ReportedError(_problem_from_answer(answer, response.status))
        return answer

    def _send_request(
        self, method: str, target: str, body: dict[str, Any] | None, **more: str
    ) -> http_socket.Response:
        connection = reach(self.data_root)
        connection.settimeout(_TIMEOUT)
        payload = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": "application/json", **more}
        try:
            return http_socket.send_request(connection, method, target, headers, payload)
        except OSError:
            connection.close()
            raise _lost_daemon_error(method) from None


def reach(
    data_root: Path, name: str = socket_path.NAME, *, without: frozenset[str] = frozenset()
) -> socket.socket:
    """Connect to a socket of the daemon; others may start or end a daemon at the same time.

    A daemon that has to be started does not get the settings named in `without`.
    """
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            return socket_path.connect(data_root / "var" / "run", name)
        except OSError:
            owner = _start_in_turn(data_root, name, without)
        if owner and time.monotonic() > deadline:
            raise DaemonUnavailable(
                f"process {owner} owns this data root and does not answer",
                next_step=f"look at {data_root / 'logs' / 'daemon.log'}",
                pid=owner,
            )
        time.sleep(0.02 if owner else 0)


def _start_in_turn(data_root: Path, name: str, without: frozenset[str]) -> int:
    """Start a daemon, one client at a time: those who waited mostly find it running."""
    run_folder = data_root / "var" / "run"
    try:
        turn = (run_folder / "start.lock").open("ab")
    except OSError:
        return start_daemon(
            data_root, without=without
        )  # which says what is wrong with this data root
    with turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        try:
            socket_path.connect(run_folder, name).close()
        except OSError:
            return start_daemon(data_root, without=without)
        return 0


def start_daemon(
    data_root: Path, *, without: frozenset[str] = frozenset(), port: int | None = None
) -> int:
    """Start a daemon in the background and wait until it serves or says why it cannot.

    Gives 0, or the process that owns the data root already and may be starting or leaving.
    """
    import subprocess
    import threading

    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-m", "astra.interfaces.daemon.server"]
    command += ["--data-root", str(data_root), "--ready", str(writing)]
    command += [] if port is None else ["--port", str(port)]
    try:
        log = (data_root / "logs" / "daemon.log").open("ab")
    except OSError as error:
        raise _no_log_error(data_root, error) from None
    with log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=_on_demand(daemon_environment(without)),
            pass_fds=(writing,),
            start_new_session=True,
        )
    # A client may live longer than the daemon it started: somebody has to take note of its end.
    threading.Thread(target=process.wait, name="daemon-reaper", daemon=True).start()
    os.close(writing)
    with os.fdopen(reading) as pipe:
        message = json.loads(pipe.readline() or "{}")
    if not message:
        raise DaemonUnavailable(
            "the daemon did not start", next_step=f"look at {data_root / 'logs' / 'daemon.log'}"
        )
    error = message.get("error", {})
    if error.get("code") == LedgerLocked.code:
        return int(error.get("pid") or -1)
    if error:
        status = 400 if message["exit_code"] == BadInput.exit_code else 500
        raise ReportedError({"status": status, **error})
    return 0


def _no_log_error(data_root: Path, error: OSError) -> DaemonUnavailable:
    if (data_root / "var").is_dir() and not isinstance(error, FileNotFoundError):
        return DaemonUnavailable(
            f"the data root {data_root} cannot be written to: {error.strerror}",
            code="data_root_unwritable",
            next_step="astra doctor",
        )
    return DaemonUnavailable(
        f"there is no Astra data root at {data_root}: {error.strerror}",
        code="no_data_root",
        next_step="astra init, or name another one with --data-root",
    )


def daemon_environment(without: frozenset[str] = frozenset()) -> dict[str, str]:
    """Hand on settings and the basics; nothing that changes what Python or the linker loads."""
    dropped = without | _NEVER_PASSED
    passed_names = _KEPT_VARIABLES | environment.list_setting_names()
    return {
        name: value
        for name, value in os.environ.items()
        if name not in dropped and (name in passed_names or name.startswith(("LC_", "ASTRA_")))
    }


def _on_demand(given: dict[str, str]) -> dict[str, str]:
    """Leave out what only the one who runs the daemon may ask for: a caller may be an agent."""
    loosening = given.get("ASTRA_SANDBOX") == environment.OFF_UNSAFE
    return {n: v for n, v in given.items() if not (loosening and n == "ASTRA_SANDBOX")}


def _read_again(read: Callable[[], Answer]) -> Answer:
    """Ask again what changes nothing: a daemon that is killed may still take a connection."""
    for _ in range(_READ_ATTEMPTS - 1):
        try:
            return read()
        except LostDaemonError:
            continue
    return read()


def _build_target(path: str, query: dict[str, Any]) -> str:
    parameters = {name: value for name, value in query.items() if value is not None}
    return quote(path) + (f"?{urlencode(parameters)}" if parameters else "")


def _read_events(response: http_socket.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = ""
    while line := response.readline():
        if line.startswith(b"event: "):
            kind = line[7:].strip().decode()
        elif line.startswith(b"data: "):
            yield kind, json.loads(line[6:])


def _is_problem(response: http_socket.Response) -> bool:
    """Tell an error from an answer; a tool's answer may have a member `next_step` of its own."""
    kind = response.headers.get("content-type", "")
    return response.status >= http_socket.BAD_REQUEST or kind.startswith(_PROBLEM)


def _problem_from_answer(answer: dict[str, Any], status: int) -> dict[str, Any]:
    if isinstance(answer.get("detail"), str):
        return {"status": status, **answer}
    return {
        "status": status,
        "code": "bad_input",
        "detail": f"the daemon refused the request: {answer.get('detail')}",
        "next_step": "astra --help",
    }


def _lost_daemon_error(method: str) -> LostDaemonError:
    if method == "GET":
        return LostDaemonError("the daemon went away", next_step="try again")
    return LostDaemonError(
        "the daemon went away before it answered; whether this was done is uncertain",
        code="uncertain",
        next_step="look with `astra ledger tail` before you try again",
    )
