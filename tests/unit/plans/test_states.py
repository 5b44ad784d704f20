"""The state machine: one writer, no illegal move, no dead end."""

import itertools

import pytest

from astra.plans import events, states
from astra.plans.states import BLOCKED, ENDED, MOVES, IllegalMove, State


def test_every_state_has_its_moves() -> None:
    assert set(MOVES) == set(State)


def test_every_state_that_is_no_end_has_a_way_out_and_can_be_ended() -> None:
    for state in set(State) - ENDED:
        reached = {state}
        while more := {to for each in reached for to in MOVES[each]} - reached:
            reached |= more
        assert MOVES[state] - {state}
        assert reached & ENDED


def test_a_blocked_plan_can_go_on_and_can_be_aborted() -> None:
    for state in BLOCKED:
        assert {State.RUNNING, State.ABORTED} <= MOVES[state]


def test_what_has_ended_stays_as_it_is() -> None:
    assert all(not MOVES[state] for state in ENDED)


@pytest.mark.parametrize(("now", "then"), list(itertools.product(State, State)))
def test_a_move_is_in_the_table_or_refused_with_both_states(now: State, then: State) -> None:
    if then in MOVES[now]:
        states.refuse_unless_legal("plan_00000001", now, then)
        return
    with pytest.raises(IllegalMove, match=f"is {now} and cannot become {then}") as refused:
        states.refuse_unless_legal("plan_00000001", now, then)
    assert refused.value.facts == {"state": str(now), "wanted": str(then)}


def test_every_state_is_led_to_by_some_event() -> None:
    reached = {kind.then for kind in events.KINDS.values()}
    assert reached >= set(State)


def test_the_families_are_frozen_and_together_all_there_is() -> None:
    families = (
        events.DECISION_EVENTS,
        events.RUNNER_EVENTS,
        events.DRAFTING_EVENTS,
        events.FILE_EVENTS,
        events.STEP_EVENTS,
    )
    assert all(isinstance(family, frozenset) for family in families)
    assert sum(map(len, families)) == len(events.PLAN_EVENTS)
    assert (
        {
            "agent_plan_drafted",
            "agent_plan_approved",
            "agent_plan_rejected",
            "agent_plan_revised",
            "agent_global_grant_added",
            "agent_global_grant_removed",
        }
        == events.DECISION_EVENTS
        == events.PHASE3_STEP8_EVENTS
    )
    assert {
        "agent_started",
        "agent_checkpoint_started",
        "agent_checkpoint_completed",
        "agent_paused",
        "agent_resumed",
        "agent_blocked_on_permission",
        "agent_completed",
        "agent_aborted",
        "agent_message_sent",
        "agent_message_received",
    } == events.RUNNER_EVENTS
