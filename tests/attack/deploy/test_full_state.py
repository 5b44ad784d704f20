"""An app that fills its state folder: it is ended at its limit, whatever the files are called."""

from pathlib import Path

import pytest

from deploying import PLAIN, Stage, until

MIB = 2**20
NAMED = """
import os, time
for n in range(400):
    with open(os.environ["ASTRA_STATE"] + f"/{n}", "wb") as file:
        file.write(bytes(2**20))
time.sleep(3600)
"""
NAMELESS = """
import os, time
held = []
for n in range(400):
    path = os.environ["ASTRA_STATE"] + "/x"
    held.append(open(path, "wb", 0))
    os.unlink(path)
    held[-1].write(bytes(2**20))
time.sleep(3600)
"""


@pytest.mark.parametrize("fills", [NAMED, NAMELESS], ids=["named", "nameless"])
def test_an_app_that_fills_its_state_is_ended(stage: Stage, fills: str) -> None:
    instance = stage.holder.launch(stage.spec(fills, state_bytes=64 * MIB))
    running = until(lambda: stage.running(instance).is_over and stage.running(instance))
    assert running.state == "refused"
    assert "passed the limit on disk; it may have 64 MiB" in running.reason


def test_an_app_is_not_started_on_a_full_state_and_starts_once_there_is_room(stage: Stage) -> None:
    spec = stage.spec(PLAIN, state_bytes=8 * MIB)
    stage.serve(spec)
    stage.holder.close()
    large = Path(spec.state) / "large"
    large.write_bytes(bytes(9 * MIB))
    instance = stage.holder.launch(spec)
    running = until(lambda: stage.running(instance).is_over and stage.running(instance))
    assert "holds 9 MiB; it may have 8 MiB" in running.reason
    stage.holder.end(instance)
    large.unlink()
    stage.healthy(spec)


def test_an_app_within_its_limit_goes_on(stage: Stage) -> None:
    spec = stage.spec(
        'import os\nopen(os.environ["ASTRA_STATE"] + "/x", "wb").write(bytes(2**20))\n' + PLAIN,
        state_bytes=64 * MIB,
    )
    instance = stage.serve(spec)
    assert stage.get()["release"] == spec.release
    assert stage.running(instance).crashes == 0
