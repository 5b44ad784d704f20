"""`astra worker`, which does jobs for a shared chain, and `astra workers`, which lists them."""

import argparse
import json
import os
import re
import sys
from typing import Any

from astra.interfaces.cli import taking_over
from astra.interfaces.cli.client import daemon_environment
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import LedgerLocked
from astra.trusted.kernel.text import printable
from astra.workers.model import KINDS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_MOST_JOBS, _MOST_LABELS = 64, 20
_DRAIN_SECONDS = 600


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "workers":
        parser.set_defaults(run=show_workers)
        return
    parser.add_argument(
        "--instance", type=_parse_name, metavar="NAME", help="the app's instance here"
    )
    parser.add_argument(
        "--jobs", type=_parse_jobs, default=1, metavar="N", help="how many jobs at once, 1"
    )
    parser.add_argument(
        "--kinds",
        type=_parse_kinds,
        default=KINDS,
        metavar="K,K",
        help=f"what it does: {', '.join(KINDS)}; all of it without this",
    )
    parser.add_argument(
        "--label",
        action="append",
        type=_parse_label,
        default=[],
        metavar="K=V",
        help="what it is, for jobs that ask for it; may be given again",
    )
    parser.add_argument(
        "--drain",
        type=_parse_seconds,
        default=_DRAIN_SECONDS,
        metavar="S",
        help=f"seconds that jobs get to end when it leaves, {_DRAIN_SECONDS}",
    )
    parser.set_defaults(run=work)


def work(context: Context) -> None:
    """Become the worker: the same process, so that Ctrl-C and a service manager reach it."""
    from astra.trusted.file_ledger.owner_lock import find_holder
    from astra.trusted.files.data_root import DataRoot

    arguments, root = context.arguments, DataRoot(context.settings.data_root)
    root.require_first_record()
    skills = {
        "kinds": list(arguments.kinds),
        "labels": dict(arguments.label[:_MOST_LABELS]),
        "instance": arguments.instance or "",
        "jobs": arguments.jobs,
    }
    with taking_over.hold_turn(root.path) as turn:
        if pid := find_holder(root.run / "owner.lock"):
            raise LedgerLocked(
                f"this data root is already owned by process {pid}",
                next_step="give the worker a data folder of its own, or run `astra down`",
                pid=pid,
            )
        context.console.note(f"a worker owns {root.path}; Ctrl-C ends it")
        command = [sys.executable, "-I", "-m", "astra.interfaces.worker"]
        command += ["--data-root", str(root.path), "--skills", json.dumps(skills)]
        command += ["--drain-seconds", str(arguments.drain), "--turn", str(turn)]
        os.set_inheritable(turn, True)  # noqa: FBT003 - the system's own call
        os.execve(sys.executable, command, daemon_environment())  # noqa: S606 - ourselves


def show_workers(context: Context) -> None:
    page = context.client().get("/api/workers")
    lines = [line for worker in page["items"] for line in _render_worker(context, worker)]
    nobody = "no worker has joined; start one with `astra worker` on a machine of the chain"
    context.console.print_result(page, *(lines or [nobody]))


def _render_worker(context: Context, worker: dict[str, Any]) -> list[str]:
    colours = {"ready": "green", "draining": "yellow"}
    state = context.console.paint(worker["state"], colours.get(worker["state"], "red"))
    labels = " ".join(f"{name}={value}" for name, value in worker["labels"].items())
    facts = [
        f"kinds {','.join(worker['kinds'])}",
        *([labels] if labels else []),
        *([f"instance {worker['instance']}"] if worker["instance"] else []),
        f"{len(worker['current_jobs'])} of {worker['jobs']} jobs",
        f"version {worker['version']}",
        f"since {show_time(worker['since'])}",
    ]
    head = f"{worker['id']}  {printable(worker['name'])}: {state}; {printable('; '.join(facts))}"
    jobs = [f"    does {printable(job)}" for job in worker["current_jobs"]]
    problems = [f"    takes no jobs: {printable(problem)}" for problem in worker["problems"]]
    return [head, *jobs, *problems]


def _parse_name(text: str) -> str:
    if _NAME.fullmatch(text):
        return text
    raise argparse.ArgumentTypeError(f"{text[:80]!r} is no name: letters, digits, . _ -")


def _parse_label(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if separator and _NAME.fullmatch(name) and _NAME.fullmatch(value):
        return name, value
    raise argparse.ArgumentTypeError(f"{text[:80]!r} is no label: name it as gpu=yes")


def _parse_kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(dict.fromkeys(text.split(",")))
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise argparse.ArgumentTypeError(
            f"{unknown[0][:80]!r} is no kind of job: {', '.join(KINDS)}"
        )
    return kinds


def _parse_jobs(text: str) -> int:
    if text.isdigit() and 1 <= int(text) <= _MOST_JOBS:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:80]!r} is no number from 1 to {_MOST_JOBS}")


def _parse_seconds(text: str) -> int:
    if text.isdigit():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:80]!r} is no number of seconds")
