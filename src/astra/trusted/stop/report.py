"""What a stop did, kept beside `var/stop` until the daemon has written it into the chain.

The stop file itself is made first and empty, because nothing may delay it. Its report comes after
the killing, under an id of its own; a stop without a report is still a stop.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.private_files import write_private
from astra.trusted.sandbox import boxes
from astra.trusted.stop import stop
from astra.trusted.stop.stop import Stopped

NO_ID = "stop_00000000"


def stop_now(data_root: Path, *, keep_app: bool = False, stop_id: str = "") -> tuple[str, Stopped]:
    """End everything, then note what was done; gives the id of this stop.

    One that another machine asked for has its id already.
    """
    stop_result = stop.stop_now(data_root, keep_app=keep_app)
    stop_id = stop_id or random_id("stop")
    document = {"id": stop_id, "report": {**as_dict(stop_result), "keep_app": keep_app}}
    is_written = _write_report(data_root, document)
    if not is_written:
        with contextlib.suppress(OSError):
            Reserve(data_root / "var").release()
        is_written = _write_report(data_root, document)
    return stop_id if is_written else NO_ID, stop_result


def _write_report(data_root: Path, document: dict[str, Any]) -> bool:
    try:
        write_private(_report_path(data_root), json.dumps(document).encode())
    except OSError:
        return False
    return True


def read(data_root: Path) -> tuple[str, dict[str, Any]]:
    """Give the id and report of the stop in force."""
    try:
        document = json.loads(_report_path(data_root).read_bytes())
        return str(document["id"]), dict(document["report"])
    except (OSError, ValueError, KeyError, TypeError):
        return NO_ID, {}


def has_report(data_root: Path) -> bool:
    """Tell whether a report lies there: a stop happened even if `var/stop` was removed since."""
    return _report_path(data_root).exists()


def clear(data_root: Path) -> None:
    _report_path(data_root).unlink(missing_ok=True)
    boxes.stop_file(data_root).unlink(missing_ok=True)


def as_dict(done: Stopped) -> dict[str, Any]:
    return {
        "frozen": done.frozen,
        "ended": done.ended,
        "already_gone": done.already_gone,
        "kept_apps": done.kept_apps,
        "survivors": [
            {"box": survivor.box, "label": survivor.label, "pids": list(survivor.pids)}
            for survivor in done.survivors
        ],
        "unreadable": list(done.unreadable),
        "clean": done.clean,
    }


def _report_path(data_root: Path) -> Path:
    return data_root / "var" / "stop-report.json"
