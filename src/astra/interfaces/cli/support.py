"""`astra support`: an archive that helps somebody else to find a fault, without secrets."""

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument("--output", metavar="FILE", help="where to (astra-support-TIME.tar.gz)")
    parser.set_defaults(run=make_bundle)


def make_bundle(context: Context) -> None:
    from astra.adapters.support_bundle import Bundle
    from astra.trusted.files.data_root import DataRoot

    DataRoot(context.data_root).require_first_record()
    path = Path(context.arguments.output or _default_name()).absolute()
    bundle = Bundle(data_root=context.data_root, reports=_list_reports(context))
    try:
        names = bundle.write(path)
    except FileExistsError:
        raise BadInput(f"{path} is there already", next_step="name another --output") from None
    document = {"file": str(path), "items": names, "next": None}
    lines = [f"wrote {path}, which only you can read:", *(f"  {name}" for name in names)]
    context.console.print_result(document, *lines, _LAST_WORDS)


_LAST_WORDS = "secrets were taken out by rule; look through it before you hand it on"


def _default_name() -> str:
    return f"astra-support-{datetime.now(UTC):%Y%m%dT%H%M%S}.tar.gz"


def _list_reports(context: Context) -> dict[str, Callable[[], Any]]:
    """Name what the running daemon can tell; without one, what files tell stays."""
    from astra.interfaces.cli.doctor import list_checks

    reports: dict[str, Callable[[], Any]] = {
        "doctor.json": lambda: [check._asdict() for check in list_checks(context)]
    }
    client = context.client(without_settings=True)
    if client.is_running():
        for name, path in (
            ("status.json", "/api/status"),
            ("smoke.json", "/api/smoke"),
            ("alerts.json", "/api/alerts"),
            ("inbox.json", "/api/inbox"),
            ("releases.json", "/api/releases"),
        ):
            reports[name] = lambda path=path: client.get(path)
    return reports
