"""What a box reached and tried to reach, counted."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class EgressSummary:
    allowed: int = 0
    denied: int = 0
    unrecorded: int = 0
    sent: int = 0
    received: int = 0
    hosts: tuple[str, ...] = ()
    ungranted: tuple[str, ...] = ()
    refused: str = ""
    """Why the last connection that was refused was, as its record says."""


NO_EGRESS = EgressSummary()
