"""Agents fill every thread they can get with boxes that sleep; an operator's stop waits for none.

Nothing here asserts a time: what counts is that stop has answered, and is recorded, while every
call of the agents is still under way. How long it takes is measured by the benchmark P22.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from astra.interfaces.daemon.capacity import SIZES, PoolName
from astra.trusted.policy.caps import BOXES_AT_ONCE
from astra.trusted.sandbox import boxes
from driver import Astra
from http_driver import Served

pytestmark = pytest.mark.xdist_group("sandbox")
SLEEP = {"command": ["sleep", "120"], "seconds": 120}
AGENTS, CALLS_OF_ONE = 5, 12


class Load:
    """Agents over HTTP, each with more sleeping calls than it may have."""

    def __init__(self, site: Served, secrets: list[str]) -> None:
        self.answers: list[dict[str, Any]] = []
        self._threads = [
            threading.Thread(target=self._call, args=(site, secret))
            for secret in secrets
            for _ in range(CALLS_OF_ONE)
        ]
        for thread in self._threads:
            thread.start()

    def _call(self, site: Served, secret: str) -> None:
        with site.client(secret) as http:
            http.timeout = 300
            self.answers.append(http.post("/api/tools/run_in_sandbox", json=SLEEP).json())

    def endings(self) -> list[str]:
        return [answer.get("verdict") or answer["code"] for answer in list(self.answers)]

    def wait(self) -> None:
        for thread in self._threads:
            thread.join()


@pytest.fixture(scope="module")
def agents(site: Served) -> list[str]:
    return [site.token("agent")["secret"] for _ in range(AGENTS)]


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.05)


def is_full(astra: Astra) -> bool:
    return len(boxes.list_registered(astra.root)[0]) >= SIZES[PoolName.AGENT].working


def stop_by_button(site: Served, operator: str) -> dict[str, Any]:
    with site.client(operator) as http:
        return http.post("/api/stop", json={}).json()


def stop_by_command(site: Served, _operator: str) -> dict[str, Any]:
    return site.astra.json("stop", "--now")


@pytest.mark.parametrize("stop", [stop_by_button, stop_by_command])
def test_stop_answers_while_every_call_of_the_agents_still_runs(
    site: Served, agents: list[str], stop: Callable[[Served, str], dict[str, Any]]
) -> None:
    operator = site.login()
    load = Load(site, agents)
    wait_until(lambda: is_full(site.astra))
    with site.client(operator) as http:
        for look in ("/api/status", "/api/flags", "/api/approvals", "/api/schedules", "/api/stop"):
            assert http.get(look).is_success
        assert not http.get("/api/stop").json()["stopped"]
    done = stop(site, operator)
    assert "succeeded" not in load.endings()
    assert (done["clean"], done["recorded"]) == (True, True)
    assert done["ended"] >= SIZES[PoolName.AGENT].working
    load.wait()
    assert "succeeded" not in load.endings()
    assert boxes.list_registered(site.astra.root)[0] == []
    site.astra.json("start")


def test_one_agent_has_few_boxes_and_is_told_so_before_anything_is_recorded(
    site: Served, agents: list[str]
) -> None:
    with site.client(site.login()) as http:
        before = http.get("/api/ledger", params={"type": "tool_started", "limit": 1000}).json()
        load = Load(site, agents[:1])
        wait_until(lambda: len(load.answers) == CALLS_OF_ONE - BOXES_AT_ONCE.most)
        wait_until(lambda: len(boxes.list_registered(site.astra.root)[0]) == BOXES_AT_ONCE.most)
        after = http.get("/api/ledger", params={"type": "tool_started", "limit": 1000}).json()
        assert set(load.endings()) == {"too_many_boxes"}
        assert all(answer["next_step"] for answer in load.answers)
        assert len(after["items"]) - len(before["items"]) == BOXES_AT_ONCE.most
        assert http.post("/api/stop", json={}).json()["ended"] == BOXES_AT_ONCE.most
    load.wait()
    site.astra.json("start")
