"""`astra readiness`: the go / no-go list before code writing is turned on."""

import argparse
import json
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import json_text, one_line


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "--matrix", metavar="FILE", help="sign what `make matrix` wrote, so that it counts"
    )
    parser.add_argument("--report", metavar="FILE", help="write the evidence there")
    parser.add_argument("--sign", action="store_true", help="sign the report off, as the operator")
    parser.set_defaults(run=readiness)


def readiness(context: Context) -> int:
    given = context.arguments
    if given.matrix:
        _record_matrix(context, _read(given.matrix))
    found = context.client().post("/api/readiness")
    if given.report:
        Path(given.report).write_text(json_text(found, indent=2) + "\n")
    if given.sign:
        found["sequence"] = _sign(context, found)["sequence"]
    context.console.result(found, *lines(context, found))
    return 0 if found["go"] else 1


def lines(context: Context, found: dict[str, Any]) -> list[str]:
    paint = context.console.paint
    shown = [
        f"  {paint('go   ', 'green') if line['go'] else paint('NO-GO', 'red')} {line['name']}: "
        f"{one_line(line['evidence'], 160)}"
        for line in found["lines"]
    ]
    verdict = paint("go", "green") if found["go"] else paint("no-go", "red")
    return [*shown, f"together: {verdict}"]


def warn(context: Context) -> int:
    """Show what is still missing before code writing is turned on; says how much."""
    found = context.client().post("/api/readiness")
    missing = {**found, "lines": [line for line in found["lines"] if not line["go"]]}
    for line in lines(context, missing):
        context.console.note(line)
    return len(missing["lines"])


def _record_matrix(context: Context, matrix: Any) -> None:
    """Show what a run of the matrix said, and have the operator sign that."""
    from astra.interfaces.cli.signing import signed

    content = context.client().post("/api/readiness/matrix/content", matrix)
    for row in content["rows"]:
        verdict = "passed" if row["passed"] else "FAILED"
        context.console.note(f"  {row['name']}, flag {row['flag']}: {verdict}, {row['summary']}")
    authority = signed(context, "readiness_matrix_recorded", content)
    context.client().post("/api/readiness/matrix", {"matrix": matrix, "authority": authority})


def _sign(context: Context, found: dict[str, Any]) -> dict[str, Any]:
    from astra.interfaces.cli.signing import signed

    content = {"sha256": found["sha256"], "go": found["go"], "at": found["at"]}
    authority = signed(context, "readiness_signed_off", content)
    return context.client().post(
        "/api/readiness/sign-off", {"report": content, "authority": authority}
    )


def _read(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} cannot be read: {error}", next_step="make matrix") from None
