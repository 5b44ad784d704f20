"""A daemon in small: takes its group, runs one box, and prints what came of it."""

import json
import sys
from pathlib import Path
from typing import Any

from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox.cgroups import take_delegation
from astra.trusted.sandbox.launch import Box, run


def main(wanted: dict[str, Any]) -> dict[str, Any]:
    groups = take_delegation()
    root = Path(wanted["root"])
    (root / "var").mkdir(exist_ok=True)
    limits = Limits(**{"wall_seconds": 120, **wanted["limits"]})
    outcome = run(
        Box(command=tuple(wanted["command"]), manifest=Manifest(limits=limits)),
        data_root=root,
        groups=groups,
    )
    return {
        "words": groups.in_words(),
        "verdict": outcome.verdict,
        "limit": outcome.limit,
        "reason": outcome.reason,
        "stdout": outcome.stdout.decode(),
        "left": [path.name for path in (groups.folder or root).glob("box_*")],
    }


if __name__ == "__main__":
    # Reading waits: whoever started this process puts it into the group before it writes.
    json.dump(main(json.load(sys.stdin)), sys.stdout)
