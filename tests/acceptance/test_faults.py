"""What goes wrong around a data root: processes killed at the wrong moment, bad settings."""

import subprocess
import sys
from pathlib import Path

from astra.trusted.sandbox import boxes
from driver import Astra

UNREGISTERED = """
import sys
from pathlib import Path
from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.launch import Box, run
boxes.register = lambda *_words: None
run(Box(command=("sh", "-c", "echo up; sleep 600")), data_root=Path(sys.argv[1]),
    on_output=lambda stream, data: print(data, flush=True))
"""


def test_down_and_the_next_start_end_boxes_that_nobody_registered(astra: Astra) -> None:
    with unregistered_box(astra.root) as launcher:
        assert astra.json("down") == {"ended": False, "boxes_ended": 1}
        assert boxes.marked(astra.root) == []
        launcher.wait(60)
    with unregistered_box(astra.root) as launcher:
        astra.json("status")
        assert boxes.marked(astra.root) == []
        launcher.wait(60)


def unregistered_box(data_root: Path) -> "subprocess.Popen[bytes]":
    launcher = subprocess.Popen(
        [sys.executable, "-c", UNREGISTERED, str(data_root)], stdout=subprocess.PIPE
    )
    assert launcher.stdout
    assert launcher.stdout.readline()
    return launcher
