"""Of two people who decide about the same thing the second is told, and so is who saw it as it was.

Every route that decides, with a decision that was good when it was made.
"""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from astra.trusted.policy import authority, contract
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


def begun(http: httpx2.Client, path: str) -> dict[str, Any]:
    """Give a plan once it is in its first checkpoint."""
    with http.stream("GET", "/api/events", params={"after": 0}) as events:
        assert any(line == "event: agent_checkpoint_started" for line in events.iter_lines())
    return http.get(path).json()


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


def test_who_decides_on_a_plan_as_it_was_is_told_what_is_different(
    site: Served, http: httpx2.Client
) -> None:
    plan = draft(site, 11)
    before = http.get(f"/api/agents/{plan}").json()
    path, seen = f"/api/agents/{plan}", {"plan_hash": before["plan_hash"]}
    narrower = {"op": "remove", "path": "manifest.network_domains", "value": "example.com"}
    fewer = {"op": "set", "path": "checkpoints.0.step_budget", "value": 2}
    assert http.post(f"{path}/revise", json={"edits": [narrower, fewer]}).status_code == 200
    said = problem(http.post(f"{path}/reject", json={"reason": "no", **seen}), 409, "stale_plan")
    assert said["changes"] == [
        "checkpoints.0.step_budget is 2, was 3",
        'manifest.network_domains without "example.com"',
    ]
    assert "network_domains without" in said["detail"]
    now = http.get(path).json()
    approve = {"approval": now["approval_id"], **seen}
    approve["authority"] = granted(site, http, now["approval_id"])
    problem(http.post(f"{path}/approve", json=approve), 409, "stale_plan")
    assert http.get(path).json()["state"] == "awaiting_approval"
    fresh = {"reason": "no", "plan_hash": now["plan_hash"]}
    assert http.post(f"{path}/reject", json=fresh).json()["state"] == "rejected"


def test_a_step_budget_is_not_extended_over_an_extension_that_nobody_saw(
    site: Served, http: httpx2.Client
) -> None:
    plan = draft(site, 12)
    path = f"/api/agents/{plan}"
    approval = http.get(path).json()["approval_id"]
    body = {"approval": approval, "authority": granted(site, http, approval)}
    assert http.post(f"{path}/approve", json=body).status_code == 200
    step = begun(http, path)["progress"]["step"]

    def signed(steps: int) -> dict[str, Any]:
        asked = {"action": "extend_budget", "steps": steps}
        wanted = http.get(f"{path}/decision", params=asked).json()
        return {"steps": steps, "authority": sign(site, http, wanted["type"], wanted["content"])}

    late, first = signed(2), signed(4)
    assert http.post(f"{path}/extend_budget", json=first).status_code == 200
    said = problem(
        http.post(f"{path}/extend_budget", json={**late, "step": step}), 409, "changed_meanwhile"
    )
    assert (said["budget"], said["by"]) == (3 + 4, "operator")
    assert said["change"]["type"] == "agent_budget_extended"
    assert said["change"]["steps"] == 4
    other = {**late, "steps": 5}
    problem(http.post(f"{path}/extend_budget", json=other), 403, "signature_rejected")
    assert http.get(path).json()["progress"]["step_budget"] == 3 + 4
    assert http.post(f"{path}/extend_budget", json=signed(2)).status_code == 200
    assert http.get(path).json()["progress"]["step_budget"] == 3 + 4 + 2


def test_a_rejection_and_its_remarks_are_recorded_together_or_not_at_all(
    site: Served, http: httpx2.Client
) -> None:
    change = propose(site, 45)
    waiting(http, change)
    path = f"/api/changes/{change}"
    commit = http.get(path).json()["commit"]
    remark = {"path": "agent.py", "side": "new", "line": 2, "text": "why 45?"}
    nowhere = {"reason": "no", "remarks": [{**remark, "line": 400}], "commit": commit}
    assert http.post(f"{path}/reject", json=nowhere).status_code == 404
    elsewhere = {"reason": "no", "remarks": [remark], "commit": "0" * 40}
    said = problem(http.post(f"{path}/reject", json=elsewhere), 409, "stale_commit")
    assert said["commit"] == commit
    assert http.get(path).json()["comments"] == []
    body = {**elsewhere, "commit": commit}
    done = http.post(f"{path}/reject", json=body).json()
    assert (done["state"], done["comments"][0]["remarks"]) == ("rejected", [remark])
    said = problem(http.post(f"{path}/reject", json=body), 409, "already_decided")
    assert "rejected already: no" in said["detail"]
    assert len(http.get(path).json()["comments"]) == 1


def test_a_remark_is_not_put_beside_lines_that_moved(site: Served, http: httpx2.Client) -> None:
    change = propose(site, 46)
    body = {"text": "hm", "commit": "1" * 40}
    for sent_back in (False, True):
        said = http.post(
            f"/api/changes/{change}/comments", json={**body, "request_changes": sent_back}
        )
        problem(said, 409, "stale_commit")


def test_a_flag_is_not_turned_on_over_an_off_that_nobody_saw(
    site: Served, http: httpx2.Client
) -> None:
    name = "AGENT_RUNNER_ENABLED"
    content = {"flag": name, "on": True}
    seen = {each["name"]: each for each in http.get("/api/flags").json()["items"]}[name]["sequence"]
    off = http.post("/api/flags", json={"name": name, "on": False, "seen": -1})
    assert off.status_code == 200, "off is never refused"
    body = {"name": name, "on": True, "authority": sign(site, http, "flag_set", content)}
    said = problem(http.post("/api/flags", json={**body, "seen": seen}), 409, "changed_meanwhile")
    assert (said["on"], said["change"]["on"]) == (False, False)
    assert said["by"].startswith("session:ses_")
    done = http.post("/api/flags", json={**body, "seen": off.json()["sequence"]})
    assert done.json()["on"] is True


def test_a_grant_that_was_taken_back_is_not_added_by_who_did_not_see_it(
    site: Served, http: httpx2.Client
) -> None:
    path, grant = "/api/agent_global_grants", {"kind": "network_domains", "value": "example.net"}
    content = http.get(f"{path}/content", params=grant).json()

    def add(seen: int) -> httpx2.Response:
        signed = sign(site, http, "agent_global_grant_added", content)
        return http.post(path, json={**grant, "authority": signed, "seen": seen})

    assert add(http.get(path).json()["sequence"]).status_code == 200
    seen = http.get(path).json()["sequence"]
    assert http.delete(path, params=grant).status_code == 200
    said = problem(add(seen), 409, "changed_meanwhile")
    assert said["change"]["type"] == "agent_global_grant_removed"
    assert add(http.get(path).json()["sequence"]).status_code == 200


def test_a_configuration_is_not_signed_over_one_that_nobody_saw(
    site: Served, http: httpx2.Client
) -> None:
    def put(text: str, seen: str) -> httpx2.Response:
        signed = sign(site, http, "config_signed", contract.content(text))
        return http.post("/api/config", json={"text": text, "authority": signed, "seen": seen})

    first = http.get("/api/config").json()
    text = first["text"] + "\n[deploy]\nkeep = 7\n"
    assert put(text, first["sha256"]).status_code == 200
    said = problem(put(first["text"] + "\n# mine\n", first["sha256"]), 409, "changed_meanwhile")
    assert "+keep = 7" in said["lines"]
    assert put(text + "# both\n", said["sha256"]).status_code == 200


def test_a_schedule_is_not_changed_by_who_saw_another(site: Served, http: httpx2.Client) -> None:
    fields = {"name": "Look", "cron_expression": "0 7 * * *", "target_tool": "astra.desires.list"}
    made = http.post("/api/schedules", json=fields).json()
    path = f"/api/schedules/{made['id']}"
    later = {"cron_expression": "0 8 * * *", "seen": made["etag"]}
    changed = http.post(path, json=later)
    assert changed.status_code == 200, changed.text
    mine = {"cron_expression": "0 9 * * *", "seen": made["etag"]}
    said = problem(http.post(path, json=mine), 409, "changed_meanwhile")
    assert said["now"]["cron_expression"] == "0 8 * * *"
    assert said["change"]["type"] == "schedule_modified"
    held = http.post(f"{path}/pause").json()
    stale = {"seen": changed.json()["etag"]}
    problem(http.post(f"{path}/resume", json=stale), 409, "changed_meanwhile")
    again = http.post(f"{path}/resume", json={"seen": held["etag"]})
    assert again.json()["state"] == "active"
    assert http.get(path).json()["etag"] == changed.json()["etag"]
