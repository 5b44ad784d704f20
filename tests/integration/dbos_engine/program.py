"""A process that runs a job and can be killed in the middle of it.

    python program.py MODULE DATABASE LOG WHAT [EXECUTOR_ID]

Writes a line to LOG for every piece of work, and one to standard output when it may be killed.
WHAT is `hang-in-run`, `hang-in-done` (submit a job that stops there), or `resume` (submit nothing,
wait until the job that was left is over), `start` (only start and end), `refused` (say why it does
not start), or `read` (look at what is kept).
"""

import importlib.util
import sys
import threading
from pathlib import Path
from typing import Any

from astra.trusted.kernel.errors import AstraError

KEY = "job-1"


def main(module: str, database: str, log: str, what: str, executor_id: str = "daemon") -> None:
    engine_module = load(module)

    def say(word: str) -> None:
        with Path(log).open("a") as file:
            file.write(f"{word}\n")

    def stop_here(where: str) -> None:
        if what == where:
            print("kill me", flush=True)
            threading.Event().wait()

    def run(argument: str) -> str:
        say(f"run {argument}")
        stop_here("hang-in-run")
        return "fine"

    def done(argument: str, outcome: str) -> None:
        stop_here("hang-in-done")
        say(f"done {argument} {outcome}")

    job = engine_module.Job(run=run, done=done)
    engine = engine_module.DbosEngine(Path(database), {"work": job}, executor_id=executor_id)
    if what == "refused":
        print(refusal(engine), flush=True)
        return
    engine.start()
    act(engine, what)
    engine.close()


def refusal(engine: Any) -> str:
    try:
        engine.start()
    except AstraError as error:
        return f"{error.reason}: {error}"
    return "it started"


def act(engine: Any, what: str) -> None:
    if what == "read":
        engine.states()
    if what.startswith("hang"):
        engine.submit(KEY, "work", "a")
    if what == "resume" or what.startswith("hang"):
        engine.wait(KEY)


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("engine_under_test", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(*sys.argv[1:])
