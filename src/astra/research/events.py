"""The records of research sessions. A task's record is keyed: each task is recorded once."""

from collections.abc import Mapping
from typing import Any

STARTED, TASK_FINISHED = "research_started", "research_task_finished"
RESUMED, FINISHED = "research_resumed", "research_finished"
DAEMON = "daemon"


def fill_event(
    session: str,
    data: Mapping[str, Any],
    *,
    correlation: str,
    actor: str = DAEMON,
    key: str | None = None,
) -> dict[str, Any]:
    """Give what every record of a session has besides its type."""
    return {
        "actor": actor,
        "data": {"session": session, **data},
        "correlation": correlation,
        "subject": session,
        "key": key,
    }
