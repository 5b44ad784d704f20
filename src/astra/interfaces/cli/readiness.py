"""`astra readiness`: the go / no-go list before code writing is turned on."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import json_text, one_line

_UNRELEASED = re.compile(r"^## \[?Unreleased\]?[^\n]*\n", re.MULTILINE)


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "--matrix", metavar="FILE", help="sign what `make matrix` wrote, so that it counts"
    )
    parser.add_argument("--report", metavar="FILE", help="write the evidence there")
    parser.add_argument("--sign", action="store_true", help="sign the report off, as the operator")
    parser.add_argument(
        "--changelog",
        metavar="FILE",
        help="with --sign: put the sign-off into this change log, below Unreleased",
    )
    parser.set_defaults(run=show_readiness)


def show_readiness(context: Context) -> int:
    arguments = context.arguments
    log = _read_change_log(arguments) if arguments.changelog else ""
    if arguments.matrix:
        _record_matrix(context, _read_matrix(arguments.matrix))
    report = context.client().post("/api/readiness")
    if arguments.report:
        Path(arguments.report).write_text(json_text(report, indent=2) + "\n")
    if arguments.sign:
        report["sequence"] = _sign_report(context, report)["sequence"]
        report["entry"] = write_entry(report)
    if arguments.changelog:
        Path(arguments.changelog).write_text(insert_entry(log, report["entry"]))
    context.console.print_result(report, *render_report(context, report))
    return 0 if report["go"] else 1


def render_report(context: Context, found: dict[str, Any]) -> list[str]:
    paint = context.console.paint
    rows = [
        f"  {paint('go   ', 'green') if line['go'] else paint('NO-GO', 'red')} {line['name']}: "
        f"{one_line(line['evidence'], 160)}"
        for line in found["lines"]
    ]
    verdict = paint("go", "green") if found["go"] else paint("no-go", "red")
    entry = [found["entry"]] if "entry" in found else []
    return [*rows, f"together: {verdict}", *entry]


def write_entry(report: dict[str, Any]) -> str:
    """Write a signed report down as an entry for a change log, with what proves it.

    >>> line = {"name": "the ledger verifies", "go": True}
    >>> report = {"at": "2026-03-01T10:00:00Z", "go": True, "sha256": "ab" * 32, "sequence": 7}
    >>> write_entry({**report, "lines": [line]})
    '- Readiness signed off on 2026-03-01: go, 1 of 1 lines. Record 7, sha-256 abababababab….'
    """
    lines = report["lines"]
    no_go_names = [one_line(line["name"], 80) for line in lines if not line["go"]]
    verdict = "go" if report["go"] else "no-go"
    without = f" Without: {'; '.join(no_go_names)}." if no_go_names else ""
    return (
        f"- Readiness signed off on {report['at'][:10]}: {verdict},"
        f" {len(lines) - len(no_go_names)} of {len(lines)} lines."
        f" Record {report['sequence']}, sha-256 {report['sha256'][:12]}….{without}"
    )


def insert_entry(log: str, entry: str) -> str:
    """Put an entry below the heading of what is not released yet, which is made where it lacks."""
    match = _UNRELEASED.search(log)
    if match:
        return f"{log[: match.end()]}\n{entry}\n{log[match.end() :]}"
    title, separator, body = log.partition("\n")
    return f"{title}{separator}\n## Unreleased\n\n{entry}\n{body}"


def _read_change_log(arguments: argparse.Namespace) -> str:
    """Read the change log before anything is signed, so that nothing is signed for nothing."""
    if not arguments.sign:
        raise BadInput("--changelog goes with --sign", next_step="add --sign")
    try:
        return Path(arguments.changelog).read_text()
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{arguments.changelog} cannot be read: {error}", next_step="name a change log"
        ) from None


def warn_unready(context: Context) -> int:
    """Show what is still missing before code writing is turned on; says how much."""
    report = context.client().post("/api/readiness")
    no_go_report = {**report, "lines": [line for line in report["lines"] if not line["go"]]}
    for line in render_report(context, no_go_report):
        context.console.note(line)
    return len(no_go_report["lines"])


def _record_matrix(context: Context, matrix: Any) -> None:
    """Show what a run of the matrix said, and have the operator sign that."""
    from astra.interfaces.cli.signing import sign_action

    content = context.client().post("/api/readiness/matrix/content", matrix)
    for row in content["rows"]:
        verdict = "passed" if row["passed"] else "FAILED"
        context.console.note(f"  {row['name']}, flag {row['flag']}: {verdict}, {row['summary']}")
    authority = sign_action(context, "readiness_matrix_recorded", content)
    context.client().post("/api/readiness/matrix", {"matrix": matrix, "authority": authority})


def _sign_report(context: Context, found: dict[str, Any]) -> dict[str, Any]:
    from astra.interfaces.cli.signing import sign_action

    content = {"sha256": found["sha256"], "go": found["go"], "at": found["at"]}
    authority = sign_action(context, "readiness_signed_off", content)
    return context.client().post(
        "/api/readiness/sign-off", {"report": content, "authority": authority}
    )


def _read_matrix(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} cannot be read: {error}", next_step="make matrix") from None
