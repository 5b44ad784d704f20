"""The decisions that wait for more signatures, for those who look at what there is to sign."""

from datetime import datetime
from typing import Any

from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.timekeeping import current_time
from astra.trusted.policy import authority, cosigning


def list_waiting_rounds(ledger: Ledger, *, now: datetime, about: str = "") -> list[dict[str, Any]]:
    """Give the decisions that have some of their signatures, and who gave them.

    `about` names an id; then only decisions that name it are given.
    """
    time = format_time(current_time(now, ledger.head()))
    rounds: dict[str, dict[str, Any]] = {}
    for record in cosigning.list_recent(ledger, time=time):
        action, content = str(record.raw_data["action"]), record.raw_data["content"]
        name = cosigning.name_round(action, content)
        if name in rounds or (about and about not in content.values()):
            continue
        needed, names = authority.count_signatures(ledger, action, content, time=time)
        if names and needed > 1:
            rounds[name] = {
                "round": name,
                "action": action,
                "content": content,
                "needed": needed,
                "signed_by": list(names),
                "words": cosigning.describe_signatures(names, needed),
                "since": record.time,
            }
    return list(rounds.values())
