"""What a confined app connects to is in the ledger, and survives whoever dies in between."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.supervisor import app_egress
from astra.adapters.supervisor.app_egress import AppEgress
from astra.testing import MemoryLedger
from astra.trusted.egress.egress_proxy import Attempt
from astra.trusted.kernel.errors import LedgerUnavailable
from astra.trusted.ledger.record import Record
from deploying import SERVER, Stage, until

REACHING = (
    SERVER
    + """
import urllib.request
class Reaching(Answer):
    def do_GET(self):
        for host in ("granted.invalid", "other.invalid"):
            try:
                urllib.request.urlopen(f"http://{host}/?secret=1", timeout=5)
            except Exception:
                pass
        super().do_GET()

Server(Reaching).serve_forever()
"""
)


@pytest.fixture
def ledger() -> Iterator[MemoryLedger]:
    made = MemoryLedger()
    yield made
    made.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "var").mkdir()
    return tmp_path


def attempt(host: str, **facts: int) -> Attempt:
    return Attempt(host=host, port=443, allowed=True, reason="allowed", **facts)


def test_every_connection_of_a_confined_app_is_recorded(stage: Stage, ledger: MemoryLedger) -> None:
    stage.serve(stage.spec(REACHING, network=("granted.invalid",)))
    stage.get("/go")
    egress = AppEgress(stage.root)
    places: list[dict[str, object]] = []

    def both() -> bool:
        egress.record_batches(ledger)
        lines = [json.loads(line)["data"]["places"] for line in ledger.lines]
        places[:] = [place for found in lines for place in found]
        return {str(place["host"]) for place in places} >= {"granted.invalid", "other.invalid"}

    until(both)
    outcomes = {(place["host"], place["allowed"], place["reason"]) for place in places}
    assert outcomes == {
        ("granted.invalid", False, "cannot_resolve"),
        ("other.invalid", False, "not_granted"),
    }


def test_connections_to_one_place_are_one_line_with_their_bytes(
    root: Path, ledger: MemoryLedger
) -> None:
    egress = AppEgress(root)
    for _ in range(3):
        egress.note_opening("r1", "example.com", 443)
        egress.note_ending("r1", attempt("example.com", sent=10, received=100))
    assert egress.record_batches(ledger) == 1
    (record,) = map(json.loads, ledger.lines)
    assert record["type"] == app_egress.RECORDED
    assert (record["data"]["sent"], record["data"]["received"]) == (30, 300)
    assert [(p["reason"], p["connections"]) for p in record["data"]["places"]] == [
        ("opened", 3),
        ("allowed", 3),
    ]
    assert egress.record_batches(ledger) == 0


def test_a_batch_that_was_recorded_before_a_crash_is_not_recorded_twice(root: Path) -> None:
    class Dying(MemoryLedger):
        """Dies right after the record is kept, once."""

        died = False

        def append(self, *events: object, **how: object) -> list[Record]:
            done = super().append(*events, **how)  # type: ignore[arg-type]
            if not self.died:
                self.died = True
                raise LedgerUnavailable("power cut", next_step="start again")
            return done

    ledger, egress = Dying(), AppEgress(root)
    egress.note_ending("r1", attempt("example.com", sent=10))
    with pytest.raises(LedgerUnavailable):
        egress.record_batches(ledger)
    egress.record_batches(ledger)
    assert len(ledger.lines) == 1
    ledger.close()


def test_without_a_daemon_the_file_is_summed_up_and_no_byte_is_lost(
    root: Path, ledger: MemoryLedger
) -> None:
    egress = AppEgress(root)
    count = app_egress.LARGEST // 500
    for number in range(count):
        host = f"{'x' * 280}{number % 1000}.example.com"
        egress.note_ending("r1", attempt(host, sent=1))
    folder = root / "var" / "app-egress"
    assert (folder / "spool.ndjson").stat().st_size < 2 * app_egress.LARGEST
    egress.record_batches(ledger)
    (record,) = map(json.loads, ledger.lines)
    assert record["data"]["sent"] == count
    assert record["data"]["places"][-1]["host"] == "(others)"


def test_where_a_data_root_was_moved_away_nothing_is_written_and_nothing_goes_out(
    root: Path, ledger: MemoryLedger
) -> None:
    egress = AppEgress(root)
    root.rename(root.with_name("moved"))
    with pytest.raises(FileNotFoundError):
        egress.note_opening("r1", "example.com", 443)
    with pytest.raises(FileNotFoundError):
        egress.record_batches(ledger)
    assert not root.exists()


def test_a_connection_that_cannot_be_put_down_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("in the way")
    with pytest.raises(OSError, match="var"):
        AppEgress(tmp_path).note_opening("r1", "example.com", 443)
