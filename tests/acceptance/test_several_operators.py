"""Two people with homes of their own look after one Astra: each signs with their own key."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver import COMMAND, Astra

VERIFIER = Path(__file__).parents[2] / "examples" / "verify_receipt.py"


@dataclass
class Person:
    """Somebody at the same data root, with a home and a key of their own."""

    astra: Astra
    name: str

    @property
    def environment(self) -> dict[str, str]:
        home = self.astra.folder / f"home-of-{self.name}"
        return {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "ASTRA_OPERATOR_PASSPHRASE": f"passphrase of {self.name}",
        }

    def run(self, *words: str | Path) -> Any:
        return self.astra.run(*words, **self.environment)

    def json(self, *words: str | Path, code: int = 0) -> Any:
        return self.astra.json(*words, code=code, **self.environment)


def enrol(astra: Astra, name: str, *options: str) -> Person:
    person = Person(astra, name)
    request = person.json("operators", "request", "--name", name)["file"]
    astra.json("operators", "add", request, *options)
    return person


def test_one_operator_is_listed_and_nothing_else_is_different(astra: Astra) -> None:
    (owner,) = astra.json("operators")["items"]
    assert (owner["name"], owner["signed_by"], owner["passkeys"]) == ("owner", [], [])
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    (record,) = astra.json("ledger", "tail", "--count", "1", "--type", "flag_set")["items"]
    assert record["actor"] == "operator"


def test_two_operators_enrol_sign_together_and_part(astra: Astra) -> None:
    """A day with two: a request, a role, two signatures, a removal."""
    anna = Person(astra, "anna")
    assert anna.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on", code=1)["code"] == (
        "no_operator_key"
    )
    asked = anna.json("operators", "request", "--name", "anna")
    assert Path(asked["operator_key"]).is_relative_to(astra.folder / "home-of-anna")
    assert "sealed" not in json.dumps(asked)
    refused = anna.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on", code=1)
    assert refused["code"] == "signature_rejected"

    astra.json("operators", "add", asked["file"])
    names = [item["name"] for item in astra.json("operators")["items"]]
    assert names == ["owner", "anna"]
    set_on = anna.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    assert set_on["on"] is True
    (record,) = astra.json("ledger", "tail", "--count", "1", "--type", "flag_set")["items"]
    assert record["actor"] == "operator:anna"

    receipt = astra.folder / "receipt.json"
    astra.json("ledger", "receipt", str(record["sequence"]), "--output", receipt)
    proven = subprocess.run(
        [sys.executable, "-I", VERIFIER, receipt], capture_output=True, text=True, check=False
    )
    assert proven.returncode == 0, proven.stderr

    astra.json("operators", "rules", "--configuration", "2")
    with (astra.root / "astra.toml").open("a") as file:
        file.write("\n# looked at by two\n")
    first = astra.json("config", "sign", code=3)
    assert (first["code"], first["signed_by"]) == ("signatures_missing", ["owner"])
    assert first["detail"] == "1 of 2: signed by owner, waits for one more"
    assert astra.json("config", "sign", code=3)["signed_by"] == ["owner"]
    listed = anna.run("operators").stdout
    assert "config_signed, 1 of 2: signed by owner, waits for one more" in listed
    (waiting,) = anna.json("operators")["waiting"]
    anna.json("operators", "sign", waiting["round"][:16])
    assert "looked at by two" in astra.json("config", "show")["text"]
    assert astra.json("operators")["waiting"] == []

    kept = anna.json("operators", "remove", "owner", code=1)
    assert kept["code"] == "nobody_could_sign"
    astra.json("operators", "rules", "--configuration", "1")
    astra.json("operators", "remove", "anna")
    late = anna.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on", code=1)
    assert late["code"] == "signature_rejected"
    assert "looked at by two" in astra.json("config", "show")["text"]


def test_an_approval_says_who_may_sign_it_and_who_did(astra: Astra) -> None:
    bert = enrol(astra, "bert", "--role", "reviewer")
    call = ["tools", "call", "fetch_url", json.dumps({"url": "https://example.com/tides"})]
    identifier = astra.json(*call, code=3)["approval_id"]
    refused = bert.json("approve", identifier, code=1)
    assert refused["code"] == "role_too_small"
    assert refused["detail"].endswith("the role does not cover approve:tool_call")
    astra.json("approve", identifier)
    shown = astra.json("approvals", "show", identifier)
    assert shown["signatures"]["signed_by"] == ["owner"]
    assert bert.json("operators", "request", "--name", "bert2", code=1)["code"] == "conflict"


def test_a_daemon_killed_between_two_signatures_loses_none_and_counts_none_twice(
    astra: Astra,
) -> None:
    """What was signed is on disk when the command has ended, whatever becomes of the daemon."""
    anna = enrol(astra, "anna")
    astra.json("operators", "rules", "--configuration", "2")
    with (astra.root / "astra.toml").open("a") as file:
        file.write("\n# signed across a crash\n")
    assert astra.json("config", "sign", code=3)["signed_by"] == ["owner"]
    kill_daemon(astra)
    assert astra.json("operators")["waiting"][0]["signed_by"] == ["owner"]
    assert astra.json("config", "sign", code=3)["signed_by"] == ["owner"]
    assert "across a crash" not in astra.json("config", "show")["text"]
    kill_daemon(astra)
    anna.json("config", "sign")
    kill_daemon(astra)
    assert "across a crash" in astra.json("config", "show")["text"]
    assert astra.json("operators")["waiting"] == []


def test_a_daemon_killed_while_the_last_signature_arrives_has_decided_or_not(
    astra: Astra,
) -> None:
    """Whenever the kill comes, the round is complete or waits, and signing again is safe."""
    anna = enrol(astra, "anna")
    astra.json("operators", "rules", "--configuration", "2")
    for number in range(3):
        with (astra.root / "astra.toml").open("a") as file:
            file.write(f"\n# kill number {number}\n")
        assert astra.json("config", "sign", code=3)["signed_by"] == ["owner"]
        before = count_records(astra)
        pid = astra.json("status")["daemon"]["pid"]
        environment = {**astra.environment, **anna.environment}
        with subprocess.Popen(
            astra.start(COMMAND, "config", "sign", "--json"),
            env=environment,
            cwd=astra.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as signing:
            if number:  # at once the first time; then when its record has begun to arrive
                while signing.poll() is None and count_records(astra) == before:
                    pass
            os.kill(pid, signal.SIGKILL)
            signing.wait(timeout=240)
        if f"kill number {number}" not in astra.json("config", "show")["text"]:
            (waiting,) = astra.json("operators")["waiting"]
            assert waiting["signed_by"] == ["owner"]
            anna.json("config", "sign")
        assert f"kill number {number}" in astra.json("config", "show")["text"]
        assert astra.json("operators")["waiting"] == []
        assert astra.run("ledger", "verify").returncode == 0


def kill_daemon(astra: Astra) -> None:
    os.kill(astra.json("status")["daemon"]["pid"], signal.SIGKILL)


def count_records(astra: Astra) -> int:
    """Count lines on disk: no daemon is asked, so none is waited for."""
    files = (astra.root / "var" / "ledger").glob("*.ndjson")
    return sum(file.read_bytes().count(b"\n") for file in files)
