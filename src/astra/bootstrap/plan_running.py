"""Putting the runner together: the counter as its door, threads that work while plans do."""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from astra.notifications.outbox import Channels, Message
from astra.plans.drafting import Drafting
from astra.plans.model import AgentPlan
from astra.plans.runner import Runner
from astra.plans.talk import Announcements
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.calls.registry import Registry
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.call import Actor, Call, Role

LONGEST_SLEEP, SHORTEST_SLEEP = 5.0, 1.0
_MOST_DRAFTS = 2
_ANNOUNCEMENTS = "announcements"
_BREATH = 0.05  # a busy ledger is looked at twenty times a second, not at every record
_log = logging.getLogger("astra.plans")


class PlanDoor:
    """The door `plan`: the agent acts, under the plan's own name and grants."""

    def __init__(self, counter: Callable[[], Counter], registry: Registry) -> None:
        self._counter = counter
        self._registry = registry

    def understand(self, plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Call:
        return self._counter().understand(_request(plan, tool, arguments))

    def run(self, plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._counter().call(_request(plan, tool, arguments))

    def describe(self, names: Iterable[str]) -> str:
        wanted = set(names)
        return "\n".join(
            f"{tool.name}: {tool.description}"
            f" arguments: {json.dumps(tool.input.model_json_schema().get('properties', {}))}"
            for tool in self._registry.every()
            if tool.name in wanted
        )


@dataclass(frozen=True)
class PlanNotices:
    """Announcements through the channels that the operator signed; a plan may name some of them."""

    channels: Callable[[], Channels]

    def tell(self, channels: Sequence[str], agent_id: str, kinds: Mapping[str, int]) -> None:
        known = self.channels()
        said = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        for name in known.names:
            if not channels or name in channels:
                known.send(name, Message(wording=f"Astra: plan {agent_id}: {said}"))


@dataclass
class PlanWorkers:
    """The thread that sees what is due, and the threads that do it."""

    ledger: Ledger
    runner: Runner
    drafting: Drafting
    announcements: Announcements

    def __post_init__(self) -> None:
        self._stopping = threading.Event()
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        most = max(self.runner.most_at_once, 1) + _MOST_DRAFTS + 1
        self._pool = ThreadPoolExecutor(most, thread_name_prefix="plan")
        self._thread = threading.Thread(target=self._loop, name="plan-runner", daemon=True)
        self.trouble = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take nothing more up, and let the steps under way come to their end."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._pool.shutdown(wait=True)

    def needed(self) -> bool:
        """Tell whether a plan works, or would."""
        return bool(self._busy or self.runner.due() or self.drafting.due())

    def state(self) -> dict[str, Any]:
        return {
            "running": len(self._busy - {_ANNOUNCEMENTS}),
            "states": self.runner.register.counts(),
            "closed": self.runner.closed(),
            "trouble": self.trouble,
        }

    def _loop(self) -> None:
        while not self._stopping.is_set():
            head = self.ledger.head().sequence
            try:
                self._tick()
                self.trouble = ""
            except AstraError as error:
                self.trouble = error.detail
                self._stopping.wait(SHORTEST_SLEEP)
                continue
            self._stopping.wait(_BREATH)
            self.ledger.wait(head, SHORTEST_SLEEP if self._busy else LONGEST_SLEEP)

    def _tick(self) -> None:
        self.runner.watch()
        self._hand_out(_ANNOUNCEMENTS, lambda _name: self._announce())
        for identifier in self.runner.due():
            self._hand_out(identifier, self._run)
        for plan in self.drafting.due()[:_MOST_DRAFTS]:
            self._hand_out(plan.id, self._draft)

    def _hand_out(self, identifier: str, work: Callable[[str], None]) -> None:
        with self._lock:
            if identifier in self._busy:
                return
            self._busy.add(identifier)
        self._pool.submit(self._do, identifier, work)

    def _do(self, identifier: str, work: Callable[[str], None]) -> None:
        try:
            work(identifier)
        except AstraError as error:
            self.trouble = f"{identifier}: {error.detail}"
            self._stopping.wait(SHORTEST_SLEEP)
        except Exception as error:  # noqa: BLE001 - the next tick takes it up again; status tells
            _log.exception("%s failed", identifier)
            self.trouble = f"{identifier}: {type(error).__name__}"
            self._stopping.wait(LONGEST_SLEEP)
        finally:
            with self._lock:
                self._busy.discard(identifier)

    def _run(self, identifier: str) -> None:
        while not self._stopping.is_set() and self.runner.step(identifier):
            pass

    def _announce(self) -> None:
        self.announcements.flush()

    def _draft(self, identifier: str) -> None:
        self.drafting.advance(identifier)


def _request(plan: AgentPlan, tool: str, arguments: Mapping[str, Any]) -> Request:
    return Request(
        name=tool,
        arguments=arguments,
        actor=Actor(role=Role.AGENT, name=plan.id, door="plan"),
        correlation=plan.correlation,
        plan_id=plan.id,
    )
