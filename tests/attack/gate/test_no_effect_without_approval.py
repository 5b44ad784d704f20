"""Whatever an agent calls, in whatever order, no effect happens that nobody approved."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from astra.testing import CounterInMemory
from astra.trusted.calls.registry import Answer, Arguments, Tool
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.policy.call import Role, Tier

LYING = st.fixed_dictionaries(
    {},
    optional={
        "tier": st.integers(0, 2),
        "approved": st.booleans(),
        "actor": st.just("operator"),
        "role": st.just("operator"),
        "safe": st.just(True),
        "authority": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
    },
)


class Parcel(Arguments):
    to: str


class Sent(Answer):
    to: str


class AgentAgainstTheGate(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.effects: list[str] = []
        self.approved: list[str] = []
        self.waiting: dict[str, str] = {}
        send = Tool(
            name="send",
            title="Send",
            description="Sends a parcel",
            input=Parcel,
            output=Sent,
            tier=Tier.EXTERNAL,
            handler=self._send,
        )
        self.world = CounterInMemory(send)

    def _send(self, arguments: Parcel, _services: Any) -> Sent:
        self.effects.append(arguments.to)
        return Sent(to=arguments.to)

    @rule(to=st.sampled_from("abc"))
    def call(self, to: str) -> None:
        try:
            self.world.call("send", to=to)
        except AstraError as error:
            if approval := error.facts.get("approval_id"):
                self.waiting[approval] = to

    @rule(to=st.sampled_from("abc"), lies=LYING)
    def call_with_lies(self, to: str, lies: dict[str, Any]) -> None:
        try:
            self.world.call("send", to=to, **{name: lies[name] for name in lies if name != "role"})
        except AstraError as error:
            if approval := error.facts.get("approval_id"):
                self.waiting[approval] = to

    @rule(to=st.sampled_from("abc"))
    def call_as_operator(self, to: str) -> None:
        """An operator session is a role, not a signature: tier 2 still waits."""
        try:
            self.world.call("send", role=Role.OPERATOR, to=to)
        except AstraError as error:
            if approval := error.facts.get("approval_id"):
                self.waiting[approval] = to

    @rule(data=st.data())
    def forge_an_approval(self, data: st.DataObject) -> None:
        if self.waiting:
            approval = data.draw(st.sampled_from(list(self.waiting)))
            try:
                self.world.gate.approve(approval, KeyPair.generate())
            except AstraError:
                return
            raise AssertionError("a forged signature was accepted")

    @rule(data=st.data())
    def operator_approves(self, data: st.DataObject) -> None:
        if self.waiting:
            approval = data.draw(st.sampled_from(list(self.waiting)))
            try:
                self.world.gate.approve(approval)
            except AstraError:
                return
            self.approved.append(self.waiting[approval])

    @rule(hours=st.integers(1, 30))
    def time_passes(self, hours: int) -> None:
        self.world.gate.root.clock.advance(hours=hours)

    @invariant()
    def every_effect_was_approved_once(self) -> None:
        for to in "abc":
            assert self.effects.count(to) <= self.approved.count(to)


TestAgentAgainstTheGate = AgentAgainstTheGate.TestCase
TestAgentAgainstTheGate.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
