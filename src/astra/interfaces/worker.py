"""The worker process: it opens no door, and leaves on SIGTERM when what it does is over.

A second signal does not wait: what runs is ended, and another worker does it again.
"""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from astra.bootstrap.working import WorkerAtWork, open_worker
from astra.interfaces.daemon import logs
from astra.interfaces.daemon.connections import raise_descriptor_limit
from astra.interfaces.leaving import wait_until_leaving
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import AstraError
from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.cgroups import take_delegation
from astra.trusted.settings import environment
from astra.trusted.stop import stop
from astra.workers.model import Skills

_log = logging.getLogger("astra.worker")


def main(arguments: list[str] | None = None) -> int:
    options = _parse_arguments(arguments)
    raise_descriptor_limit()
    logs.set_up(DataRoot(options.data_root).log)
    environ = {**os.environ, "AGENT_DATA_ROOT": str(options.data_root)}
    try:
        settings = environment.load(environ, DataRoot(options.data_root).dotenv())
        worker = open_worker(
            settings,
            _read_skills(options.skills),
            drain_seconds=options.drain_seconds,
            groups=take_delegation(),
        )
    except AstraError as error:
        _log.error("%s; next: %s", error, error.next_step)
        sys.stderr.write(f"astra: {error.detail}\nnext: {error.next_step}\n")
        return error.exit_code
    if options.turn is not None:
        os.close(options.turn)
    _work_until_signal(worker)
    return 0


def _work_until_signal(worker: WorkerAtWork) -> None:
    leaving = threading.Event()

    def handle_signal(_number: int, _frame: FrameType | None) -> None:
        if leaving.is_set():
            stop.end_marked(worker.runtime.root.path, frozenset({boxes.RUN}))
            os._exit(1)
        leaving.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle_signal)
    worker.start()
    _log.info("working for %s", worker.runtime.root.path)
    wait_until_leaving(leaving)
    worker.leave()
    _log.info("left")


def _read_skills(text: str) -> Skills:
    document = json.loads(text)
    return Skills(
        kinds=tuple(document["kinds"]),
        labels=document["labels"],
        instance=document["instance"],
        jobs=document["jobs"],
    )


def _parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="astra-worker", description=__doc__)
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--skills", required=True, help="what it can do, as JSON")
    parser.add_argument("--drain-seconds", type=float, required=True)
    parser.add_argument("--turn", type=int, help="descriptor of the lock to let go once it owns")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
