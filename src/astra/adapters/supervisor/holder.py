"""The holder: a small process that owns the app's port and its children.

It lives apart from the daemon, so that the daemon can be restarted while the app serves. It knows
nothing of approvals, ledgers or health rules: it does what the daemon asks over its socket, keeps
the serving release running, and adopts nothing that it did not start. It also keeps the sockets of
the dashboard, so that the app cannot take their port when the daemon is gone (`keeping`). When it
dies, its children die with it, and the daemon starts both again. It answers also when it has no
descriptor, thread or memory left for it; should it hang all the same, the daemon takes its sockets
over (`takeover`).

    python -m astra.adapters.supervisor.holder --data-root FOLDER --ready FD [--listener FD]
"""

import argparse
import contextlib
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from astra.adapters import bounded_log
from astra.adapters.supervisor import app_box, channel, takeover
from astra.adapters.supervisor.app_log import AppLog, app_log_path, holder_log_path
from astra.adapters.supervisor.fronts import Front, SteeredPlace, open_front
from astra.adapters.supervisor.instances import Instance
from astra.adapters.supervisor.keeping import OwnListeners
from astra.deployments.ports import AppSpec
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict, NotFound
from astra.trusted.kernel.ids import random_id
from astra.trusted.sandbox import boxes, landlock

Question = dict[str, Any]
Do = Callable[[Question], dict[str, Any]]
_LOOK_SECONDS = 0.5
_QUESTION_SECONDS = 10.0
_ACCEPT_PAUSE = 0.1
_NO_DESCRIPTOR = frozenset({errno.EMFILE, errno.ENFILE})


@dataclass
class Holder:
    data_root: Path
    name: str = channel.HOLDER
    adopted: socket.socket | None = None
    """A listening socket of the app's port that another holder had."""
    _front: Front | None = field(default=None, init=False)
    _instances: dict[str, Instance] = field(default_factory=dict[str, Instance], init=False)
    _live: Instance | None = field(default=None, init=False)
    _own: OwnListeners = field(default_factory=OwnListeners, init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)
    leaving: threading.Event = field(default_factory=threading.Event, init=False)
    is_closed: bool = field(default=False, init=False)
    """Set before the answer is sent: the process leaves only after it."""

    def answer(self, question: Question) -> dict[str, Any]:
        doing: dict[str, Do] = {
            "state": lambda _question: self.state(),
            "launch": lambda q: self.launch(AppSpec.read(q["spec"])),
            "check": self.check,
            "switch": lambda q: self.switch(self._find_instance(q)),
            "reload": self.reload,
            "retire": lambda q: self.retire(self._find_instance(q)),
            "stop": lambda q: self.stop(self._find_instance(q)),
            "end": lambda q: self.end(self._find_instance(q)),
            "close": lambda _question: self.close(),
            "keep": lambda q: self._own.keep(q[channel.SOCKETS], q["connection"]),
            "give": lambda _question: {channel.SOCKETS: self._own.give_listeners()},
        }
        if question.get("do") not in doing:
            raise BadInput("unknown holder command", next_step="restart the daemon")
        return doing[question["do"]](question)

    def state(self) -> dict[str, Any]:
        with self._lock:
            return {
                "pid": os.getpid(),
                "port": (self._front.port or None) if self._front else None,
                "live": self._live.name if self._live else None,
                "instances": [instance.as_dict() for instance in self._instances.values()],
                "descriptors": _open_descriptors(),
                "most_descriptors": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
                "rules_ports": landlock.has_port_rules(),
            }

    def launch(self, spec: AppSpec) -> dict[str, Any]:
        """Start a release beside the one that serves; at most one at a time."""
        with self._lock:
            if any(instance is not self._live for instance in self._instances.values()):
                raise Conflict(
                    "another release is being started or ended right now",
                    code="deploying",
                    next_step="wait for it, then deploy again",
                )
            self._refuse_other_front(spec)
            app_box.make_state_folder(Path(spec.state))
            front = self._front or open_front(spec, self.adopted)
            self._front, self.adopted = front, None
            takeover.write_note(self.data_root / "var" / "run" / f"{self.name}.lock", front.port)
            new_instance = Instance(
                name=random_id("inst"),
                spec=spec,
                place=front.place(spec),
                data_root=self.data_root,
                log=AppLog(app_log_path(self.data_root, self.name)),
            )
            self._instances[new_instance.name] = new_instance
            new_instance.start()
            return {"instance": new_instance.name}

    def _refuse_other_front(self, spec: AppSpec) -> None:
        """No socket of the host may enter a confined box, so the kind of port is decided once."""
        if self._front and not self._front.fits(spec):
            raise Conflict(
                "this release needs another port or another kind of network than the one that"
                " serves",
                code="other_front",
                next_step="end the release that serves first: astra down, then astra up",
            )

    def check(self, question: dict[str, Any]) -> dict[str, Any]:
        instance = self._find_instance(question)
        checked = instance.check(str(question["path"]), seconds=float(question["seconds"]))
        if checked.foreign and isinstance(instance.place, SteeredPlace):
            with self._lock:
                instance.place.front.reorder()
        return {"ok": checked.ok, "detail": checked.detail, "foreign": checked.foreign}

    def switch(self, instance: Instance) -> dict[str, Any]:
        with self._lock:
            before = self._live
            if before is not instance and self._front:
                self._front.prefer(instance.place)
                instance.begin_serving()
                self._live = instance
            return {"previous": before.name if before and before is not instance else None}

    def reload(self, question: Question) -> dict[str, Any]:
        spec, changed = AppSpec.read(question["spec"]), list(map(str, question["changed"]))
        checked = self._find_instance(question).reload(spec, changed)
        return {"ok": checked.ok, "detail": checked.detail}

    def retire(self, instance: Instance) -> dict[str, Any]:
        if instance is self._live:
            raise Conflict("this release is live", next_step="switch to another release first")
        report = instance.retire()
        self._forget_instance(instance)
        return report

    def stop(self, instance: Instance) -> dict[str, Any]:
        """Drain and end an instance, also the one that serves."""
        report = instance.retire()
        self._forget_instance(instance)
        return report

    def end(self, instance: Instance) -> dict[str, Any]:
        has_ended = instance.end()
        self._forget_instance(instance)
        return {"gone": has_ended}

    def close(self) -> dict[str, Any]:
        for instance in list(self._instances.values()):
            self.end(instance)
        self.is_closed = True
        return {"gone": True}

    def forget_stopped(self) -> None:
        """Notice a stop: an app that an operator ended leaves no port that hangs."""
        if boxes.is_stopped(self.data_root):
            with self._lock:
                over = [
                    candidate
                    for candidate in self._instances.values()
                    if candidate.state == "refused"
                ]
                for instance in over:
                    self._forget_instance(instance)

    def _find_instance(self, question: dict[str, Any]) -> Instance:
        instance = self._instances.get(str(question.get("instance")))
        if instance is None:
            raise NotFound("there is no such instance", next_step="ask for the state")
        return instance

    def _forget_instance(self, instance: Instance) -> None:
        with self._lock:
            self._instances.pop(instance.name, None)
            if self._front:
                self._front.remove(instance.place)
            if self._live is instance:
                self._live = None
            if not self._instances and self._front:
                self._front.close()
                self._front = None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="astra-holder", description=__doc__)
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--name", default=channel.HOLDER, help="holder, or staging")
    parser.add_argument("--ready", type=int, help="descriptor to tell when ready")
    parser.add_argument("--listener", type=int, help="a socket of the app's port to go on with")
    options = parser.parse_args(arguments)
    ready, listener = _move_descriptor(options.ready), _move_descriptor(options.listener)
    app_box.reserve_descriptor()
    raise_descriptor_limit()
    run_folder = options.data_root / "var" / "run"
    with (run_folder / f"{options.name}.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _report_ready(ready, "another holder is there")
            return 1
        adopted = None if listener is None else socket.socket(fileno=listener)
        holder = Holder(options.data_root, options.name, adopted)
        takeover.write_note(run_folder / f"{options.name}.lock", 0)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: holder.leaving.set())
        control = channel.listen(run_folder, options.name)
        threading.Thread(target=_serve_control, args=(holder, control), daemon=True).start()
        _report_ready(ready, "")
        while _is_there(lock) and not holder.leaving.wait(_LOOK_SECONDS):
            with contextlib.suppress(OSError, MemoryError, RuntimeError):
                holder.forget_stopped()
                bounded_log.turn_over(holder_log_path(options.data_root), sys.stderr.fileno())
        (run_folder / channel.socket_name(options.name)).unlink(missing_ok=True)
        holder.close()
    return 0


def _is_there(lock: BinaryIO) -> bool:
    """Tell whether the data root was not removed: nobody could find the app, to end it."""
    return os.fstat(lock.fileno()).st_nlink > 0


def raise_descriptor_limit() -> None:
    """Take as many descriptors as the machine gives; boxes have limits of their own."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _open_descriptors() -> int:
    """Count them; counting takes one, so where that fails all are in use."""
    try:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are enough
    except OSError:
        return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _serve_control(holder: Holder, control: socket.socket) -> None:
    """Answer for ever. A descriptor is kept in hand, to hear one question at a time without any."""
    spare: int | None = None
    while True:
        try:
            spare = _open_spare() if spare is None else spare
            connection, _address = control.accept()
            _answer_apart(holder, connection)
        except OSError as error:
            if error.errno in _NO_DESCRIPTOR and spare is not None:
                os.close(spare)
                spare = None
                _answer_here(holder, control)
            else:
                time.sleep(_ACCEPT_PAUSE)
        except MemoryError:
            time.sleep(_ACCEPT_PAUSE)


def _open_spare() -> int | None:
    with contextlib.suppress(OSError):
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    return None


def _answer_apart(holder: Holder, connection: socket.socket) -> None:
    try:
        threading.Thread(target=_answer_connection, args=(holder, connection), daemon=True).start()
    except RuntimeError:  # no thread left: then this one answers
        _answer_connection(holder, connection)


def _answer_here(holder: Holder, control: socket.socket) -> None:
    """Answer who waits, in this thread, with the one descriptor that was kept for it."""
    control.settimeout(0)
    try:
        with contextlib.suppress(OSError):
            _answer_connection(holder, control.accept()[0])
    finally:
        control.settimeout(None)


def _answer_connection(holder: Holder, connection: socket.socket) -> None:
    with connection:
        connection.settimeout(_QUESTION_SECONDS)
        if (pid := channel.read_caller_pid(connection)) is None:
            return
        takeover.allow_copying(pid)
        answer: dict[str, Any]
        try:
            question = channel.read_line(connection)
            answer = holder.answer({**question, "connection": connection})
        except AstraError as error:
            answer = {"error": error.as_dict()}
        except (OSError, ValueError, KeyError, TypeError, MemoryError, RuntimeError) as error:
            answer = {"error": _in_words(error).as_dict()}
        handed: list[socket.socket] = answer.pop(channel.SOCKETS, [])
        with contextlib.suppress(OSError):
            channel.send(connection, answer, handed)
    if holder.is_closed:
        holder.leaving.set()


def _in_words(error: Exception) -> AstraError:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return AstraError(
            f"another program listens on the app's port: {error.strerror}",
            code="port_taken",
            next_step="end it, or set another [app] port and sign it, then astra deploy",
        )
    return AstraError(
        f"the holder failed: {type(error).__name__} {error}", next_step="logs/holder.log"
    )


def _move_descriptor(descriptor: int | None) -> int | None:
    """Take the descriptor out of the way of the reserved number."""
    return None if descriptor is None else fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)


def _report_ready(ready: int | None, problem: str) -> None:
    if ready is not None:
        os.write(ready, json.dumps({"problem": problem}).encode() + b"\n")
        os.close(ready)


if __name__ == "__main__":
    sys.exit(main())
