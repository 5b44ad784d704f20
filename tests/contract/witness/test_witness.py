"""What every witness keeps: a folder, a git remote, an address that takes a POST."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.witnesses.configured import make_witness
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.record import Head
from astra.trusted.ledger.witnessing import Witness, WitnessUnreachable
from witness_service import witness_service

KEY = KeyPair.generate()
ROOT_ID, OTHER_ROOT = "root_0000000000000001", "root_0000000000000002"


def point(sequence: int) -> Checkpoint:
    head = Head(sequence, f"{sequence:064x}", "")
    return checkpoint.sign(head, time=f"2026-03-01T12:00:{sequence:02}.000000Z", key=KEY)


@pytest.fixture(params=["folder", "git", "post"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "folder":
        (tmp_path / "witness").mkdir()
        yield str(tmp_path / "witness")
    elif request.param == "git":
        remote = tmp_path / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
        yield f"git+{remote.as_uri()}"
    else:
        with witness_service() as service:
            yield service.address


def witness_at(address: str, tmp_path: Path, *, root: str = ROOT_ID, name: str = "data") -> Witness:
    return make_witness(address, root=DataRoot(tmp_path / name), root_id=root, seconds=30.0)


def test_a_new_witness_keeps_nothing(address: str, tmp_path: Path) -> None:
    assert witness_at(address, tmp_path).read() == []


def test_what_was_published_is_read_in_order_by_anybody_who_asks(
    address: str, tmp_path: Path
) -> None:
    witness = witness_at(address, tmp_path)
    witness.publish([point(1)])
    witness.publish([point(2), point(3)])
    assert witness.read() == [point(1), point(2), point(3)]
    assert witness_at(address, tmp_path, name="elsewhere").read() == [point(1), point(2), point(3)]


def test_publishing_again_changes_nothing_that_is_said(address: str, tmp_path: Path) -> None:
    witness = witness_at(address, tmp_path)
    witness.publish([point(1), point(2)])
    witness.publish([point(1), point(2)])
    points = witness.read()
    assert points is not None
    assert {kept.sequence for kept in points if kept} == {1, 2}


def test_each_data_root_has_a_place_of_its_own(address: str, tmp_path: Path) -> None:
    witness_at(address, tmp_path).publish([point(1)])
    other = witness_at(address, tmp_path, root=OTHER_ROOT, name="other")
    assert other.read() == []
    other.publish([point(9)])
    assert witness_at(address, tmp_path).read() == [point(1)]


def test_two_daemons_that_publish_in_turn_lose_nothing(address: str, tmp_path: Path) -> None:
    one, other = (witness_at(address, tmp_path, name=name) for name in ("one", "other"))
    one.publish([point(1)])
    other.publish([point(2)])
    one.publish([point(3)])
    assert other.read() == [point(1), point(2), point(3)]


@pytest.mark.parametrize("kind", ["folder", "git", "post"])
def test_a_witness_that_is_not_there_is_unreachable(kind: str, tmp_path: Path) -> None:
    addresses = {
        "folder": str(tmp_path / "not-mounted"),
        "git": f"git+file://{tmp_path}/no.git",
        "post": "http://127.0.0.1:1/witness",
    }
    witness = witness_at(addresses[kind], tmp_path)
    for attempt in (witness.read, lambda: witness.publish([point(1)])):
        with pytest.raises(WitnessUnreachable) as refused:
            attempt()
        assert addresses[kind] in refused.value.detail
    assert not (tmp_path / "not-mounted").exists()


def test_a_folder_inside_the_data_root_is_no_witness(tmp_path: Path) -> None:
    inside = tmp_path / "data" / "persona_space"
    inside.mkdir(parents=True)
    (tmp_path / "link").symlink_to(inside)
    for address in (str(inside), str(tmp_path / "link"), f"git+{inside.as_uri()}"):
        with pytest.raises(BadSetting, match="goes wherever"):
            witness_at(address, tmp_path)
