"""The daemon's side of the holder: starts it when it is needed, and speaks its protocol."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.adapters.supervisor import channel, takeover
from astra.adapters.supervisor.app_log import STARTING, AppLog, app_log_path, holder_log_path
from astra.adapters.supervisor.lending import LentListeners
from astra.deployments.ports import AppSpec, Checked, HolderState, Running
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.masking import mask

_SHORT, _LONG = 5.0, 120.0
_LONGEST = 2 * 3600.0 + _LONG  # twice the longest drain
_KEPT_VARIABLES = ("HOME", "PATH", "LANG", "TZ", "TMPDIR", "XDG_CONFIG_HOME")


class NoHolder(AstraError):
    code = "no_holder"
    http_status = 503


@dataclass(frozen=True)
class HolderClient:
    data_root: Path
    name: str = channel.HOLDER
    lent: LentListeners | None = None
    """The daemon's own sockets: an app starts only below a holder that has them."""

    def state(self) -> HolderState | None:
        try:
            answer = channel.ask(self._run, self.name, {"do": "state"}, seconds=_SHORT)
        except (OSError, ValueError):
            return None
        return HolderState(
            pid=int(answer["pid"]),
            port=answer["port"],
            live=answer["live"],
            instances=tuple(Running(**instance) for instance in answer["instances"]),
            descriptors=int(answer.get("descriptors", 0)),
            most_descriptors=int(answer.get("most_descriptors", 0)),
            rules_ports=bool(answer.get("rules_ports")),
        )

    def launch(self, spec: AppSpec) -> str:
        if self.state() is None:
            self._replace_holder()
        if self.lent is not None:
            self.lent.lend(self.name)
        return str(self._ask_holder({"do": "launch", "spec": spec.as_dict()})["instance"])

    def check(self, instance: str, path: str, *, seconds: float) -> Checked:
        question = {"do": "check", "instance": instance, "path": path, "seconds": seconds}
        try:
            answer = self._ask_holder(question, seconds=seconds + _SHORT)
        except AstraError as error:
            return Checked(ok=False, detail=error.detail)
        return Checked(
            ok=bool(answer["ok"]), detail=str(answer["detail"]), foreign=bool(answer.get("foreign"))
        )

    def switch(self, instance: str) -> str | None:
        return self._ask_holder({"do": "switch", "instance": instance})["previous"]

    def reload(self, instance: str, spec: AppSpec, changed: Sequence[str]) -> Checked:
        question = {"do": "reload", "instance": instance, "spec": spec.as_dict()}
        answer = self._ask_holder({**question, "changed": list(changed)}, seconds=_LONG)
        return Checked(ok=bool(answer["ok"]), detail=str(answer["detail"]))

    def stop(self, instance: str) -> Mapping[str, Any]:
        return self._ask_holder({"do": "stop", "instance": instance}, seconds=_LONGEST)

    def retire(self, instance: str) -> Mapping[str, Any]:
        return self._ask_holder({"do": "retire", "instance": instance}, seconds=_LONGEST)

    def end(self, instance: str) -> None:
        self._ask_holder({"do": "end", "instance": instance}, seconds=_LONG)

    def read_output(self) -> str:
        """Give the end of what the last start printed, masked and escaped."""
        tail = AppLog(app_log_path(self.data_root, self.name)).tail().rpartition(STARTING)[2]
        return "\n".join(ascii(line)[1:-1] for line in mask(tail).splitlines())

    def close(self) -> None:
        """End the holder and its app; one that does not answer is killed, and its boxes with it."""
        if self.state() is not None and self._has_closed():
            return
        with takeover.open_lock_holder(self._lock) as mute:
            if mute is not None and self.state() is None and takeover.kill_holder(mute):
                self._socket.unlink(missing_ok=True)

    def _has_closed(self) -> bool:
        """Ask it to close; one that was leaving already may be gone before it hears that."""
        try:
            self._ask_holder({"do": "close"}, seconds=_LONG)
        except NoHolder:
            if self.state() is not None:
                raise
            return False
        return True

    def is_expected(self) -> bool:
        """Tell whether a holder runs, or was killed: one that leaves takes its socket away."""
        return self._socket.exists()

    @property
    def _lock(self) -> Path:
        return self._run / f"{self.name}.lock"

    @property
    def _socket(self) -> Path:
        return self._run / channel.socket_name(self.name)

    @property
    def _run(self) -> Path:
        return self.data_root / "var" / "run"

    def _ask_holder(self, question: dict[str, Any], *, seconds: float = _SHORT) -> dict[str, Any]:
        try:
            return channel.ask(self._run, self.name, question, seconds=seconds)
        except (OSError, ValueError) as error:
            raise NoHolder(
                f"the holder of the app does not answer: {error}",
                next_step="look at logs/holder.log in the data root",
            ) from error

    def _replace_holder(self) -> None:
        """Start a holder; from one that has the lock and answers nobody, its sockets are taken."""
        with takeover.open_lock_holder(self._lock) as mute:
            if mute is None or self.state() is not None:
                self._start_holder()
                return
            copies = takeover.copy_listeners(mute)
            try:
                if not takeover.kill_holder(mute):
                    raise NoHolder(
                        f"the holder of the app (pid {mute.pid}) neither answers nor ends",
                        next_step="look at logs/holder.log in the data root, and at that process",
                    )
                self._start_holder(copies[0] if copies else None)
            finally:
                for copied in copies:
                    copied.close()

    def _start_holder(self, adopted: socket.socket | None = None) -> None:
        """Start a holder that outlives the daemon."""
        reading, writing = os.pipe()
        command = [sys.executable, "-I", "-m", "astra.adapters.supervisor.holder"]
        command += ["--data-root", str(self.data_root), "--name", self.name]
        command += ["--ready", str(writing)]
        handed = (writing,) if adopted is None else (writing, adopted.fileno())
        command += [] if adopted is None else ["--listener", str(adopted.fileno())]
        with holder_log_path(self.data_root).open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                pass_fds=handed,
                start_new_session=True,
            )
        threading.Thread(target=process.wait, name="holder-reaper", daemon=True).start()
        os.close(writing)
        with os.fdopen(reading) as pipe:
            ready_report = json.loads(pipe.readline() or '{"problem": "it ended at once"}')
        if ready_report["problem"]:
            raise NoHolder(
                f"the holder of the app did not start: {ready_report['problem']}",
                next_step="look at logs/holder.log in the data root",
            )
