"""What is recorded of a change's task, before anything of it runs.

A CODE_MODIFY task is MANUAL and not enabled until an operator approves its change; the approval
enables it and runs it. What the task is about (`subject_id`) tells the rest.
"""

from astra.trusted.ledger.record import Event

CREATED, ENABLED, FINISHED = "task_created", "task_enabled", "task_finished"
DISABLED = "task_disabled"
CODE_MODIFY, MANUAL = "CODE_MODIFY", "MANUAL"


def make_created_event(identifier: str, *, subject_id: str, actor: str, correlation: str) -> Event:
    data = {
        "kind": CODE_MODIFY,
        "schedule": MANUAL,
        "enabled": False,
        "subject_id": subject_id,
    }
    return Event(type=CREATED, actor=actor, data=data, correlation=correlation, subject=identifier)


def make_enabled_event(identifier: str, *, approval: str, correlation: str) -> Event:
    data = {"approval": approval}
    return Event(
        type=ENABLED, actor="daemon", data=data, correlation=correlation, subject=identifier
    )


def make_disabled_event(identifier: str, *, reason: str, correlation: str) -> Event:
    data = {"reason": reason}
    return Event(
        type=DISABLED, actor="daemon", data=data, correlation=correlation, subject=identifier
    )


def make_finished_event(identifier: str, *, outcome: str, correlation: str) -> Event:
    data = {"outcome": outcome}
    return Event(
        type=FINISHED, actor="daemon", data=data, correlation=correlation, subject=identifier
    )
