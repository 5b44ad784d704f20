"""Names of hosts are an agent's words: nobody asks a name server about them but by an order."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from astra.adapters import host_names
from astra.adapters.host_names import HostNames
from astra.plans import events
from astra.plans.host_lookup import MOST_HOSTS, HostLookup
from astra.testing import GateInMemory
from astra.trusted.door import rules

STORY = "cor_0000000000000001"
WAIT = 60


@dataclass
class NameServer:
    """Stands in for the name server, and remembers every question."""

    known: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    questions: list[str] = field(default_factory=list[str])

    def resolve(self, names: Sequence[str]) -> Mapping[str, list[str] | None]:
        self.questions += names
        return {name: self.known.get(name, []) for name in names}


@pytest.fixture
def server() -> NameServer:
    return NameServer({"example.com": ["93.184.216.34"], "inner.example": ["10.0.0.1"]})


@pytest.fixture
def gate() -> Iterator[GateInMemory]:
    gate = GateInMemory()
    yield gate
    gate.root.ledger.close()


def draft(gate: GateInMemory, *hosts: str) -> str:
    document: dict[str, Any] = {
        "schema_version": 1,
        "goals": ["Look at a page"],
        "checkpoints": [
            {"title": "Read", "description": "Read it", "skills_needed": ["read_file"]},
        ],
        "manifest": {"skills": ["files"], "read_paths": ["docs"], "network_domains": list(hosts)},
        "estimated_duration_minutes": 20,
        "assumptions": [],
    }
    return gate.planning.plans.draft(document, actor="agent:test", correlation=STORY).id


def look_up(gate: GateInMemory, server: NameServer, plan: str) -> dict[str, str]:
    lookup = HostLookup(register=gate.planning.register, resolve=server.resolve)
    return {item["value"]: item["outcome"] for item in lookup.look_up(plan, actor="user:1")}


def test_drafting_and_looking_at_a_plan_asks_no_name_server(
    gate: GateInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> list[Any]:
        raise AssertionError("somebody asked a name server")

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    plan = draft(gate, "c2VjcmV0.evil.example")
    shown = gate.planning.views.show_plan(plan)
    (item,) = [i for i in shown["manifest"]["items"] if i["kind"] == "network_domains"]
    assert item["preflight"].startswith("not looked up")


def test_only_who_may_decide_may_have_names_looked_up() -> None:
    assert rules.RULES["POST /api/agents/{identifier}/hosts"] is rules.DECIDE


def test_what_was_asked_is_recorded_first_and_said_beside_each_grant(
    gate: GateInMemory, server: NameServer
) -> None:
    plan = draft(gate, "example.com:8443", "inner.example", "gone.example", "*.example.org")
    outcomes = look_up(gate, server, plan)
    assert outcomes == {
        "example.com:8443": "exists",
        "inner.example": "exists, at an address of this machine or its network",
        "gone.example": "does not exist",
        "*.example.org": "a pattern: there is no one name to look up",
    }
    record = gate.root.ledger.newest(events.HOSTS_LOOKED_UP)
    assert record
    assert (record.actor, record.data["hosts"]) == ("user:1", server.questions)


def test_an_agent_does_not_read_what_came_of_it(gate: GateInMemory, server: NameServer) -> None:
    plan = draft(gate, "example.com")
    before = gate.planning.views.show_plan(plan)
    look_up(gate, server, plan)
    assert gate.planning.views.show_plan(plan) == before


def test_a_plan_full_of_names_asks_about_a_few(gate: GateInMemory, server: NameServer) -> None:
    plan = draft(gate, *(f"part{number}.evil.example" for number in range(MOST_HOSTS + 5)))
    outcomes = look_up(gate, server, plan)
    assert len(server.questions) == MOST_HOSTS
    assert sum(text.startswith("not looked up") for text in outcomes.values()) == 5


def test_a_name_server_that_does_not_answer_holds_nobody_and_piles_nothing_up() -> None:
    silence = threading.Event()
    open_questions: list[str] = []

    def never_answer(name: str) -> list[str]:
        open_questions.append(name)
        silence.wait(WAIT)
        return []

    names = HostNames(ask=never_answer, seconds=0.05)
    asked = [f"host{number}.example" for number in range(host_names.MOST_QUESTIONS)]
    try:
        for _ in range(5):
            assert set(names.resolve(asked).values()) == {None}
        assert len(open_questions) <= host_names.MOST_QUESTIONS
    finally:
        silence.set()


def test_a_machines_search_domains_are_kept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[str] = []

    def answer(name: str, *_arguments: object, **_options: object) -> list[Any]:
        questions.append(name)
        return [(0, 0, 0, "", ("93.184.216.34", 0))]

    monkeypatch.setattr("socket.getaddrinfo", answer)
    assert HostNames(seconds=WAIT).resolve(["example.com"]) == {"example.com": ["93.184.216.34"]}
    assert questions == ["example.com."]
