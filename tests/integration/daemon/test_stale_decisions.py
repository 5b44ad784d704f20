"""Of two people who decide about the same thing the second is told, and so is who saw it as it was.

Every route that decides, with a decision that was good when it was made.
"""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from astra.policy import authority
from driver import Astra, make_repository
from http_driver import Served, problem, served

PLAN = {
    "schema_version": 1,
    "goals": ["Collect questions"],
    "checkpoints": [
        {"title": "Read", "description": "Read.", "expected_output": "a list", "step_budget": 3}
    ],
    "manifest": {"network_domains": ["example.com"]},
    "estimated_duration_minutes": 5,
    "assumptions": [],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    astra = Astra(tmp_path_factory.mktemp("stale"))
    astra.json("init", make_repository(astra.folder / "target"), "--throwaway")
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on", "--yes")
    astra.run("down")
    with served(astra) as found:
        yield found


@pytest.fixture
def http(site: Served) -> Iterator[httpx2.Client]:
    with site.client(site.login()) as found:
        yield found


def sign(site: Served, http: httpx2.Client, action: str, content: dict[str, Any]) -> Any:
    signed = authority.sign(site.statement(http, action, content), site.key())
    return json.loads(json.dumps(signed.as_dict()))


def granted(site: Served, http: httpx2.Client, approval: str) -> Any:
    """Sign for an approval as it is shown now."""
    digest = http.get(f"/api/approvals/{approval}").json()["digest"]
    return sign(site, http, "approval_granted", {"approval": approval, "digest": digest})


def fetch(site: Served, number: int) -> str:
    call = json.dumps({"url": f"https://example.org/{number}"})
    return site.astra.json("tools", "call", "fetch_url", call, code=3)["approval_id"]


def draft(site: Served, minutes: int) -> str:
    path = site.astra.folder / "plan.json"
    path.write_text(json.dumps({**PLAN, "estimated_duration_minutes": minutes}))
    return site.astra.json("plans", "draft", "--file", path)["id"]


def propose(site: Served, number: int) -> str:
    edit = site.astra.folder / "agent.py"
    edit.write_text(f"def answer() -> int:\n    return {number}\n")
    words = ["--edit", f"agent.py={edit}", "--reason", "better"]
    return site.astra.json("changes", "propose", *words)["id"]


def waiting(http: httpx2.Client, change: str) -> str:
    """Give a change's approval, once its evidence is there."""
    shown = http.get(f"/api/changes/{change}", params={"wait": 25}).json()
    assert shown["state"] == "awaiting_approval", shown["state"]
    return shown["approval_id"]


def test_an_approval_is_decided_once(site: Served, http: httpx2.Client) -> None:
    approval = fetch(site, 1)
    late = granted(site, http, approval)
    assert http.post(f"/api/approvals/{approval}/reject", json={"reason": "no"}).status_code == 200
    path = f"/api/approvals/{approval}"
    said = problem(http.post(f"{path}/approve", json={"authority": late}), 409, "already_decided")
    assert said["state"] == "rejected"
    assert said["by"].startswith("session:ses_")
    problem(http.post(f"{path}/reject", json={"reason": "no"}), 409, "already_decided")


def test_a_signature_counts_for_what_was_signed_and_once(site: Served, http: httpx2.Client) -> None:
    one, two = fetch(site, 2), fetch(site, 3)
    signed = granted(site, http, one)
    other = f"/api/approvals/{two}/approve"
    problem(http.post(other, json={"authority": signed}), 403, "signature_rejected")
    path = f"/api/approvals/{one}/approve"
    assert http.post(path, json={"authority": signed}).status_code == 200
    problem(http.post(path, json={"authority": signed}), 409, "already_decided")


def test_a_change_whose_evidence_is_gathered_again_is_not_approved_by_the_word_before(
    site: Served, http: httpx2.Client
) -> None:
    change = propose(site, 43)
    before = waiting(http, change)
    late = granted(site, http, before)
    http.post(f"/api/changes/{change}/test")
    assert waiting(http, change) != before
    said = http.post(f"/api/changes/{change}/approve", json={"authority": late})
    problem(said, 403, "signature_rejected")
    said = http.post(f"/api/approvals/{before}/approve", json={"authority": late})
    problem(said, 409, "already_decided")


def test_a_rejected_change_is_neither_approved_nor_sent_back(
    site: Served, http: httpx2.Client
) -> None:
    change = propose(site, 44)
    late = granted(site, http, waiting(http, change))
    path = f"/api/changes/{change}"
    assert http.post(f"{path}/reject", json={"reason": "no"}).status_code == 200
    assert http.post(f"{path}/approve", json={"authority": late}).status_code == 409
    body = {"text": "more tests", "request_changes": True}
    assert http.post(f"{path}/comments", json=body).status_code == 409


def test_a_plan_that_was_revised_is_not_approved_by_the_word_before(
    site: Served, http: httpx2.Client
) -> None:
    plan = draft(site, 6)
    before = http.get(f"/api/agents/{plan}").json()
    late = granted(site, http, before["approval_id"])
    edit = {"op": "remove", "path": "manifest.network_domains", "value": "example.com"}
    body = {"edits": [edit], "plan_hash": before["plan_hash"]}
    assert http.post(f"/api/agents/{plan}/revise", json=body).status_code == 200
    approve = {"approval": before["approval_id"], "authority": late}
    problem(http.post(f"/api/agents/{plan}/approve", json=approve), 409, "already_decided")
    assert http.get(f"/api/agents/{plan}").json()["state"] == "awaiting_approval"


def test_a_plan_is_not_edited_by_somebody_who_saw_another(
    site: Served, http: httpx2.Client
) -> None:
    plan = draft(site, 7)
    seen = http.get(f"/api/agents/{plan}").json()["plan_hash"]
    edit = {"op": "set", "path": "estimated_duration_minutes", "value": 8}
    path = f"/api/agents/{plan}/revise"
    assert http.post(path, json={"edits": [edit], "plan_hash": seen}).status_code == 200
    again = {"edits": [{**edit, "value": 9}], "plan_hash": seen}
    said = problem(http.post(path, json=again), 409, "stale_plan")
    assert said["plan_hash"] == http.get(f"/api/agents/{plan}").json()["plan_hash"] != seen


def test_a_rejected_plan_is_not_approved_resumed_or_rejected_again(
    site: Served, http: httpx2.Client
) -> None:
    plan = draft(site, 10)
    approval = http.get(f"/api/agents/{plan}").json()["approval_id"]
    late = granted(site, http, approval)
    path = f"/api/agents/{plan}"
    assert http.post(f"{path}/reject", json={"reason": "no"}).status_code == 200
    approve = {"approval": approval, "authority": late}
    problem(http.post(f"{path}/approve", json=approve), 409, "already_decided")
    assert http.post(f"{path}/resume", json={"authority": late}).status_code == 409
    assert http.post(f"{path}/reject", json={"reason": "no"}).status_code == 409
    assert http.post(f"{path}/skip", json={}).status_code == 409


def test_a_stop_is_ended_by_who_saw_that_one(site: Served, http: httpx2.Client) -> None:
    first = http.post("/api/stop").json()["stop"]
    late = sign(site, http, "work_started", {"stop": first})
    signed = sign(site, http, "work_started", {"stop": first})
    said = http.post("/api/start", json={"stop": first, "authority": signed})
    assert said.status_code == 200, said.text
    second = http.post("/api/stop").json()["stop"]
    assert second != first
    problem(http.post("/api/start", json={"stop": first, "authority": late}), 409, "other_stop")
    said = http.post("/api/start", json={"stop": second, "authority": late})
    problem(said, 403, "signature_rejected")
    fresh = sign(site, http, "work_started", {"stop": second})
    assert http.post("/api/start", json={"stop": second, "authority": fresh}).status_code == 200
