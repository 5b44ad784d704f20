"""Run the rows (`p*.py`, or those named), and write RESULTS.md and growth.svg beside them.

    python benchmarks/run.py [--quick] [--output FOLDER] [ROW …]

With `--quick` the numbers mean nothing, so nothing is written unless `--output` says where.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import results

HERE = Path(__file__).parent


def main() -> int:
    options = parse()
    scripts = [HERE / f"{row}.py" for row in options.rows] or sorted(
        HERE.glob("p[0-9]*.py"), key=number
    )
    output = options.output or (None if options.quick else HERE)
    if output:
        output.mkdir(parents=True, exist_ok=True)
    measures = [measure for script in scripts for measure in run(script, quick=options.quick)]
    if output:
        results.write(output, measures)
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="such as p3_verify; all if none")
    parser.add_argument("--quick", action="store_true", help="only show that it works")
    parser.add_argument("--output", type=Path, help="folder for RESULTS.md and growth.svg")
    return parser.parse_args()


def number(script: Path) -> int:
    return int(script.name[1:].partition("_")[0])


def run(script: Path, *, quick: bool) -> list[dict[str, Any]]:
    """Run one row, showing its lines as they come; a row that fails ends the run."""
    command = [sys.executable, str(script), *(["--quick"] if quick else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        measures = []
        for line in process.stdout or ():
            print(line, end="", flush=True)
            measures.append(json.loads(line))
    if process.returncode:
        raise SystemExit(f"{script.name} failed")
    return measures


if __name__ == "__main__":
    sys.exit(main())
