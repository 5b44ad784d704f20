"""What the OpenAPI says is what the API does, for everybody who may knock, whatever they send.

Requests are made from the description itself, some as it wants them and some not. No answer may be
a failure of the daemon, every answer has a documented status, type and shape, and every refusal is
a problem that says what to do next.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from driver import Astra, make_repository
from http_driver import Served, served

DESCRIPTION = Path(__file__).parents[3] / "web" / "openapi.json"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ROLES = ("agent", "viewer", "operator", "")
EXAMPLES = 4
UNENDING = "/api/events"
LAST = ("POST /api/stop",)
"""What closes most other doors is asked when those were tried."""
SEEN = ("seen", "plan_hash", "step", "commit")
"""What somebody says they saw; made up, it never is what is there."""
PLAN = {
    "schema_version": 1,
    "goals": ["Collect questions"],
    "checkpoints": [
        {
            "title": "Read",
            "description": "Read the notes.",
            "expected_output": "a list",
            "step_budget": 3,
        }
    ],
    "manifest": {"network_domains": ["example.com"]},
    "estimated_duration_minutes": 5,
    "assumptions": [],
}
schema = schemathesis.openapi.from_dict(json.loads(DESCRIPTION.read_text()))
OPERATIONS = {found.ok().label: found.ok() for found in schema.get_all_operations()}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    astra = Astra(tmp_path_factory.mktemp("description"))
    astra.json("init", make_repository(astra.folder / "target"), "--throwaway")
    with served(astra) as found:
        yield found


@pytest.fixture(scope="module")
def known(site: Served) -> dict[str, str]:
    """Something of every kind, so that what is asked for is there: its id, by the route."""
    astra, edit = site.astra, site.astra.folder / "agent.py"
    edit.write_text("def answer() -> int:\n    return 43\n")
    plan = astra.folder / "plan.json"
    plan.write_text(json.dumps(PLAN))
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on", "--yes")
    wish = astra.json("desires", "record", "be kind", "--strength", "0.5")["id"]
    words = ["--name", "health", "--cron", "@yearly", "--tool", "astra.health", "--tier", "0"]
    schedule = astra.json("schedules", "create", *words)["id"]
    astra.json("schedules", "run", schedule)
    asked = astra.json("tools", "call", "fetch_url", '{"url": "https://example.org/"}', code=3)
    change = astra.json("changes", "propose", "--edit", f"agent.py={edit}", "--reason", "better")
    return {
        "/api/approvals": asked["approval_id"],
        "/api/desires": wish,
        "/api/schedules": schedule,
        "/api/changes": change["id"],
        "/api/tasks": astra.json("tasks", "list")["items"][0]["id"],
        "/api/agents": astra.json("plans", "draft", "--file", plan)["id"],
        "/api/ledger/story": change["id"],
        "/api/tokens": site.token("viewer")["id"],
        "/api/tools": "astra_health",
    }


@pytest.fixture(scope="module")
def callers(site: Served) -> Iterator[list[requests.Session]]:
    """One of each role, and somebody without a token."""
    made = [caller(site, role) for role in ROLES]
    yield made
    for session in made:
        session.close()


def caller(site: Served, role: str) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.headers["Host"] = site.host
    if role:
        session.headers["Authorization"] = f"Bearer {site.token(role)['secret']}"
    return session


@pytest.mark.timeout(900)
def test_every_operation_answers_as_it_is_described(
    site: Served, callers: list[requests.Session], known: dict[str, str]
) -> None:
    reached: set[str] = set()
    for label in sorted(OPERATIONS, key=lambda name: (name in LAST, name)):
        if UNENDING not in label:
            reached |= tried(site, callers, known, label)
    assert len(reached) >= 50, f"only {len(reached)} operations ever did what they are for"


def tried(
    site: Served, callers: list[requests.Session], known: dict[str, str], label: str
) -> set[str]:
    """Ask for one operation, as everybody; says whether it was ever done."""
    operation, base, done = OPERATIONS[label], f"http://127.0.0.1:{site.port}", set[str]()
    right, wrong = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    there = next((known[path] for path in known if operation.path.startswith(f"{path}/{{")), None)

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(right | wrong, st.booleans())
    def asked(case: Any, exists: bool) -> None:
        if exists and there and case.path_parameters:
            case.path_parameters = dict.fromkeys(case.path_parameters, there)
            if isinstance(case.body, dict):
                case.body = {name: value for name, value in case.body.items() if name not in SEEN}
        for session in callers:
            said = case.call(base_url=base, session=session, timeout=60)
            case.validate_response(said, checks=CHECKS)
            if said.status_code == 200:
                done.add(label)
            elif said.status_code >= 400:
                is_problem(said)

    asked()
    return done


def is_problem(said: Any) -> None:
    assert said.headers["content-type"][0] == "application/problem+json"
    body = said.json()
    assert all(body[name] for name in ("title", "status", "code", "detail", "next_step"))
    assert body["status"] == said.status_code
