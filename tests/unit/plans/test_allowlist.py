"""The global allowlist: added by signature, removed by anyone, exported as a file."""

import json

import pytest

from astra.plans import events
from astra.plans.grants import covers
from astra.testing import GateInMemory
from astra.trusted.kernel.errors import AstraError, NotFound, SignatureRejected
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event


def add(gate: GateInMemory, kind: str, value: str) -> None:
    content = gate.planning.allowlist.content(kind, value)
    signed = gate.root.sign(events.GLOBAL_GRANT_ADDED, content)
    gate.planning.allowlist.add(kind, value, signed)


def items(gate: GateInMemory) -> list[tuple[str, str]]:
    return [(item["kind"], item["value"]) for item in gate.planning.allowlist.list_grants()]


def test_a_grant_is_added_by_signature_and_shown_in_its_file(gate: GateInMemory) -> None:
    add(gate, "network_domains", "Example.com")
    assert items(gate) == [("network_domains", "example.com")]
    assert json.loads(gate.plan_files.files[""])["network_domains"] == ["example.com"]
    (record,) = views.records(gate.root.ledger, type_="agent_global_grant_added")
    assert (record.data["kind"], record.data["value"]) == ("network_domains", "example.com")
    assert record.data["level"] == "info"


def test_removing_needs_no_signature(gate: GateInMemory) -> None:
    add(gate, "skills", "read_file")
    gate.planning.allowlist.remove("skills", "read_file", actor="user:1")
    assert items(gate) == []
    assert json.loads(gate.plan_files.files[""])["skills"] == []
    with pytest.raises(NotFound):
        gate.planning.allowlist.remove("skills", "read_file", actor="user:1")


def test_a_signature_for_another_grant_does_not_count(gate: GateInMemory) -> None:
    content = gate.planning.allowlist.content("read_paths", "docs")
    signed = gate.root.sign(events.GLOBAL_GRANT_ADDED, content)
    with pytest.raises(SignatureRejected):
        gate.planning.allowlist.add("read_paths", "src", signed)
    assert items(gate) == []


def test_a_record_that_nobody_signed_grants_nothing(gate: GateInMemory) -> None:
    data = {"kind": "network_domains", "value": "evil.example", "level": "info"}
    forged = Event(type=events.GLOBAL_GRANT_ADDED, actor="operator", data=data)
    gate.root.ledger.append([forged])
    assert items(gate) == []
    assert not gate.planning.allowlist.allows("network_domains", "evil.example")


def test_editing_the_file_grants_nothing(gate: GateInMemory) -> None:
    gate.plan_files.files[""] = '{"network_domains": ["evil.example"]}'
    assert not gate.planning.allowlist.allows("network_domains", "evil.example")


def test_a_file_that_somebody_changed_is_told_and_written_anew(gate: GateInMemory) -> None:
    gate.planning.allowlist.watch()
    assert views.records(gate.root.ledger, type_="agent_global_grants_tampered") == []
    add(gate, "read_paths", "docs")
    gate.planning.allowlist.watch()
    gate.plan_files.files[""] = '{"network_domains": ["evil.example"]}'
    gate.planning.allowlist.watch()
    gate.planning.allowlist.watch()
    (told,) = views.records(gate.root.ledger, type_="agent_global_grants_tampered")
    assert told.data["level"] == "warning"
    assert json.loads(gate.plan_files.files[""])["network_domains"] == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("read_paths", "/"),
        ("write_paths", "/home/ada"),
        ("network_domains", "*"),
        ("skills", "agent_more"),
        ("destructive_ops", "delete_file"),
        ("nonsense", "x"),
    ],
)
def test_what_is_too_broad_is_refused_before_anybody_signs(
    gate: GateInMemory, kind: str, value: str
) -> None:
    with pytest.raises(AstraError):
        gate.planning.allowlist.content(kind, value)


def test_a_crash_before_the_file_is_written_is_made_up_for(gate: GateInMemory) -> None:
    content = gate.planning.allowlist.content("read_paths", "docs")
    signed = gate.root.sign(events.GLOBAL_GRANT_ADDED, content)
    real, gate.plan_files.write_allowlist = gate.plan_files.write_allowlist, _dies
    with pytest.raises(SystemExit):
        gate.planning.allowlist.add("read_paths", "docs", signed)
    gate.plan_files.write_allowlist = real
    assert gate.steps().run_due() == 1
    assert json.loads(gate.plan_files.files[""])["read_paths"] == ["docs"]
    assert gate.steps().run_due() == 0


@pytest.mark.parametrize(
    ("kind", "granted", "value", "held"),
    [
        ("network_domains", "*.example.com", "api.example.com", True),
        ("network_domains", "*.example.com", "example.com", False),
        ("network_domains", "*.example.com", "*.api.example.com", False),
        ("network_domains", "example.com", "example.com:8443", False),
        ("read_paths", "docs", "docs/guide.md", True),
        ("read_paths", "docs", "docs2", False),
        ("read_paths", "docs/*.md", "docs/secret.key", False),
        ("read_paths", "docs/guide.md", "docs", False),
        ("skills", "files", "write_file", False),
    ],
)
def test_an_item_holds_itself_and_what_lies_within(
    kind: str, granted: str, value: str, held: bool
) -> None:
    assert covers(kind, granted, value) is held


def _dies(_text: str) -> None:
    raise SystemExit
