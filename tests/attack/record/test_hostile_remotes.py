"""Names of git remotes that are options, programs or other transports."""

from pathlib import Path

import pytest

from astra.adapters.witnesses.git_remote import GitWitness
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.record import Head
from astra.trusted.ledger.witnessing import WitnessUnreachable
from record_world import RecordWorld

POINT = checkpoint.sign(
    Head(1, "0" * 64, ""), time="2026-03-01T12:00:00.000000Z", key=KeyPair.generate()
)
NAMES = {
    "a helper that runs a command": "ext::sh -c touch% {mark}",
    "an option of git": "--upload-pack=touch {mark}",
    "an option of ssh": "ssh://-oProxyCommand=touch%20{mark}/witness.git",
    "an option of ssh in short form": "-oProxyCommand=touch {mark}:witness.git",
    "another transport": "git://127.0.0.1:1/witness.git",
    "a helper by its name": "fd::17",
}


@pytest.mark.parametrize("name", NAMES)
def test_it_cannot_be_signed(world: RecordWorld, name: str) -> None:
    mark = world.astra.folder / "mark"
    for prefix in ("", "git+"):
        address = prefix + NAMES[name].format(mark=mark)
        with (
            world.opened() as runtime,
            pytest.raises(Exception, match="no place that can keep checkpoints"),
        ):
            world.set_witness(runtime, address)
    assert not mark.exists()


@pytest.mark.parametrize("scheme", ["file", "ssh", "https"])
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_nothing_even_where_it_was_let_through(
    tmp_path: Path, name: str, scheme: str
) -> None:
    mark = tmp_path / "mark"
    location = NAMES[name].format(mark=mark)
    witness = GitWitness(
        address=location,
        location=location,
        scheme=scheme,
        root_id="root_0000000000000001",
        cache=tmp_path / "cache",
        ssh_key=tmp_path / "push.key",
        seconds=30.0,
    )
    for attempt in (witness.read, lambda: witness.publish([POINT])):
        with pytest.raises(WitnessUnreachable):
            attempt()
    assert not mark.exists()
