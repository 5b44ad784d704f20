"""An older state put in place: what was decided, used or taken back since does not count again."""

import hashlib
import shutil
from pathlib import Path

import pytest

from astra.adapters.backups.making import make_backup
from astra.adapters.backups.placing import place_backup
from astra.bootstrap.runtime import Runtime
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import (
    AstraError,
    BadInput,
    Conflict,
    LedgerDamaged,
    LedgerError,
    NeedsApproval,
    SignatureRejected,
)
from astra.trusted.policy import access, restoring, stopping
from old_backups import write_old_backup
from record_world import RecordWorld, asked_for, fetch


def start(world: RecordWorld, runtime: Runtime) -> None:
    stop_id, _ = runtime.stops.read_current_stop()
    signed = world.sign(runtime, stopping.STARTED, stopping.content(stop_id))
    runtime.stops.start_again(stop_id, signed)


def test_a_used_approval_does_not_run_again_after_a_restore(world: RecordWorld) -> None:
    new = DataRoot(world.astra.folder / "new")
    with world.opened() as runtime:
        approval = asked_for(runtime, fetch())
        digest = runtime.desk.get(approval).digest
        content = {"approval": approval, "digest": digest}
        runtime.desk.grant(approval, world.sign(runtime, "approval_granted", content))
        runtime.ledger.write_checkpoint()
        make_backup(world.root, world.astra.folder / "backup", SystemClock())
        runtime.counter.begin(fetch())
        assert runtime.desk.get(approval).state == "used"
    place_backup(world.astra.folder / "backup", new)
    with world.opened(new.path) as runtime:
        assert runtime.desk.get(approval).state == "approved"
        with pytest.raises(AstraError, match="restored from a backup"):
            runtime.counter.begin(fetch())
        world.restore(runtime)
        assert runtime.desk.get(approval).state == "stale"
        start(world, runtime)
        with pytest.raises(NeedsApproval):
            runtime.counter.begin(fetch())


def test_a_plain_copy_put_back_is_held_because_the_head_went_back_behind_the_witness(
    witnessed: RecordWorld,
) -> None:
    with witnessed.opened() as runtime:
        approval = asked_for(runtime, fetch())
        content = {"approval": approval, "digest": runtime.desk.get(approval).digest}
        runtime.desk.grant(approval, witnessed.sign(runtime, "approval_granted", content))
    older = witnessed.copied("older")
    with witnessed.opened() as runtime:
        runtime.counter.begin(fetch())
    witnessed.put_back(older)
    with witnessed.opened() as runtime:
        assert [hold.reason for hold in runtime.ledger.holds] == [restoring.BEHIND]
        with pytest.raises(AstraError, match="witness knows record"):
            runtime.counter.begin(fetch())
        witnessed.restore(runtime)
        assert runtime.desk.get(approval).state == "stale"
    assert witnessed.problems() == []


def test_a_statement_still_in_its_time_is_not_accepted_again_by_an_older_state(
    witnessed: RecordWorld,
) -> None:
    older = witnessed.copied("older")
    with witnessed.opened() as runtime:
        captured = witnessed.flag_statement(runtime)
        witnessed.turn_on(runtime, captured)
        witnessed.note(runtime)
    witnessed.put_back(older)
    with witnessed.opened() as runtime:
        with pytest.raises(LedgerError):
            witnessed.turn_on(runtime, captured)
        witnessed.restore(runtime)
        with pytest.raises(SignatureRejected, match="before this data root was restored"):
            witnessed.turn_on(runtime, captured)
        witnessed.turn_on(runtime)


def test_tokens_and_sessions_of_the_older_state_are_void(world: RecordWorld) -> None:
    with world.opened() as runtime:
        now = runtime.clock.now()
        access.open_session(runtime.ledger, "session secret", by="link", now=now)
        content = access.token_content("token secret", name="ci", role="agent", days=3, now=now)
        signed = world.sign(runtime, access.TOKEN_CREATED, content)
        access.create_token(runtime.ledger, content, signed, now=now)
        assert runtime.recognition.recognise("token secret")
        assert runtime.recognition.recognise("session secret")
        runtime.ledger.write_checkpoint()
        make_backup(world.root, world.astra.folder / "backup", SystemClock())
    new = DataRoot(world.astra.folder / "new")
    place_backup(world.astra.folder / "backup", new)
    with world.opened(new.path) as runtime:
        assert runtime.recognition.recognise("token secret") is None
        world.restore(runtime)
        assert runtime.recognition.recognise("token secret") is None
        assert runtime.recognition.recognise("session secret") is None
    with world.opened(new.path) as runtime:
        assert not runtime.ledger.holds, "it is signed once"
        with pytest.raises(Conflict, match="was not put back"):
            world.restore(runtime)


def test_a_restore_signed_in_one_state_does_not_count_in_another(witnessed: RecordWorld) -> None:
    """Whoever keeps a signed restore cannot use it to go back a second time."""
    older = witnessed.copied("older")
    with witnessed.opened() as runtime:
        witnessed.note(runtime, 2)
    witnessed.put_back(older)
    with witnessed.opened() as runtime:
        captured = witnessed.sign(runtime, restoring.RESTORED, runtime.restores.content())
        runtime.restores.sign(captured)
        witnessed.note(runtime, 6)
    witnessed.put_back(older)
    with witnessed.opened() as runtime:
        assert runtime.ledger.holds
        with pytest.raises(SignatureRejected):
            runtime.restores.sign(captured)


@pytest.mark.parametrize("place", ["new", "third"])
def test_a_captured_restore_does_not_count_for_the_same_backup_again(
    world: RecordWorld, place: str
) -> None:
    """Without a witness nothing but the signature stands between a backup and its use."""
    backup, new = world.astra.folder / "backup", DataRoot(world.astra.folder / "new")
    make_backup(world.root, backup, SystemClock())
    place_backup(backup, new)
    with world.opened(new.path) as runtime:
        captured = world.sign(runtime, restoring.RESTORED, runtime.restores.content())
        runtime.restores.sign(captured)
    if place == "new":
        shutil.rmtree(new.path)
    again = DataRoot(world.astra.folder / place)
    place_backup(backup, again)
    with world.opened(again.path) as runtime:
        with pytest.raises(SignatureRejected):
            runtime.restores.sign(captured)
        assert runtime.ledger.holds
        world.restore(runtime)
        assert not runtime.ledger.holds


def test_a_restore_signed_before_the_daemon_started_again_takes_a_new_signature(
    world: RecordWorld,
) -> None:
    backup, new = world.astra.folder / "backup", DataRoot(world.astra.folder / "new")
    make_backup(world.root, backup, SystemClock())
    place_backup(backup, new)
    with world.opened(new.path) as runtime:
        captured = world.sign(runtime, restoring.RESTORED, runtime.restores.content())
    with world.opened(new.path) as runtime:
        with pytest.raises(SignatureRejected):
            runtime.restores.sign(captured)
        world.restore(runtime)


def test_the_machine_that_lives_on_beside_its_restored_copy_is_held(
    witnessed: RecordWorld,
) -> None:
    make_backup(witnessed.root, witnessed.astra.folder / "backup", SystemClock())
    new = DataRoot(witnessed.astra.folder / "new")
    place_backup(witnessed.astra.folder / "backup", new)
    with witnessed.opened(new.path) as runtime:
        witnessed.restore(runtime)
        witnessed.note(runtime, 3)
    with witnessed.opened() as runtime:
        assert [hold.reason for hold in runtime.ledger.holds] == [restoring.BEHIND]


def edit(path: Path, old: bytes, new: bytes) -> None:
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new, 1))


@pytest.fixture
def backup(world: RecordWorld) -> Path:
    """A backup as they were before there were folders of them: it can still be restored."""
    make_backup(world.root, world.astra.folder / "backups", SystemClock())
    return write_old_backup(world.astra.folder / "backups", world.astra.folder / "backup")


def test_a_backup_of_the_older_format_is_restored(backup: Path, tmp_path: Path) -> None:
    placed = place_backup(backup, DataRoot(tmp_path / "new"))
    assert placed.manifest.sequence > 1
    assert (tmp_path / "new" / "astra.toml").exists()


def test_a_backup_that_was_changed_is_refused_whole(backup: Path, tmp_path: Path) -> None:
    (segment,) = (backup / "data" / "var" / "ledger").iterdir()
    edit(segment, b'"operator"', b'"Operator"')
    with pytest.raises(BadInput, match="other content"):
        place_backup(backup, DataRoot(tmp_path / "new"))
    assert not (tmp_path / "new").exists()
    assert not list(tmp_path.glob(".new*"))


def test_a_backup_whose_chain_was_changed_with_its_manifest_is_refused(
    backup: Path, tmp_path: Path
) -> None:
    (segment,) = (backup / "data" / "var" / "ledger").iterdir()
    before = hashlib.sha256(segment.read_bytes()).hexdigest()
    edit(segment, b'"operator"', b'"Operator"')
    after = hashlib.sha256(segment.read_bytes()).hexdigest()
    edit(backup / "manifest.json", before.encode(), after.encode())
    with pytest.raises(LedgerDamaged, match="not as it was written"):
        place_backup(backup, DataRoot(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["../outside", "/outside", "var//x", "var/./x", "a\\u0000b"])
def test_a_backup_cannot_name_a_place_outside(backup: Path, tmp_path: Path, name: str) -> None:
    edit(backup / "manifest.json", b'"path":"astra.toml"', f'"path":"{name}"'.encode())
    with pytest.raises(BadInput, match="not as it was made"):
        place_backup(backup, DataRoot(tmp_path / "new"))
    assert not (tmp_path / "outside").exists()


def test_a_backup_cannot_write_through_a_link(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    entry = (
        '{"kind":"link","mode":0,"owner":[0,0],"path":"var/git/objects",'
        f'"sha256":"","target":"{tmp_path}/precious"}},'
    )
    edit(backup / "manifest.json", b'"entries":[', f'"entries":[{entry}'.encode())
    with pytest.raises(BadInput):
        place_backup(backup, DataRoot(tmp_path / "new"))
    assert not list((tmp_path / "precious").iterdir())


def test_links_and_other_things_put_into_a_backup_are_refused(backup: Path, tmp_path: Path) -> None:
    (backup / "data" / "extra").symlink_to("/etc/passwd")
    with pytest.raises(BadInput, match="is not in its manifest"):
        place_backup(backup, DataRoot(tmp_path / "new"))


def test_a_data_root_that_is_there_is_never_written_over(backup: Path, world: RecordWorld) -> None:
    before = world.chain.read_bytes()
    with pytest.raises(BadInput, match="not an empty place"):
        place_backup(backup, world.root)
    assert world.chain.read_bytes() == before
