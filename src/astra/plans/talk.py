"""What a plan says to people, and how it is announced: together, a minute at a time.

Messages are records; an announcement only says of which kinds and how many there are, to the
channels that the operator named. It follows from the ledger, so a crash loses none. A plan that was
silenced talks on in the ledger and announces nothing.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from astra.plans import events
from astra.plans.model import AgentPlan, Message
from astra.plans.ports import Notifier
from astra.plans.register import Register
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.text import quote_text
from astra.trusted.ledger.record import Event

UPDATE, BLOCKED, QUESTION = "agent_update", "agent_blocked", "agent_question"
DONE, ABORTED = "agent_done", "agent_aborted"
KINDS = (UPDATE, BLOCKED, QUESTION, DONE, ABORTED)
WINDOW = timedelta(seconds=60)
LONGEST_MESSAGE = 4_000


def make_message_event(plan: AgentPlan, kind: str, text: str, **facts: Any) -> Event:
    """Make the record of something a plan says."""
    data = {"kind": kind, "text": text[:LONGEST_MESSAGE], **facts}
    return events.make_event(
        events.MESSAGE_SENT, plan.id, data, actor=f"agent:{plan.id}", correlation=plan.correlation
    )


def quote_goal(plan: AgentPlan) -> str:
    return quote_text(plan.plan.goals[0] if plan.plan else plan.id)


@dataclass(frozen=True, kw_only=True)
class Announcements:
    register: Register
    notifier: Notifier

    def list_due(self) -> list[str]:
        """Name the plans with messages that have waited for a minute."""
        now = parse_time(self.register.now())
        return [plan for plan, since in self._list_unannounced() if now - since >= WINDOW]

    def next_due(self) -> str | None:
        """Say when the next messages will have waited for a minute."""
        now = parse_time(self.register.now())
        later = [
            since + WINDOW for _plan, since in self._list_unannounced() if now - since < WINDOW
        ]
        return format_time(min(later)) if later else None

    def announce(self, identifier: str) -> bool:
        """Announce the messages of a plan, together; tells whether there were any."""
        return self._announce_messages(self.register.get(identifier))

    def flush(self) -> int:
        """Announce what has waited for a minute; says how many plans were announced."""
        return sum(self.announce(identifier) for identifier in self.list_due())

    def _list_unannounced(self) -> list[tuple[str, datetime]]:
        """Give the plans with messages that nobody was told of, and since when they wait."""
        rows = self.register.ledger.query(
            "SELECT plan.id, min(plan_message.time) FROM plan"
            " JOIN plan_message ON plan_message.plan = plan.id"
            " WHERE plan.last_sent > plan.notified AND direction = 'sent'"
            " AND plan_message.sequence > plan.notified GROUP BY plan.id"
        )
        return [(identifier, parse_time(since)) for identifier, since in rows]

    def _announce_messages(self, plan: AgentPlan) -> bool:
        unannounced = [
            message
            for message in self.register.messages(plan.id)
            if message.direction == "sent" and message.sequence > plan.notified
        ]
        if not unannounced or not self._is_time(unannounced[0]):
            return False
        kinds = Counter(message.kind for message in unannounced)
        if not plan.silenced:
            self.notifier.tell(plan.channels, plan.id, dict(kinds))
        up_to = unannounced[-1].sequence
        data = {"up_to": up_to, "kinds": dict(kinds), "silenced": plan.silenced}
        self.register.move(plan.id, events.NOTIFIED, lambda _plan: data)
        return True

    def _is_time(self, first: Message) -> bool:
        return parse_time(self.register.now()) - parse_time(first.time) >= WINDOW
