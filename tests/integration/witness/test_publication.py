"""A daemon hands its checkpoints to a real git remote and to a real server, across kills."""

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.witnesses.configured import make_witness
from astra.adapters.witnesses.posted import PostedWitness
from astra.trusted.file_ledger import checkpoints
from astra.trusted.ledger.witnessing import Witness, WitnessUnreachable
from record_world import RecordWorld
from witness_service import WitnessService, witness_service

ROOT_ID = "root_0000000000000001"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    path = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    subprocess.run(
        ["git", "-C", str(path), "config", "receive.denyNonFastForwards", "true"], check=True
    )
    return path


@pytest.fixture
def service() -> Iterator[WitnessService]:
    with witness_service() as running:
        yield running


def witness_of(world: RecordWorld, address: str) -> Witness:
    created = world.root.require_first_record()
    return make_witness(
        address,
        root=world.root,
        root_id=created.data["root_id"],
        cache=world.astra.folder / "cache",
        seconds=60.0,
    )


def sequences(witness: Witness) -> list[int]:
    points = witness.read()
    assert points is not None
    return [point.sequence for point in points if point]


def test_a_daemon_publishes_to_a_git_remote_and_the_branch_only_grows(
    world: RecordWorld, remote: Path
) -> None:
    address = f"git+{remote.as_uri()}"
    with world.opened() as runtime:
        world.set_witness(runtime, address)
    first = sequences(witness_of(world, address))
    with world.opened() as runtime:
        world.note(runtime, 3)
        end = runtime.ledger.head().sequence
    assert sequences(witness_of(world, address))[: len(first)] == first
    assert sequences(witness_of(world, address))[-1] == end
    commits = subprocess.run(
        ["git", "-C", str(remote), "rev-list", "--count", "--all"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert int(commits.stdout) == 2, "one for each publication"
    assert world.problems() == []
    world.cut(3)
    world.cut_checkpoints()
    assert world.problems() == [("behind_witness", end)]


def test_a_daemon_publishes_by_post_and_verify_reads_it_back(
    world: RecordWorld, service: WitnessService
) -> None:
    with world.opened() as runtime:
        world.set_witness(runtime, service.address)
        end = runtime.ledger.head().sequence
    assert sequences(witness_of(world, service.address))[-1] == end
    assert world.problems() == []
    world.cut(1)
    world.cut_checkpoints()
    done = world.astra.json("ledger", "verify", "--witness", service.address, code=1)
    assert [problem["kind"] for problem in done["problems"]] == ["behind_witness"]


def test_an_address_that_gives_nothing_back_gets_each_checkpoint_all_the_same(
    world: RecordWorld, service: WitnessService
) -> None:
    service.answers["GET"] = 405
    with world.opened() as runtime:
        world.set_witness(runtime, service.address)
        runtime.witness.advance()
        assert runtime.witness.state()["state"] == "gives nothing back"
        world.note(runtime)
        end = runtime.ledger.head().sequence
    (content,) = service.content.values()
    assert json.loads(content.splitlines()[-1])["sequence"] == end
    assert world.problems() == []


@pytest.mark.parametrize("published", [False, True])
def test_a_kill_between_a_checkpoint_and_its_publication_changes_nothing(
    witnessed: RecordWorld, *, published: bool
) -> None:
    """The state on disk is put back to that of a kill at either side of the publication."""
    (file,) = (witnessed.astra.folder / "witness").iterdir()
    before = file.read_bytes()
    with witnessed.opened() as runtime:
        witnessed.note(runtime, 2)
        runtime.ledger.write_checkpoint()
        newest = runtime.ledger.last_checkpoint
        runtime.witness.advance()
        after = file.read_bytes()
        copy = witnessed.copied("killed")
    file.write_bytes(after if published else before)
    witnessed.put_back(copy)
    with witnessed.opened() as runtime:
        assert not runtime.ledger.holds
        runtime.witness.advance()
        lines = file.read_text().splitlines()
        assert newest is not None
        assert lines.count(newest.as_line()) == 1
        assert len(lines) == len(set(lines))
        own = [point.as_line() for point in checkpoints.recent(witnessed.checkpoints)]
        assert set(lines) <= set(own)


def test_a_killed_daemon_publishes_when_it_is_back(witnessed: RecordWorld) -> None:
    """The real thing, in a process of its own."""
    astra = witnessed.astra
    (file,) = (astra.folder / "witness").iterdir()
    astra.json("flags", "set", "ASTRA_SCHEDULER_ENABLED", "off")
    astra.kill_daemon()
    astra.json("status")
    astra.json("down")
    end = witnessed.chain.read_bytes().count(b"\n")
    assert json.loads(file.read_text().splitlines()[-1])["sequence"] == end
    assert astra.json("ledger", "verify")["witness"]["compared"]


def test_the_background_publishes_without_being_asked(witnessed: RecordWorld) -> None:
    (file,) = (witnessed.astra.folder / "witness").iterdir()
    with witnessed.opened() as runtime:
        witnessed.note(runtime)
        runtime.ledger.write_checkpoint()
        end = runtime.ledger.head().sequence
        runtime.background.run_due()  # at a full hour this records a survey of desires as well
        assert json.loads(file.read_text().splitlines()[-1])["sequence"] >= end
        assert not runtime.background.trouble("witness")


def test_a_witness_that_hangs_does_not_hold_up_an_append(world: RecordWorld) -> None:
    """The lane waits in a thread of its own; what is appended meanwhile is acknowledged."""
    asked, answer = threading.Event(), threading.Event()

    class Slow(WitnessService):
        def process_request(self, request: object, client_address: object) -> None:
            asked.set()
            answer.wait(300)
            super().process_request(request, client_address)  # type: ignore[arg-type]

    with Slow() as slow:
        serving = threading.Thread(target=slow.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        with world.opened() as runtime:
            world.set_witness(runtime, slow.address)
            lane = threading.Thread(target=runtime.witness.advance)
            lane.start()
            assert asked.wait(300)
            before = runtime.ledger.head().sequence
            world.note(runtime, 5)
            assert runtime.ledger.head().sequence == before + 5
            assert lane.is_alive()
            answer.set()
            lane.join()
        slow.shutdown()
        serving.join()


def test_a_redirect_is_not_followed(service: WitnessService) -> None:
    with witness_service() as elsewhere:
        service.redirect_to, service.answers = elsewhere.address, {"GET": 302, "POST": 307}
        witness = PostedWitness(address=service.address, root_id=ROOT_ID)
        with pytest.raises(WitnessUnreachable, match="status 302"):
            witness.read()
        with pytest.raises(WitnessUnreachable, match="status 307"):
            witness.publish([])
        assert elsewhere.requests == []


def test_what_a_server_says_is_bounded(service: WitnessService) -> None:
    service.content[ROOT_ID] = b"x" * 5_000_000
    assert PostedWitness(address=service.address, root_id=ROOT_ID).read() == []


def test_a_remote_that_somebody_rewrote_is_named(world: RecordWorld, remote: Path) -> None:
    """A branch with something else in it is a forgery, and publishing goes on behind it."""
    address = f"git+{remote.as_uri()}"
    with world.opened() as runtime:
        root_id = world.root.require_first_record().data["root_id"]
        tree = subprocess.run(
            ["git", "-C", str(remote), "hash-object", "-t", "tree", "-w", "/dev/null"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
        commit = subprocess.run(
            ["git", "-C", str(remote), *identity, "commit-tree", tree, "-m", "hello"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        branch = f"refs/heads/astra-witness/{root_id}"
        subprocess.run(["git", "-C", str(remote), "update-ref", branch, commit], check=True)
        world.set_witness(runtime, address)
    assert [kind for kind, _ in world.problems()] == ["witness"]
    assert sequences(witness_of(world, address))[-1] == world.chain.read_bytes().count(b"\n")
