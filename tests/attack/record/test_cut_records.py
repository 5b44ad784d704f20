"""The end of the record deleted together with everything in the data root that remembers it."""

import json

import pytest

from astra.trusted.kernel.errors import Conflict, LedgerError, NeedsApproval, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.record import Head
from astra.trusted.policy import authority, restoring
from deploying import until
from record_world import RecordWorld, fetch


def test_tail_index_and_checkpoints_deleted_together_are_an_alarm_however_often_it_is_started(
    world: RecordWorld,
) -> None:
    with world.opened() as runtime:
        world.note(runtime, 3)
    world.cut(2)
    world.checkpoints.unlink()
    assert world.problems() == [("checkpoint", 3)]
    for _ in range(2):
        with world.opened() as runtime:
            assert [hold.reason for hold in runtime.ledger.holds] == [restoring.NO_CHECKPOINT]
        assert world.problems()[-1][0] == "checkpoint"


def test_checkpoints_that_the_ledgers_key_did_not_sign_do_not_stand_in_for_the_deleted_ones(
    world: RecordWorld,
) -> None:
    with world.opened() as runtime:
        world.note(runtime, 3)
    world.cut(2)
    last = json.loads(world.chain.read_text().splitlines()[-1])
    head = Head(last["sequence"], last["hash"], "")
    forged = checkpoint.sign(head, time=last["time"], key=KeyPair.generate())
    world.checkpoints.write_text(f"{forged.as_line()}\n")
    with world.opened() as runtime:
        assert [hold.reason for hold in runtime.ledger.holds] == [restoring.NO_CHECKPOINT]
    assert world.problems() == [("checkpoint", 3)]


def test_while_it_is_held_nothing_begins_and_nothing_loosens_but_what_tightens_is_recorded(
    world: RecordWorld,
) -> None:
    with world.opened() as runtime:
        world.note(runtime, 3)
    world.checkpoints.unlink()
    with world.opened() as runtime:
        with pytest.raises(LedgerError, match="no checkpoint"):
            world.turn_on(runtime)
        with pytest.raises(Exception, match="no checkpoint"):
            runtime.counter.begin(fetch())
        with pytest.raises(Conflict, match="held"):
            runtime.stops.start_again("", world.sign(runtime, "work_started", {"stop": ""}))
        world.note(runtime)
        assert runtime.stops.is_stopped()
        assert runtime.recognition.recognise("whatever") is None


def test_the_operator_signs_the_way_out_and_nobody_else_can(world: RecordWorld) -> None:
    with world.opened() as runtime:
        world.note(runtime, 3)
    world.checkpoints.unlink()
    with world.opened() as runtime:
        content = runtime.restores.content()
        statement = world.sign(runtime, restoring.RESTORED, content).statement
        with pytest.raises(SignatureRejected):
            runtime.restores.sign(authority.sign(statement, KeyPair.generate()))
        other = world.sign(runtime, restoring.RESTORED, {**content, "reasons": []})
        with pytest.raises(SignatureRejected):
            runtime.restores.sign(other)
        world.restore(runtime)
        assert not runtime.ledger.holds
        assert runtime.stops.is_stopped(), "until the operator has looked and starts again"
    assert world.problems() == []


def test_a_cut_that_is_consistent_in_itself_is_found_by_the_witness(witnessed: RecordWorld) -> None:
    with witnessed.opened() as runtime:
        witnessed.note(runtime, 4)
        end = runtime.ledger.head().sequence
    witnessed.cut(3)
    witnessed.cut_checkpoints()
    assert witnessed.problems() == [("behind_witness", end)]
    with witnessed.opened() as runtime:
        (hold,) = runtime.ledger.holds
        assert hold.reason == restoring.BEHIND
        assert f"ends at record {end - 3}" in hold.detail
        assert f"knows record {end}" in hold.detail
        with pytest.raises(LedgerError, match="witness knows record"):
            witnessed.turn_on(runtime)


def test_a_chain_that_grew_again_after_a_cut_still_contradicts_the_witness(
    witnessed: RecordWorld,
) -> None:
    with witnessed.opened() as runtime:
        witnessed.note(runtime, 4)
        end = runtime.ledger.head().sequence
    witnessed.cut(3)
    witnessed.cut_checkpoints()
    with witnessed.opened() as runtime:
        witnessed.note(runtime, 9)
    assert witnessed.problems() == [("contradicts_witness", end)]
    with witnessed.opened() as runtime:
        assert [hold.reason for hold in runtime.ledger.holds] == [restoring.CONTRADICTS]


def test_a_forged_checkpoint_at_the_witness_is_named_and_stops_nobody(
    witnessed: RecordWorld,
) -> None:
    (file,) = (witnessed.astra.folder / "witness").iterdir()
    head = Head(10_000, "f" * 64, "")
    forged = checkpoint.sign(head, time="2030-01-01T00:00:00.000000Z", key=KeyPair.generate())
    with file.open("a") as lines:
        lines.write(f"{forged.as_line()}\nnonsense\n[[[[\n")
    assert witnessed.problems() == [("witness", 0)]
    with witnessed.opened() as runtime:
        assert not runtime.ledger.holds
        runtime.witness.advance()
        assert "3 lines" in runtime.witness.state()["trouble"]
        witnessed.turn_on(runtime)


def test_an_old_checkpoint_put_at_the_end_again_hides_no_cut(witnessed: RecordWorld) -> None:
    with witnessed.opened() as runtime:
        witnessed.note(runtime, 4)
        end = runtime.ledger.head().sequence
    (file,) = (witnessed.astra.folder / "witness").iterdir()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines, lines[0]]))
    witnessed.cut(3)
    witnessed.cut_checkpoints()
    assert witnessed.problems() == [("behind_witness", end)]


def test_a_witness_that_lags_is_no_alarm_and_catches_up(witnessed: RecordWorld) -> None:
    (file,) = (witnessed.astra.folder / "witness").iterdir()
    early = file.read_bytes()
    with witnessed.opened() as runtime:
        witnessed.note(runtime, 4)
        end = runtime.ledger.head().sequence
    file.write_bytes(early)
    assert witnessed.problems() == []
    with witnessed.opened() as runtime:
        assert not runtime.ledger.holds
        assert runtime.witness.is_due()
        runtime.witness.advance()
        assert runtime.witness.state()["sequence"] == end
        # The same end may just have been signed once more; that is handed over as well.
        until(lambda: runtime.witness.advance() or not runtime.witness.is_due())
    assert json.loads(file.read_text().splitlines()[-1])["sequence"] == end


def test_a_witness_that_says_nothing_is_an_alarm_and_loses_nothing(witnessed: RecordWorld) -> None:
    folder = witnessed.astra.folder / "witness"
    folder.rename(folder.with_name("unplugged"))
    with witnessed.opened() as runtime:
        assert runtime.witness.state()["state"] == "unreachable"
        with pytest.raises(NeedsApproval):
            runtime.counter.begin(fetch())
        end = runtime.ledger.head().sequence
    assert [kind for kind, _ in witnessed.problems()] == ["witness"]
    folder.with_name("unplugged").rename(folder)
    with witnessed.opened() as runtime:
        runtime.witness.advance()
        assert runtime.witness.state()["sequence"] >= end
    assert witnessed.problems() == []


def test_a_link_in_place_of_the_witness_file_is_not_followed(witnessed: RecordWorld) -> None:
    (file,) = (witnessed.astra.folder / "witness").iterdir()
    precious = witnessed.astra.folder / "precious"
    precious.write_text("mine")
    file.unlink()
    file.symlink_to(precious)
    with witnessed.opened() as runtime:
        assert runtime.witness.state()["state"] == "unreachable"
    assert precious.read_text() == "mine"


def test_a_chain_cut_back_behind_the_signed_address_is_found_by_who_names_it(
    witnessed: RecordWorld,
) -> None:
    """Two records are left: neither of them says that there is a witness."""
    witnessed.cut(1)
    witnessed.cut_checkpoints()
    assert witnessed.problems() == []
    folder = witnessed.astra.folder / "witness"
    done = witnessed.astra.json("ledger", "verify", "--witness", folder, code=1)
    assert [problem["kind"] for problem in done["problems"]] == ["behind_witness"]


def test_a_person_is_told_in_words_and_signs_the_way_out_on_the_terminal(
    world: RecordWorld,
) -> None:
    astra = world.astra
    with world.opened() as runtime:
        world.note(runtime, 3)
    world.cut(2)
    world.checkpoints.unlink()
    shown = astra.run("status").stdout
    assert "HELD: nothing begins: the chain has 3 records and no checkpoint" in shown
    assert "to go on from here: astra restore" in shown
    checks = {check["name"]: check for check in astra.json("doctor", code=1)["items"]}
    assert checks["ledger"]["state"] == "broken"
    assert "astra restore" in checks["ledger"]["fix"]
    refused = astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on", code=1)
    assert refused["code"] == "ledger_held"
    assert astra.json("start", code=1)["code"] == "ledger_held"
    assert astra.json("restore")["content"]["reasons"] == ["no_checkpoint"]
    assert astra.json("start")["started"]
    assert astra.json("ledger", "verify")["ok"]
