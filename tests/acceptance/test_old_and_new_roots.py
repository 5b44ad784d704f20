"""A data root that this version cannot read is refused by name, and `astra doctor` says so too."""

from typing import Any

from astra.trusted.ledger import chain
from astra.trusted.ledger.formats import FORMAT, FORMAT_RAISED
from astra.trusted.ledger.record import Event, Head
from driver import Astra


def write_behind(astra: Astra, type_: str, data: dict[str, Any]) -> int:
    """Append a record as another version would, while no daemon runs; gives its sequence."""
    astra.run("down")
    path = max((astra.root / "var" / "ledger").glob("*.ndjson"))
    last = chain.parse(path.read_text().splitlines()[-1])
    event = Event(type=type_, actor="daemon", data=data, subject="apr_00000001")
    head = Head(last.sequence, last.hash, last.time)
    (record,) = chain.link([event], after=head, time=last.time)
    with path.open("a") as file:
        file.write(f"{record.line}\n")
    return record.sequence


def finding(astra: Astra) -> dict[str, str]:
    checks = astra.json("doctor", code=1)["items"]
    (records,) = [check for check in checks if check["name"] == "records"]
    assert {check["state"] for check in checks if check["name"] == "ledger"} == {"ok"}
    return records


def test_a_record_that_cannot_be_read_is_named_by_the_daemon_and_by_doctor(astra: Astra) -> None:
    sequence = write_behind(astra, "approval_requested", {"shape": "of another version"})
    refused = astra.json("status", code=1)
    assert refused["code"] == "record_unreadable"
    assert f"record {sequence} (approval_requested, schema 1)" in refused["detail"]
    assert "astra doctor" in refused["next_step"]
    records = finding(astra)
    assert records["state"] == "broken"
    assert f"record {sequence} (approval_requested, schema 1)" in records["detail"]


def test_a_root_of_a_newer_version_is_refused_with_the_version_to_use(astra: Astra) -> None:
    write_behind(astra, FORMAT_RAISED, {"format": FORMAT + 1, "version": "7.2.1"})
    refused = astra.json("status", code=1)
    assert refused["code"] == "root_too_new"
    assert refused["next_step"] == "use Astra 7.2.1 or newer for this data root"
    assert "7.2.1" in finding(astra)["fix"]


def test_a_new_root_states_its_format_in_its_first_record(astra: Astra) -> None:
    items = astra.json("ledger", "tail", "--count", "100")["items"]
    assert items[0]["data"]["format"] == FORMAT
    assert FORMAT_RAISED not in {item["type"] for item in items}
