"""Queues name what waits and since when, from the same records as everything else."""

from typing import Any

from astra.numbers.queues import queues
from changing import ChangesHere


def found(here: ChangesHere) -> dict[str, dict[str, Any]]:
    return {queue["name"]: queue for queue in queues(here.root.ledger, here.desk)}


def test_every_queue_is_told_also_while_it_is_empty(here: ChangesHere) -> None:
    told = found(here)
    names = {"decisions", "blocked_plans", "changes", "firings", "deployments"}
    assert set(told) == names
    assert {(queue["count"], queue["oldest"], queue["since"]) for queue in told.values()} == {
        (0, None, None)
    }


def test_a_change_waits_for_its_evidence_then_for_a_person_then_for_nobody(
    here: ChangesHere,
) -> None:
    proposed = here.propose()
    assert found(here)["changes"]["oldest"] == proposed.id
    here.steps.run_due()
    asked = here.get(proposed.id)
    assert found(here)["changes"]["count"] == 0
    assert found(here)["decisions"]["oldest"] == asked.approval
    here.approve(asked)
    assert {queue["count"] for queue in found(here).values()} == {0}


def test_a_queue_names_what_has_waited_longest(here: ChangesHere) -> None:
    first = here.reviewed()
    here.root.clock.advance(hours=1)
    here.reviewed(reason="another")
    decisions = found(here)["decisions"]
    assert (decisions["count"], decisions["oldest"]) == (2, first.approval)


def test_a_deployment_under_way_is_in_its_queue(here: ChangesHere) -> None:
    here.approve(here.reviewed(), deploy=True)
    assert found(here)["deployments"]["count"] == 1
