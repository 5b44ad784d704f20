"""Astra changes, tests, deploys and takes back Astra: what `make self` shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from driver import Astra

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.serial
@pytest.mark.timeout(1800)
def test_astra_changes_deploys_and_takes_back_astra(empty: Astra) -> None:
    environment = {**empty.environment, "TMPDIR": str(empty.folder)}
    completed = subprocess.run(
        [sys.executable, REPOSITORY / "scripts" / "astra_on_astra.py"],
        env=environment,
        cwd=empty.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    output = completed.stdout + completed.stderr
    assert completed.returncode == 0, output
    assert output.count("/healthz answers 200") == 3
    assert "touches protected paths: 'src/astra/trusted/door/front_door.py'" in output
    assert "asked by a wrong name it answers now" in output
    assert "failed and was taken back: its health failed" in output
    assert "failed, quarantined" in output
    formats = re.search(r"format (\d+), is set aside; the data root has format (\d+)", output)
    assert formats is not None
    assert int(formats[1]) == int(formats[2]) + 1
    assert output.rstrip().splitlines()[-1].lstrip().startswith("ok: ")
    assert not list(empty.folder.glob("astra-self-*"))
