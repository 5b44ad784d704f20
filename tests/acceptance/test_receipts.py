"""One decision leaves the house: whoever gets its receipt verifies it without Astra."""

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from astra.bootstrap.events import EVENTS
from astra.interfaces.cli.receipts import FAMILIES, find_family
from driver import Astra

VERIFIER = Path(__file__).parents[2] / "examples" / "verify_receipt.py"


def verify(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", VERIFIER, path, *words], capture_output=True, text=True, check=False
    )


def approve_something(astra: Astra) -> str:
    call = astra.json("tools", "call", "fetch_url", '{"url": "https://example.com"}', code=3)
    astra.json("approve", call["approval_id"])
    return call["approval_id"]


def test_the_verifier_has_a_hundred_lines_and_nothing_of_astra() -> None:
    text = VERIFIER.read_text()
    assert len(text.splitlines()) <= 100
    assert "import astra" not in text
    assert "from astra" not in text


def test_an_approval_is_proven_to_somebody_without_astra(astra: Astra) -> None:
    approval = approve_something(astra)
    for _ in range(3):  # the tree goes on behind the decision
        astra.json("flags", "set", "AGENT_PLANNING_ENABLED", "off")
    receipt = astra.folder / "receipt.json"
    made = astra.json("ledger", "receipt", approval, "--output", receipt)
    done = verify(receipt)
    assert done.returncode == 0, done.stderr
    assert "approval_granted" in done.stdout
    assert "the operator's key" in done.stdout
    assert verify(receipt, made["keyid"]).returncode == 0
    assert "another ledger" in verify(receipt, "00" * 32).stderr
    assert astra.json("ledger", "receipt", approval)["signatures"][0]["keyid"] == made["keyid"]


def test_keys_that_were_rotated_are_followed_and_the_first_and_last_record_have_one(
    astra: Astra,
) -> None:
    astra.json("operator", "rotate")
    approval = approve_something(astra)
    count = astra.json("status")["ledger"]["records"]
    receipt = astra.folder / "receipt.json"
    for identifier in (approval, "1", str(count)):
        receipt.write_text(json.dumps(astra.json("ledger", "receipt", identifier)))
        done = verify(receipt)
        assert done.returncode == 0, f"{identifier}: {done.stderr}"
    assert astra.json("ledger", "receipt", "apr_ffffffff", code=1)["code"] == "not_found"
    assert astra.json("ledger", "receipt", "9999999", code=1)["code"] == "not_found"


def change_payload(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def tamper(envelope: dict[str, Any]) -> None:
        payload = json.loads(base64.b64decode(envelope["payload"]))
        change(payload)
        envelope["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()

    return tamper


def edit_record(payload: dict[str, Any]) -> None:
    payload["record"]["line"] = payload["record"]["line"].replace("approval", "approvel")


def cut_path(payload: dict[str, Any]) -> None:
    payload["record"]["path"].pop()


def change_size(payload: dict[str, Any]) -> None:
    payload["tree"]["size"] += 1


def change_kind(envelope: dict[str, Any]) -> None:
    envelope["payloadType"] = "text/plain"


def swap_key(payload: dict[str, Any]) -> None:
    key = json.loads(payload["origin"]["line"])["data"]["ledger_key"]
    payload["origin"]["line"] = payload["origin"]["line"].replace(key, "ab" * 32)


@pytest.mark.parametrize(
    "tamper",
    [
        change_payload(edit_record),
        change_payload(cut_path),
        change_payload(change_size),
        change_payload(swap_key),
        change_payload(lambda payload: payload.pop("keys")),
        change_kind,
        lambda envelope: envelope["signatures"].clear(),
        lambda envelope: envelope.update(payload="bm9uc2Vuc2U="),
    ],
    ids=["record", "path", "size", "key", "keys", "kind", "signature", "payload"],
)
def test_a_receipt_that_was_touched_is_not_valid(
    shared: Astra, tmp_path: Path, tamper: Callable[[dict[str, Any]], None]
) -> None:
    envelope = shared.json("ledger", "receipt", "1")
    tamper(envelope)
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(envelope))
    done = verify(path)
    assert done.returncode == 1
    assert "NOT VALID" in done.stderr


def test_every_event_belongs_to_a_family() -> None:
    assert {find_family(name) for name in EVENTS} == set(FAMILIES)


def test_a_family_and_a_month_leave_as_they_are_in_the_chain(astra: Astra) -> None:
    astra.json("desires", "record", "learn sailing")
    astra.json("flags", "set", "AGENT_PLANNING_ENABLED", "off")
    month = astra.json("status")["ledger"]["time"][:7]
    whole = astra.run("ledger", "export").stdout.splitlines()
    desires = astra.run("ledger", "export", "--family", "desires", "--month", month).stdout
    types = {json.loads(line)["type"] for line in desires.splitlines()}
    assert "desire_recorded" in types
    assert all(find_family(name) == "desires" for name in types)
    assert set(desires.splitlines()) <= set(whole)
    other = astra.run("ledger", "export", "--family", "desires", "--month", "2001-01")
    assert (other.returncode, other.stdout) == (0, "")
    assert astra.json("ledger", "export", "--family", "wishes", code=2)["code"] == "bad_input"
    assert astra.json("ledger", "export", "--month", "2026-13", code=2)["code"] == "bad_input"


def test_the_compact_index_names_every_record_without_its_data(astra: Astra) -> None:
    astra.json("desires", "record", "a very private wish")
    lines = astra.run("ledger", "export", "--index-json").stdout.splitlines()
    assert len(lines) == len(astra.run("ledger", "export").stdout.splitlines())
    entries = [json.loads(line) for line in lines]
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert entries[0]["family"] == "ledger"
    assert "private wish" not in "".join(lines)
