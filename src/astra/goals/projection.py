"""Goals and their tasks as rows: what is ready is an index range, however large a graph is."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from astra.goals import events
from astra.goals.graph import read_graph
from astra.goals.model import Budget
from astra.goals.states import TRANSITIONS
from astra.spend.projection import RESERVED, SETTLED
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

GOAL_COLUMNS = (
    "sequence, id, text, state, source, desire_id, approval_id, created_at, correlation,"
    " category, task, criteria, deadline, budget, priority, parent, held, why, planned,"
    " model_calls, tokens, milliseconds, checks, asks_model, model_asked, nano, grants"
)

_SKIP_TASKS = (
    "UPDATE goal_task SET state = 'skipped', reason = 'abandoned', waits_on = '', due = NULL,"
    " detail = 'its goal was given up', finished_at = ?"
)
_NEVER_DONE = "('pending', 'waiting')"
"""States of a task that is never done once its goal was given up."""


def _create_goal(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        f"INSERT INTO goal VALUES ({', '.join('?' * 27)})",  # noqa: S608 - marks only
        (
            record.sequence,
            record.subject,
            data["text"],
            "proposed",
            data["source"],
            data.get("desire"),
            data.get("approval"),
            record.time,
            record.correlation,
            data.get("category", "user_requested"),
            data.get("task", "achieve"),
            json.dumps(data.get("criteria", [])),
            data.get("deadline"),
            json.dumps(data.get("budget") or Budget().as_dict()),
            data.get("priority", 0),
            data.get("parent"),
            *("", "", None, 0, 0, 0.0, "[]", 0, 0, 0, 0),
        ),
    )


def _plan_goal(record: Record) -> Iterator[Statement]:
    """Lay the graph out, instead of one that was there."""
    goal = record.subject
    yield "DELETE FROM goal_edge WHERE goal = ?", (goal,)
    yield "DELETE FROM goal_task WHERE goal = ?", (goal,)
    yield (
        "UPDATE goal SET planned = ?, why = '', asks_model = 0, tokens = tokens + ? WHERE id = ?",
        (record.sequence, record.data.get("tokens", 0), goal),
    )
    for place, node in enumerate(read_graph(record.data["graph"]).nodes):
        yield (
            (
                "INSERT INTO goal_task VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?, NULL, '',"
                " '', '', '{}', NULL, NULL, 0, ?, 0, 0, 0)"
            ),
            (
                *(record.sequence, place, goal, node.id, str(node.kind), node.title, node.path),
                len(node.after),
                record.correlation,
            ),
        )
        for earlier in node.after:
            yield "INSERT INTO goal_edge VALUES (?, ?, ?)", (goal, earlier, node.id)


def _fail_planning(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "UPDATE goal SET why = ?, asks_model = ?, tokens = tokens + ? WHERE id = ?",
        (data["reason"], int(data.get("asks_model", False)), data.get("tokens", 0), record.subject),
    )


def _count_model_call(record: Record) -> Iterator[Statement]:
    yield (
        (
            "UPDATE goal SET model_asked = model_asked + 1, model_calls = model_calls + ?"
            " WHERE id = ?"
        ),
        (record.data["model_calls"], record.subject),
    )


def _hold_goal(record: Record) -> Iterator[Statement]:
    yield (
        "UPDATE goal SET held = ?, why = ? WHERE id = ?",
        (record.data["reason"], record.data.get("detail", ""), record.subject),
    )
    yield from _store_checks(record)


def _resume_goal(record: Record) -> Iterator[Statement]:
    yield "UPDATE goal SET held = '', why = '' WHERE id = ?", (record.subject,)
    if record.data.get("approval"):  # only a signature renews what was used up
        yield (
            "UPDATE goal SET model_calls = 0, tokens = 0, milliseconds = 0 WHERE id = ?",
            (record.subject,),
        )
        yield _count_grant(record)


def _adopt_goal(record: Record) -> Iterator[Statement]:
    yield from _move_state(record)
    yield _count_grant(record)


def _count_grant(record: Record) -> Statement:
    return "UPDATE goal SET grants = grants + 1 WHERE id = ?", (record.subject,)


def _reserve_money(record: Record) -> Iterator[Statement]:
    yield _add_money(record, record.data["reserved"]["nano"])


def _settle_money(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _add_money(record, data["counted"]["nano"] - data["reserved"]["nano"])


def _add_money(record: Record, nano: int) -> Statement:
    return "UPDATE goal SET nano = nano + ? WHERE id = ?", (nano, record.data["goal"])


def _retry_tasks(record: Record) -> Iterator[Statement]:
    """Begin some tasks anew; each then waits again for those before it that are not over."""
    yield from _resume_goal(record)
    goal, nodes = record.subject, record.data["nodes"]
    for node in nodes:
        yield (
            (
                "UPDATE goal_task SET state = 'pending', attempt = attempt + 1,"
                " first = attempt + 1, due = NULL, waits_on = '', reason = '', detail = '',"
                " outputs = '{}', finished_at = NULL WHERE goal = ? AND id = ?"
            ),
            (goal, node),
        )
    for node in nodes:
        yield (
            (
                "UPDATE goal_task SET unmet = (SELECT count(*) FROM goal_edge"
                " JOIN goal_task AS earlier"
                " ON earlier.goal = goal_edge.goal AND earlier.id = goal_edge.earlier"
                " WHERE goal_edge.goal = ? AND goal_edge.later = ?"
                " AND earlier.state IN ('pending', 'running', 'waiting')) WHERE goal = ? AND id = ?"
            ),
            (goal, node, goal, node),
        )


def _move_state(record: Record) -> Iterator[Statement]:
    state = str(TRANSITIONS[record.type][1])
    yield "UPDATE goal SET state = ?, held = '', why = '' WHERE id = ?", (state, record.subject)


def _store_checks(record: Record) -> Iterator[Statement]:
    """Keep how the success criteria went when they were last run."""
    if checks := record.data.get("checks"):
        yield "UPDATE goal SET checks = ? WHERE id = ?", (json.dumps(checks), record.subject)


def _satisfy_goal(record: Record) -> Iterator[Statement]:
    yield from _move_state(record)
    yield from _store_checks(record)


def _abandon_goal(record: Record) -> Iterator[Statement]:
    yield from _move_state(record)
    yield "UPDATE goal SET why = ? WHERE id = ?", (record.data["reason"], record.subject)
    yield (
        f"{_SKIP_TASKS} WHERE goal = ? AND state IN {_NEVER_DONE}",
        (record.time, record.subject),
    )


def _skip_if_abandoned(record: Record) -> Statement:
    """Leave nothing open that came to wait, or to be tried again, when its goal was given up."""
    goal, node = record.data["goal"], record.data["node"]
    return (
        (
            f"{_SKIP_TASKS} WHERE goal = ? AND id = ? AND state IN {_NEVER_DONE}"  # noqa: S608 - fixed texts
            " AND EXISTS (SELECT 1 FROM goal WHERE id = ? AND goal.state = 'abandoned')"
        ),
        (record.time, goal, node, goal),
    )


def _reopen_goal(record: Record) -> Iterator[Statement]:
    yield from _move_state(record)
    yield (
        (
            "UPDATE goal SET planned = NULL, why = '', model_calls = 0, tokens = 0,"
            " milliseconds = 0, checks = '[]', asks_model = 0, model_asked = 0 WHERE id = ?"
        ),
        (record.subject,),
    )


def _claim_task(record: Record) -> Iterator[Statement]:
    calls = record.data.get("model_calls", 0)
    yield _set_task(
        record,
        "state = 'running', attempt = ?, started_at = ?, due = NULL, begun = begun + 1,"
        " model_calls = model_calls + ?",
    )(record.data["attempt"], record.time, calls)
    if calls:
        yield (
            "UPDATE goal SET model_calls = model_calls + ? WHERE id = ?",
            (calls, record.data["goal"]),
        )


def _wait_task(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _end_part(record, "state = 'waiting', waits_on = ?, detail = ?", data["on"], data["why"])
    yield _add_usage(record)
    yield _skip_if_abandoned(record)


def _retry_task(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _end_part(
        record,
        "state = 'pending', due = ?, waits_on = '', reason = ?, detail = ?",
        *(data["again_at"], data["reason"], data["detail"]),
    )
    yield _add_usage(record)
    yield _skip_if_abandoned(record)


def _finish_task(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _end_part(
        record,
        "state = ?, waits_on = '', reason = ?, detail = ?, outputs = ?, finished_at = ?",
        *(data["outcome"], data["reason"], data["detail"], json.dumps(data["outputs"])),
        record.time,
    )
    yield (
        (
            "UPDATE goal_task SET unmet = unmet - 1 WHERE goal = ? AND id IN"
            " (SELECT later FROM goal_edge WHERE goal = ? AND earlier = ?)"
        ),
        (data["goal"], data["goal"], data["node"]),
    )
    yield _add_usage(record)


def _end_part(record: Record, assignments: str, *values: Any) -> Statement:
    """Move a task on whose attempt ended or waits, and add what that took to its cost."""
    usage = "milliseconds = milliseconds + ?, tokens = tokens + ?, model_calls = model_calls + ?"
    data = record.data
    usage_values = (data["milliseconds"], data["tokens"], data["model_calls"])
    return _set_task(record, f"{assignments}, {usage}")(*values, *usage_values)


def _set_task(record: Record, assignments: str) -> Callable[..., Statement]:
    return lambda *values: (
        f"UPDATE goal_task SET {assignments} WHERE goal = ? AND id = ?",  # noqa: S608 - fixed texts
        (*values, record.data["goal"], record.data["node"]),
    )


def _add_usage(record: Record) -> Statement:
    data = record.data
    return (
        (
            "UPDATE goal SET model_calls = model_calls + ?, tokens = tokens + ?,"
            " milliseconds = milliseconds + ? WHERE id = ?"
        ),
        (data["model_calls"], data["tokens"], data["milliseconds"], data["goal"]),
    )


_EFFECTS: Mapping[str, Callable[[Record], Iterator[Statement]]] = {
    events.CREATED: _create_goal,
    events.PLANNED: _plan_goal,
    events.PLANNING_FAILED: _fail_planning,
    events.DECOMPOSITION_ASKED: _count_model_call,
    events.ADOPTED: _adopt_goal,
    events.STARTED: _move_state,
    events.HELD: _hold_goal,
    events.RESUMED: _resume_goal,
    events.RETRIED: _retry_tasks,
    events.SATISFIED: _satisfy_goal,
    events.ABANDONED: _abandon_goal,
    events.REOPENED: _reopen_goal,
    events.TASK_CLAIMED: _claim_task,
    events.TASK_WAITED: _wait_task,
    events.TASK_RETRIED: _retry_task,
    events.TASK_FINISHED: _finish_task,
    RESERVED: _reserve_money,
    SETTLED: _settle_money,
}


def _apply_record(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS[record.type](record)


PROJECTION = Projection(
    "goals",
    (
        """CREATE TABLE goal (
            sequence INTEGER PRIMARY KEY, id TEXT UNIQUE, text TEXT, state TEXT, source TEXT,
            desire_id TEXT, approval_id TEXT, created_at TEXT, correlation TEXT, category TEXT,
            task TEXT, criteria TEXT, deadline TEXT, budget TEXT, priority INTEGER, parent TEXT,
            held TEXT, why TEXT, planned INTEGER, model_calls INTEGER, tokens INTEGER,
            milliseconds REAL, checks TEXT, asks_model INTEGER, model_asked INTEGER,
            nano INTEGER, grants INTEGER
        )""",
        "CREATE INDEX goal_asks_model ON goal (asks_model, sequence) WHERE asks_model = 1",
        "CREATE INDEX goal_state ON goal (state, held, priority, sequence)",
        """CREATE TABLE goal_task (
            sequence INTEGER, place INTEGER, goal TEXT, id TEXT, kind TEXT, title TEXT, path TEXT,
            state TEXT, attempt INTEGER, first INTEGER, unmet INTEGER, due TEXT, waits_on TEXT,
            reason TEXT, detail TEXT, outputs TEXT, started_at TEXT, finished_at TEXT,
            milliseconds REAL, correlation TEXT, model_calls INTEGER, tokens INTEGER, begun INTEGER,
            PRIMARY KEY (goal, id)
        ) WITHOUT ROWID""",
        "CREATE INDEX goal_task_state ON goal_task (goal, state, unmet, place)",
        "CREATE INDEX goal_task_place ON goal_task (goal, place)",
        "CREATE INDEX goal_task_id ON goal_task (id)",
        "CREATE INDEX goal_task_sequence ON goal_task (sequence, place)",
        "CREATE INDEX goal_task_ended ON goal_task (state, sequence, place)",
        "CREATE INDEX goal_task_story ON goal_task (correlation)",
        """CREATE TABLE goal_edge (
            goal TEXT, earlier TEXT, later TEXT, PRIMARY KEY (goal, earlier, later)
        ) WITHOUT ROWID""",
        "CREATE INDEX goal_edge_later ON goal_edge (goal, later)",
    ),
    _apply_record,
    types=frozenset(_EFFECTS),
)
