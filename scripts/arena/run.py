"""`make arena`: brings the sets that are at hand, runs them, writes the figures.

    python scripts/arena/run.py --sample 5 --sets codeipi,agentdojo
    python scripts/arena/run.py --redcode folder --govbench folder

RedCode and AgentGovBench are in no package registry: name a copy of yours. Nothing of a set is
copied into the repository. With `--operator careless` everything is signed and nothing is written:
that shows what the judges find when nobody looks.
"""

import argparse
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from arena import codeipi, dojo, govbench, page, redcode  # noqa: E402 - the folder is put in place above
from arena.outcome import Progress, SetReport  # noqa: E402 - likewise

ENVIRONMENT = ROOT / ".venv-arena"
PYTHON = ENVIRONMENT / "bin" / "python"
PAGE = ROOT / "docs" / "explanation" / "attacks.md"
FIGURES = PAGE.with_name("arena.json")
SETS = ("codeipi", "agentdojo", "redcode", "govbench")
_NOT_PUBLISHED = "in no package registry; give the folder of a copy with"
Member = TypeVar("Member")


def main() -> int:
    options = _parse_options()
    signal.signal(
        signal.SIGTERM, lambda number, _frame: sys.exit(128 + number)
    )  # worlds are removed
    print(f"seed {options.seed}, {options.sample or 'all'} samples a set", flush=True)
    runners = {
        "codeipi": run_codeipi,
        "agentdojo": run_agentdojo,
        "redcode": run_redcode,
        "govbench": run_govbench,
    }
    reports = [runners[name](options) for name in options.sets.split(",")]
    summaries = [{**report.summarize(), "seed": options.seed} for report in reports]
    if options.operator == "careful":
        page.write_page(PAGE, page.write_figures(FIGURES, summaries))
    else:
        print(page.write_table(summaries))
    for report in reports:
        print_harm(report)
    return 1 if any(report.harmful for report in reports) else 0


def run_codeipi(options: argparse.Namespace) -> SetReport:
    place = Path(options.codeipi) if options.codeipi else codeipi.find_samples(ENVIRONMENT)
    if place is None:
        return SetReport(name=codeipi.NAME, size=0, not_at_hand="the package has no samples")
    samples = codeipi.read_samples(place)
    return codeipi.run_set(
        pick_samples(samples, options),
        size=len(samples),
        python=PYTHON,
        is_careless=options.operator == "careless",
        progress=make_progress(options),
    )


def run_agentdojo(options: argparse.Namespace) -> SetReport:
    with dojo.open_desk(PYTHON) as desk:
        suites = desk.ask("list")
        return dojo.run_set(
            pick_samples(dojo.list_pairs(suites), options),
            suites,
            desk=desk,
            python=PYTHON,
            is_careless=options.operator == "careless",
            progress=make_progress(options),
        )


def run_redcode(options: argparse.Namespace) -> SetReport:
    if not options.redcode:
        return SetReport(name=redcode.NAME, size=1410, not_at_hand=f"{_NOT_PUBLISHED} REDCODE=")
    programs = redcode.read_programs(Path(options.redcode))
    samples = pick_samples(programs, options)
    return redcode.run_set(
        samples, size=len(programs), python=PYTHON, progress=make_progress(options)
    )


def run_govbench(options: argparse.Namespace) -> SetReport:
    if not options.govbench:
        return SetReport(name=govbench.NAME, size=48, not_at_hand=f"{_NOT_PUBLISHED} GOVBENCH=")
    scenarios = govbench.read_scenarios(Path(options.govbench), PYTHON)
    samples = pick_samples(scenarios, options)
    return govbench.run_set(samples, size=len(scenarios), progress=make_progress(options))


def pick_samples(members: Sequence[Member], options: argparse.Namespace) -> list[Member]:
    """Give the members of a set, or as many as were asked for, in an order by the seed."""
    shuffled_members = list(members)
    random.Random(options.seed).shuffle(shuffled_members)
    return shuffled_members[: options.sample or None]


def make_progress(options: argparse.Namespace) -> Progress:
    started = time.monotonic()

    def show_progress(name: str, done: int, total: int) -> bool:
        seconds = time.monotonic() - started
        print(f"{name}: {done} of {total}, {seconds:.0f} s", flush=True)
        return not options.minutes or seconds < options.minutes * 60

    return show_progress


def print_harm(report: SetReport) -> None:
    for outcome in report.attacks:
        for harm in outcome.harm:
            print(f"HARM {report.name} {outcome.sample}: {harm}")


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sample", type=int, default=0, help="so many samples of each set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="begin no sample after so many")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--operator", choices=("careful", "careless"), default="careful")
    for name in ("codeipi", "redcode", "govbench"):
        parser.add_argument(f"--{name}", default="", metavar="PATH")
    options: Any = parser.parse_args()
    if unknown := set(options.sets.split(",")) - set(SETS):
        parser.error(f"there is no set {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
