"""Timing contenders against each other, and saying what came out.

The contenders of one measure take turns, round after round, so that a busy moment of the machine
hits all of them; the best round of each counts. One measure is one line of JSON:

    {"name": "P1 …", "value": 39, "reference": 52, "ratio": 0.75, "target": "≥ 0.5 x", "ok": true}
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SIZES = (1_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 2_000, 5_000)


@dataclass(frozen=True)
class Target:
    text: str
    met: Callable[[float, float], bool]


def at_least(ratio: float) -> Target:
    return Target(f"≥ {ratio:g} x", lambda value, reference: value >= ratio * reference)


def at_most_times(ratio: float) -> Target:
    return Target(f"≤ {ratio:g} x", lambda value, reference: value <= ratio * reference)


def times_faster(ratio: float) -> Target:
    return Target(f"{ratio:g} x faster", lambda value, reference: value * ratio <= reference)


def at_most_over(seconds: float) -> Target:
    return Target(f"≤ {seconds:g} s over", lambda value, reference: value - reference <= seconds)


def at_most(seconds: float) -> Target:
    return Target(f"≤ {seconds:g} s", lambda value, _reference: value <= seconds)


def is_quick() -> bool:
    """Read the command line: `--quick` only shows that a script works; its numbers mean nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    return bool(parser.parse_args().quick)


def sizes(*, quick: bool) -> tuple[int, ...]:
    return QUICK_SIZES if quick else SIZES


def best_rounds(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Let the contenders take turns; each returns its seconds, and gets its shortest back."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            best[name] = min(best[name], run())
    return best


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def report(
    name: str, value: float, reference: float | None = None, target: Target | None = None
) -> None:
    measure = {
        "name": name,
        "value": _rounded(value),
        "reference": None if reference is None else _rounded(reference),
        "ratio": round(value / reference, 3) if reference else None,
        "target": target.text if target else None,
        "ok": target.met(value, reference or 0.0) if target else None,
    }
    print(json.dumps(measure, ensure_ascii=False), flush=True)


def not_measured(name: str, why: str) -> None:
    """Say that a measure was not taken, and why: a silent row would look like a good one."""
    empty = dict.fromkeys(("value", "reference", "ratio", "target", "ok"))
    print(json.dumps({"name": f"{name}: not measured, {why}", **empty}), flush=True)


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder on the disk that holds this repository: /tmp may be memory, where syncs lie."""
    beside = Path(__file__).parent
    with tempfile.TemporaryDirectory(prefix=".run-", dir=beside) as name:
        yield Path(name)


def _rounded(value: float) -> float:
    return round(value, 4) if value < 100 else round(value)
