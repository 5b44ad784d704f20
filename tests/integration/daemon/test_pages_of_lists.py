"""Lists come in pages that join up, whatever their size; and two routes of the dashboard's own."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx2
import pytest

from driver import Astra, make_repository
from http_driver import Served, problem, served


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    astra = Astra(tmp_path_factory.mktemp("pages"))
    astra.json("init", make_repository(astra.folder / "target"), "--throwaway")
    with served(astra) as found:
        yield found


@pytest.fixture(scope="module")
def http(site: Served) -> Iterator[httpx2.Client]:
    with site.client(site.login()) as found:
        yield found


@pytest.fixture(scope="module")
def approvals(site: Served, http: httpx2.Client) -> list[str]:
    """Five requests, in the order they were made; the second is rejected."""
    with site.client(site.token("agent")["secret"]) as agent:
        asked = [
            agent.post("/api/tools/fetch_url", json={"url": f"https://example.org/{number}"})
            for number in range(5)
        ]
    made = [said.json()["approval_id"] for said in asked]
    http.post(f"/api/approvals/{made[1]}/reject", json={"reason": "no"})
    return made


def pages(http: httpx2.Client, path: str, **asked: Any) -> list[list[str]]:
    """Follow a list to its end."""
    found: list[list[str]] = []
    while True:
        said = http.get(path, params=asked).json()
        found.append([item["id"] for item in said["items"]])
        if said["next"] is None:
            return found
        asked["cursor"] = said["next"]


def test_pages_of_approvals_join_up_in_both_directions(
    http: httpx2.Client, approvals: list[str]
) -> None:
    one, two, three, four, five = approvals
    path = "/api/approvals"
    assert pages(http, path, limit=2) == [[one, three], [four, five]]
    assert pages(http, path, state="all", limit=2) == [[one, two], [three, four], [five]]
    newest = pages(http, path, state="all", limit=2, newest=True)
    assert newest == [[five, four], [three, two], [one]]
    assert pages(http, path, state="rejected") == [[two]]
    assert pages(http, path, state="stale") == [[]]


def test_the_command_line_shows_approvals_however_many_pages_they_are(
    site: Served, approvals: list[str]
) -> None:
    shown = site.astra.json("approvals")
    assert [item["id"] for item in shown["items"]] == [approvals[0], *approvals[2:]]
    assert shown["next"] is None


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 1001}, {"cursor": -1}, {"state": "odd"}])
def test_a_page_that_makes_no_sense_is_refused(http: httpx2.Client, asked: dict[str, Any]) -> None:
    problem(http.get("/api/approvals", params=asked), 400, "bad_input")


def test_a_story_comes_in_pages(http: httpx2.Client, approvals: list[str]) -> None:
    path = f"/api/ledger/story/{approvals[1]}"
    whole = http.get(path).json()["items"]
    assert len(whole) > 1
    found: list[Any] = []
    asked: dict[str, Any] = {"limit": 1}
    while asked.get("cursor", 0) is not None:
        said = http.get(path, params=asked).json()
        assert len(said["items"]) <= 1
        found += said["items"]
        asked["cursor"] = said["next"]
    assert found == whole


def test_a_cron_line_is_explained_in_words_and_times(http: httpx2.Client) -> None:
    asked = {"cron_expression": "30 7 * * 1-5", "timezone": "Europe/Berlin"}
    said = http.get("/api/schedules/explain", params=asked).json()
    assert "07:30" in said["in_words"]
    times = [datetime.fromisoformat(text) for text in said["next_runs"]]
    assert len(times) == 5
    assert times == sorted(times)
    assert {(time.hour, time.minute) for time in times} == {(7, 30)}
    assert all(time.weekday() < 5 and time.utcoffset() for time in times)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"cron_expression": "every day"}, "bad_cron"),
        ({"cron_expression": "* * * * *", "timezone": "Mars/Olympus"}, "bad_timezone"),
        ({"cron_expression": "x" * 300}, "bad_input"),
        ({}, "bad_input"),
    ],
)
def test_a_cron_line_that_makes_no_sense_is_refused(
    http: httpx2.Client, asked: dict[str, str], code: str
) -> None:
    problem(http.get("/api/schedules/explain", params=asked), 400, code)


def test_a_chain_that_is_whole_is_told_to_be(http: httpx2.Client, approvals: list[str]) -> None:
    said = http.post("/api/ledger/verify").json()
    head = http.get("/api/ledger/head").json()
    assert said["ok"]
    assert said["problems"] == []
    assert said["records"] == head["sequence"]
    assert said["head"] == head["hash"]


def test_a_viewer_does_not_have_the_chain_checked(site: Served) -> None:
    """Reading every file again and again is work that somebody could ask for without end."""
    with site.client(site.token("viewer")["secret"]) as viewer:
        problem(viewer.post("/api/ledger/verify"), 403, "wrong_role")


def test_a_chain_that_was_edited_is_told_to_be(tmp_path_factory: pytest.TempPathFactory) -> None:
    astra = Astra(tmp_path_factory.mktemp("edited"))
    astra.json("init", make_repository(astra.folder / "target"), "--throwaway")
    with served(astra) as site, site.client(site.login()) as http:
        http.get("/api/status")
        (segment,) = (astra.root / "var" / "ledger").glob("*.ndjson")
        lines = segment.read_text().splitlines(keepends=True)
        lines[0] = lines[0].replace('"throwaway":true', '"throwaway":null')
        segment.write_text("".join(lines))
        said = http.post("/api/ledger/verify").json()
    assert not said["ok"]
    assert said["problems"][0]["sequence"] == 1
    assert said["problems"][0]["detail"]


@pytest.mark.parametrize(
    "matrix", [{"rows": [1]}, {"rows": {"a": 1}}, {"rows": [{"name": "smoke"}]}, [], "matrix"]
)
def test_a_matrix_that_none_is_is_refused_and_nothing_fails(
    http: httpx2.Client, matrix: Any
) -> None:
    for path in ("/api/readiness/matrix/content", "/api/readiness/matrix"):
        problem(http.post(path, json=matrix), 400, "bad_input")
        problem(http.post(path, json={"matrix": matrix, "authority": {}}), 400, "bad_input")


def test_a_sign_off_of_no_report_is_refused_and_nothing_fails(
    site: Served, http: httpx2.Client
) -> None:
    statement = site.statement(http, "readiness_signed_off", {})
    from astra.trusted.policy import authority

    signed = json.loads(json.dumps(authority.sign(statement, site.key()).as_dict()))
    said = http.post("/api/readiness/sign-off", json={"report": {}, "authority": signed})
    problem(said, 400, "bad_input")


def test_numbers_have_whole_days_and_lead_to_their_records_a_page_at_a_time(
    http: httpx2.Client, approvals: list[str]
) -> None:
    assert approvals
    said = http.get("/api/metrics", params={"days": 3}).json()
    assert len(said["days"]) == 3
    assert said["began"] == said["days"][-1] == max(said["days"])
    found = {each["name"]: each for each in said["series"]}
    assert found["rejected"]["values"] == [0, 0, 1]
    assert found["rejected"]["total"] == 1
    assert [queue["count"] for queue in said["queues"] if queue["name"] == "decisions"] == [4]
    refused = found["calls_refused"]["total"]
    assert refused == 5
    path, asked = "/api/metrics/calls_refused", {"limit": 2}
    items, cursor = [], None
    while cursor is not None or not items:
        page = http.get(path, params={**asked, **({"cursor": cursor} if cursor else {})}).json()
        items, cursor = items + page["items"], page["next"]
    assert {item["type"] for item in items} == {"tool_refused"}
    assert [item["sequence"] for item in items] == sorted(
        (item["sequence"] for item in items), reverse=True
    )
    assert len(items) == refused


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/api/metrics", {"days": 0}),
        ("/api/metrics", {"days": 91}),
        ("/api/metrics/starts", {"since": "yesterday"}),
        ("/api/metrics/starts", {"since": "2026-03-02", "until": "2026-03-01"}),
    ],
)
def test_days_that_make_no_sense_are_refused(
    http: httpx2.Client, path: str, asked: dict[str, Any]
) -> None:
    problem(http.get(path, params=asked), 400, "bad_input")


def test_what_is_not_counted_is_not_there(http: httpx2.Client) -> None:
    problem(http.get("/api/metrics/everything"), 404, "not_found")


def test_a_budgets_day_leads_to_the_story_of_its_starts(site: Served, http: httpx2.Client) -> None:
    with site.client(site.token("agent")["secret"]) as agent:
        for name in ("a", "b"):
            said = agent.post("/api/tools/write_file", json={"path": f"{name}.md", "content": "x"})
            assert said.status_code == 200, said.text
    found = http.get("/api/metrics", params={"days": 2}).json()["budgets"]
    (spent,) = [each for each in found if (each["scope"], each["name"]) == ("tool", "write_file")]
    assert spent["used"] == [0, 2]
    assert spent["ids"][0] is None
    story = http.get(f"/api/ledger/story/{spent['ids'][1]}").json()["items"]
    own = [each for each in story if each["subject"] == spent["ids"][1]]
    assert [each["type"] for each in own] == ["budget_spent"] * 2
    assert [each["type"] for each in story].count("tool_finished") == 2
