"""What a plan says to people, and how it is announced: together, a minute at a time.

Messages are records; an announcement only says of which kinds and how many there are, to the
channels that the operator named. It follows from the ledger, so a crash loses none. A plan that was
silenced talks on in the ledger and announces nothing.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from astra.plans import events
from astra.plans.model import AgentPlan, Message
from astra.plans.ports import Notifier
from astra.plans.register import Register
from astra.trusted.kernel.clock import parse_time
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event

UPDATE, BLOCKED, QUESTION = "agent_update", "agent_blocked", "agent_question"
DONE, ABORTED = "agent_done", "agent_aborted"
KINDS = (UPDATE, BLOCKED, QUESTION, DONE, ABORTED)
WINDOW = timedelta(seconds=60)
LONGEST_MESSAGE = 4_000


def sent(plan: AgentPlan, kind: str, text: str, **facts: Any) -> Event:
    """Make the record of something a plan says."""
    data = {"kind": kind, "text": text[:LONGEST_MESSAGE], **facts}
    return events.made(
        events.MESSAGE_SENT, plan.id, data, actor=f"agent:{plan.id}", correlation=plan.correlation
    )


def summary(plan: AgentPlan) -> str:
    goal = one_line(plan.plan.goals[0], 100) if plan.plan else plan.id
    return f"“{goal}”"


@dataclass(frozen=True, kw_only=True)
class Announcements:
    register: Register
    notifier: Notifier

    def flush(self) -> int:
        """Announce what has waited for a minute; says how many plans were announced."""
        rows = self.register.ledger.query("SELECT id FROM plan WHERE last_sent > notified")
        return sum(self._announce(self.register.get(identifier)) for (identifier,) in rows)

    def _announce(self, plan: AgentPlan) -> bool:
        waiting = [
            each
            for each in self.register.messages(plan.id)
            if each.direction == "sent" and each.sequence > plan.notified
        ]
        if not waiting or not self._is_time(waiting[0]):
            return False
        kinds = Counter(each.kind for each in waiting)
        if not plan.silenced:
            self.notifier.tell(plan.channels, plan.id, dict(kinds))
        up_to = waiting[-1].sequence
        data = {"up_to": up_to, "kinds": dict(kinds), "silenced": plan.silenced}
        self.register.move(plan.id, events.NOTIFIED, lambda _plan: data)
        return True

    def _is_time(self, first: Message) -> bool:
        return parse_time(self.register.now()) - parse_time(first.time) >= WINDOW
