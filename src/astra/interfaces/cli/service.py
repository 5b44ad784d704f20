"""`astra service install`: hardened systemd units, shown first and written by root."""

import argparse
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from astra.interfaces.cli.main import Context
from astra.operations import service_units
from astra.operations.service_units import SERVICE, TIMER, WORKER, Service
from astra.trusted.kernel.errors import Refused

UNITS = Path("/etc/systemd/system")
_NEXT = "systemctl daemon-reload && systemctl enable --now"
_STARTED = {False: f"{SERVICE} {TIMER}", True: WORKER}
"""What is to be enabled: of a daemon, and of a worker."""


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    installing = actions.add_parser("install", help="write units for systemd; root does it")
    installing.add_argument("--user", default="astra", metavar="NAME", help="who runs it (astra)")
    installing.add_argument("--port", type=int, default=8700, metavar="N", help="(8700)")
    installing.add_argument(
        "--worker", action="store_true", help="a unit for `astra worker` instead of the daemon's"
    )
    installing.add_argument("--instance", default="", metavar="NAME", help="its app's instance")
    installing.add_argument("--jobs", type=int, default=1, metavar="N", help="jobs at once (1)")
    installing.add_argument("--program", metavar="PATH", help="the astra to run (this one)")
    installing.add_argument("--units", type=Path, default=UNITS, metavar="FOLDER")
    installing.add_argument(
        "--print",
        "--dry-run",
        dest="shows",
        action="store_true",
        help="show them and write nothing",
    )
    installing.set_defaults(run=install_service)


def install_service(context: Context) -> None:
    arguments = context.arguments
    service = Service(
        program=arguments.program or find_program(),
        data_root=str(context.data_root),
        user=arguments.user,
        port=arguments.port,
        instance=arguments.instance,
        jobs=arguments.jobs,
    )
    write_units = (
        service_units.write_worker_units if arguments.worker else service_units.write_units
    )
    units = write_units(service)
    warnings = [*_find_warnings(service)]
    for warning in warnings:
        context.console.note(f"warning: {warning}")
    document = {"units": units, "written": not arguments.shows, "warnings": warnings}
    if arguments.shows:
        lines = [line for name, text in units.items() for line in (f"# {name}", text)]
        context.console.print_result(document, *lines)
        return
    _write_units(arguments.units, units)
    names = ", ".join(units)
    context.console.print_result(
        document,
        f"wrote {names} into {arguments.units}",
        f"next: {_NEXT} {_STARTED[arguments.worker]}",
    )


def find_program() -> str:
    """Name the `astra` that runs now, or the one on the path."""
    beside = Path(sys.executable).with_name("astra")
    return str(beside) if beside.exists() else shutil.which("astra") or str(beside)


def _find_warnings(service: Service) -> Iterator[str]:
    """Say what would make the unit weaker than it looks."""
    import pwd

    try:
        pwd.getpwnam(service.user)
    except KeyError:
        home = Path(service.data_root).parent
        yield f"there is no user {service.user}: useradd --system --home-dir {home} {service.user}"
    program = Path(service.program)
    for place in (program, *program.parents):
        if place.exists() and _is_open_to_others(place):
            yield f"{place} can be written by others than root: whoever does becomes {service.user}"
            return


def _is_open_to_others(path: Path) -> bool:
    facts = path.stat()
    is_sticky = bool(facts.st_mode & stat.S_ISVTX)
    return facts.st_uid != 0 or (bool(facts.st_mode & 0o022) and not is_sticky)


def _write_units(folder: Path, units: dict[str, str]) -> None:
    for name, text in units.items():
        path = folder / name
        temporary = folder / f".{name}.new"
        try:
            descriptor = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644
            )
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
            temporary.replace(path)
        except OSError as error:
            raise Refused(
                f"{path} cannot be written: {error.strerror}",
                next_step="run it as root, or look at it first: astra service install --print",
                code="not_root",
            ) from None


def find_unit_problems(folder: Path = UNITS) -> tuple[str, list[str]] | None:
    """Say what an installed unit lacks; None where there is none."""
    path = folder / SERVICE
    if not path.exists():
        return None
    return str(path), service_units.find_problems(path.read_text(errors="replace"))
