"""Faults at random under mixed work, on a small disk of its own, and a model of what must hold.

    make soak MINUTES=60            # prints its seed
    make soak MINUTES=10 SEED=1     # the same faults in the same order again
    python tests/soak.py --faults 3 --seed 1 --without-app

The seed decides which faults come in which order and what the workers do; when the machine gets to
each of it, it does not. Every fault comes once before any comes again. After each one the work has
to go on, and at the end the chain has to say what the workers were told. Exit code 1: it did not.
"""

import argparse
import os
import random
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from astra.trusted.sandbox import boxes
from deploying import fetch, until
from driver import Astra, make_repository
from soak_faults import FAULTS, MOST_SECONDS, World, find_obstacle
from soak_work import (
    CONFIGURATION,
    Deployer,
    FlagWorker,
    NoteWorker,
    Reader,
    Worker,
    examine,
)

DISK = "size=384m,nr_inodes=12000"
INSIDE = "SOAK_FOLDER"


def main() -> int:
    options = parse_arguments()
    if INSIDE in os.environ:
        return soak(Path(os.environ[INSIDE]), options)
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "disk").mkdir()
        return run_with_disk(Path(folder), options.seed)


def run_with_disk(folder: Path, seed: int) -> int:
    """Start again in a mount namespace with a small disk, or without where that is not allowed."""
    mount = f'mount -t tmpfs -o {DISK} tmpfs "{folder}/disk"; exec "$@"'
    space = ["unshare", "--mount", "sh", "-c", mount, "sh"]
    if os.geteuid() != 0 or subprocess.run([*space, "true"], check=False).returncode != 0:
        space = []
    command = [sys.executable, __file__, *sys.argv[1:], "--seed", str(seed)]
    environment = {**os.environ, INSIDE: str(folder)}
    return subprocess.run([*space, *command], check=False, env=environment).returncode


def soak(folder: Path, options: argparse.Namespace) -> int:
    print(f"seed {options.seed}", flush=True)
    world = make_world(folder, options)
    os.environ.update(world.astra.environment)
    workers = hire_workers(world, folder, options)
    world.is_at_rest = lambda: not any(worker.is_working for worker in workers)
    over = threading.Event()
    threads = [threading.Thread(target=worker.work, args=(over,)) for worker in workers]
    for thread in threads:
        thread.start()
    world.may_work.set()
    try:
        counts = make_faults(world, workers, options)
        over.set()
        for thread in threads:
            thread.join()
        violations = world.violations + finish(world, workers)
    finally:
        over.set()
        world.astra.end()
    report(counts, workers, violations)
    return 1 if violations else 0


def make_world(folder: Path, options: argparse.Namespace) -> World:
    disk = folder / "disk"
    (disk / "home").mkdir()
    astra = Astra(disk)
    astra.json("init", make_repository(disk / "target"), "--throwaway")
    if not options.without_app:
        (astra.root / "astra.toml").write_text(CONFIGURATION)
        astra.json("config", "sign")
    return World(astra=astra, disk=disk, dice=random.Random(options.seed))


def hire_workers(world: World, folder: Path, options: argparse.Namespace) -> list[Worker]:
    def dice(name: str) -> random.Random:
        return random.Random(f"{options.seed} {name}")

    astra, may_work = world.astra, world.may_work
    workers: list[Worker] = [
        FlagWorker(astra=astra, dice=dice("flags"), may_work=may_work),
        NoteWorker(astra=astra, dice=dice("notes"), may_work=may_work),
        Reader(astra=astra, dice=dice("pages"), may_work=may_work),
    ]
    if options.without_app:
        return workers
    work_tree = folder / "work"
    subprocess.run(["git", "clone", "-q", astra.root / "var" / "git", work_tree], check=True)
    head = ["git", "rev-parse", "HEAD"]
    deployer = Deployer(
        astra=astra,
        dice=dice("apps"),
        may_work=may_work,
        work_tree=work_tree,
        base=subprocess.check_output(head, cwd=work_tree, text=True).strip(),
    )
    return [*workers, deployer]


def make_faults(world: World, workers: list[Worker], options: argparse.Namespace) -> Counter[str]:
    counts: Counter[str] = Counter()
    deadline = time.monotonic() + options.minutes * 60
    for name in choose_faults(world, options.only or list(FAULTS)):
        is_over = counts.total() >= options.faults if options.faults else False
        if is_over or (not options.faults and time.monotonic() >= deadline):
            break
        began = time.monotonic()
        FAULTS[name](world)
        trouble = await_progress(workers)
        print(f"{name}: {time.monotonic() - began:.1f} s until work went on{trouble}", flush=True)
        counts[name] += 1
        if trouble:
            world.violations.append(f"after “{name}”{trouble}")
            break
    return counts


def choose_faults(world: World, wanted: list[str]) -> Iterator[str]:
    """Give the faults that can be made here, in an order that the seed decides, without end."""
    obstacles = {name: find_obstacle(name, world.disk) for name in wanted}
    for name, obstacle in obstacles.items():
        if obstacle:
            print(f"skipped: {name} ({obstacle})", flush=True)
    names = [name for name in wanted if not obstacles[name]]
    while True:
        world.dice.shuffle(names)
        yield from names


def await_progress(workers: list[Worker]) -> str:
    """Wait until each worker got something done again; gives what does not go on."""
    before = {id(worker): worker.answered for worker in workers}
    deadline = time.monotonic() + MOST_SECONDS
    while stuck := [one for one in workers if one.answered == before[id(one)]]:
        if time.monotonic() > deadline:
            names = ", ".join(f"{type(one).__name__} {dict(one.codes)}" for one in stuck)
            return f": no progress in {MOST_SECONDS:.0f} s of {names}"
        time.sleep(0.05)
    return ""


def finish(world: World, workers: list[Worker]) -> list[str]:
    """End the work, compare it with the chain, and leave nothing behind."""
    violations: list[str] = []
    astra = world.astra
    for worker in workers:
        if isinstance(worker, Deployer):
            violations += finish_deployments(worker, astra)
    violations += examine(astra, workers)
    astra.run("down")
    if survivors := boxes.list_marked(astra.root):
        violations.append(f"{len(survivors)} boxes survived `astra down`")
    logs = sum(path.stat().st_size for path in (astra.root / "logs").rglob("*") if path.is_file())
    if logs > 64 << 20:
        violations.append(f"the logs have {logs >> 20} MiB")
    return violations


def finish_deployments(worker: Deployer, astra: Astra) -> list[str]:
    """Deploy a good release last: it has to serve, whatever came before."""
    worker.count += 1
    worker.deploy(is_sick=False)

    def is_served() -> bool:
        app = astra.json("status")["app"]
        with suppress(OSError, ValueError):
            return fetch(app["port"], "/healthz")["release"] == app["release"]
        return False

    with suppress(AssertionError):
        until(is_served, seconds=MOST_SECONDS)
        return []
    return [f"after a good deployment the app does not serve: {astra.json('status')['app']}"]


def report(counts: Counter[str], workers: list[Worker], violations: list[str]) -> None:
    print(f"faults: {dict(counts)}")
    for worker in workers:
        name, codes = type(worker).__name__, dict(worker.codes)
        print(f"{name}: {worker.acknowledged} acknowledged, refused or lost {codes}")
    for line in violations:
        print(f"BROKEN: {line}")
    print(
        "everything held" if not violations else f"{len(violations)} things did not hold",
        flush=True,
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--faults", type=int, default=0, help="so many faults instead of minutes")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--only", action="append", choices=list(FAULTS), help="only this fault")
    parser.add_argument("--without-app", action="store_true", help="no deployments")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
