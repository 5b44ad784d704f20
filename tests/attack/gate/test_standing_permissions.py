"""A standing permission covers what was signed, so often, until then, and nothing beside it."""

import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

from astra.testing import CounterInMemory, GateInMemory
from astra.trusted.calls.registry import Answer, Arguments, Tool
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError, BadInput, NeedsApproval, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.policy import permissions
from astra.trusted.policy.authority import RESTORED
from astra.trusted.policy.call import Footprint, Role, Tier
from astra.trusted.policy.domains import parse_grant
from astra.trusted.policy.permissions import Permission


class Where(Arguments):
    url: str
    method: str = "GET"


class Fetched(Answer):
    url: str


class Fetching:
    """An agent with tools that reach outside, and an operator who permits."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        tools = [self._tool("fetch"), self._tool("upload"), self._tool("deploy_agent_code")]
        widened = self._tool("save", write_paths=("/data/persona_space/a",))
        bound = self._tool("build", files=("commit 1",))
        self.world = CounterInMemory(*tools, widened, bound)
        self.world.gate.granted = ("/data/persona_space/a",)

    @property
    def root(self) -> Any:
        return self.world.gate.root

    @property
    def ledger(self) -> Any:
        return self.root.ledger

    def permit(self, key: KeyPair | None = None, **scope: Any) -> str:
        content = self.content(**scope)
        signed = self.root.sign(permissions.ADDED, content, key)
        permissions.add(self.ledger, content, signed, now=self.root.clock.now())
        return str(content["permission"])

    def content(self, **scope: Any) -> dict[str, Any]:
        wanted = {"tool": "fetch", "host": "example.com", "method": "GET", "uses": 3, **scope}
        until = format_time(self.root.clock.now().replace(hour=23))
        return permissions.draft_content(**{"until": until, **wanted}, now=self.root.clock.now())

    def passes(self, url: str, tool: str = "fetch", **more: Any) -> bool:
        """Call, and tell whether the effect happened; what needs a person must not have."""
        before = len(self.effects)
        try:
            self.world.call(tool, url=url, **more)
        except NeedsApproval:
            assert len(self.effects) == before
            return False
        assert len(self.effects) == before + 1
        return True

    def standing(self) -> Permission:
        (permission,) = permissions.list_all(self.ledger, now=self.root.clock.now())
        return permission

    def _tool(self, name: str, **touched: Any) -> Any:
        def footprint(arguments: Where, _services: Any) -> Footprint:
            parts = urlsplit(arguments.url)
            host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
            return Footprint(domains=(str(parse_grant(host)),), **touched)

        return Tool(
            name=name,
            title=name,
            description="Reaches a host",
            input=Where,
            output=Fetched,
            tier=Tier.EXTERNAL,
            footprint=footprint,
            handler=self._reach,
        )

    def _reach(self, arguments: Where, _services: Any) -> Fetched:
        self.effects.append(arguments.url)
        return Fetched(url=arguments.url)


@pytest.fixture
def agent() -> Fetching:
    return Fetching()


def test_it_covers_its_calls_and_counts_them(agent: Fetching) -> None:
    assert not agent.passes("https://example.com/before")
    agent.permit()
    assert [agent.passes(f"https://example.com/{number}") for number in range(4)] == [
        True,
        True,
        True,
        False,
    ]
    assert agent.standing().state == "used_up"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil-example.com/",
        "https://example.com.evil.net/",
        "https://sub.example.com/",
        "https://example.com:8443/",
        "https://example.co/",
        "https://xample.com/",
    ],
)
def test_another_host_is_asked_about(agent: Fetching, url: str) -> None:
    agent.permit()
    assert not agent.passes(url)
    assert agent.passes("https://EXAMPLE.com./"), "the same host in another spelling"


@pytest.mark.parametrize("host", ["*.example.com", "com", "127.0.0.1", "example.com/x", "a@b.com"])
def test_a_wide_or_odd_host_cannot_be_permitted(agent: Fetching, host: str) -> None:
    with pytest.raises(BadInput):
        agent.permit(host=host)


def test_another_method_and_another_tool_are_asked_about(agent: Fetching) -> None:
    agent.permit()
    assert not agent.passes("https://example.com/", method="POST")
    assert not agent.passes("https://example.com/", method="get\u200b")
    assert not agent.passes("https://example.com/", tool="upload")
    assert agent.effects == []


def test_what_touches_more_than_the_host_is_never_covered(agent: Fetching) -> None:
    for tool in ("save", "build"):
        agent.permit(tool=tool)
        assert not agent.passes("https://example.com/", tool=tool)
    with pytest.raises(BadInput):
        agent.permit(tool="deploy_agent_code")
    assert not agent.passes("https://example.com/", tool="deploy_agent_code")


def test_a_deployment_is_not_covered_even_by_a_record_that_says_so(agent: Fetching) -> None:
    content = {**agent.content(), "tool": "deploy_agent_code"}
    signed = agent.root.sign(permissions.ADDED, content)
    data = {**content, "authority": signed.as_dict()}
    identifier = content["permission"]
    agent.ledger.append(
        [Event(type=permissions.ADDED, actor="operator", data=data, subject=identifier)]
    )
    assert not agent.passes("https://example.com/", tool="deploy_agent_code")


def test_a_forged_permission_covers_nothing(agent: Fetching) -> None:
    with pytest.raises(SignatureRejected):
        agent.permit(KeyPair.generate())
    stolen = agent.root.sign(permissions.ADDED, agent.content(uses=1))
    wider = {**stolen.statement["content"], "uses": 100}
    with pytest.raises(SignatureRejected):
        permissions.add(agent.ledger, wider, stolen, now=agent.root.clock.now())
    data = {**wider, "authority": stolen.as_dict()}
    event = Event(type=permissions.ADDED, actor="operator", data=data, subject=wider["permission"])
    agent.ledger.append([event])
    assert agent.standing().state == "void"
    assert not agent.passes("https://example.com/")


def test_a_signature_counts_once(agent: Fetching) -> None:
    content = agent.content()
    signed = agent.root.sign(permissions.ADDED, content)
    permissions.add(agent.ledger, content, signed, now=agent.root.clock.now())
    with pytest.raises(AstraError):
        permissions.add(agent.ledger, content, signed, now=agent.root.clock.now())
    permissions.remove(agent.ledger, content["permission"], actor="user:1")
    with pytest.raises(AstraError):
        permissions.add(agent.ledger, content, signed, now=agent.root.clock.now())
    assert not agent.passes("https://example.com/")


def test_it_ends_in_time_and_a_clock_set_back_revives_nothing(agent: Fetching) -> None:
    agent.permit()
    now = agent.root.clock.now()
    agent.root.clock.set(now.replace(hour=23, minute=1))
    assert not agent.passes("https://example.com/")
    agent.root.clock.set(now)
    assert not agent.passes("https://example.com/")


def test_it_cannot_be_signed_for_too_long_or_too_often(agent: Fetching) -> None:
    now = agent.root.clock.now()
    for scope in ({"uses": 0}, {"uses": 101}, {"uses": True}, {"until": format_time(now)}):
        with pytest.raises(BadInput):
            agent.permit(**scope)
    with pytest.raises(BadInput):
        agent.permit(until=format_time(now.replace(day=now.day + 8)))


def test_a_removed_one_covers_nothing_from_the_next_call_on(agent: Fetching) -> None:
    identifier = agent.permit()
    assert agent.passes("https://example.com/")
    permissions.remove(agent.ledger, identifier, actor="agent:test")
    assert not agent.passes("https://example.com/")


def test_one_that_is_removed_while_the_gate_decides_is_not_used(agent: Fetching) -> None:
    identifier = agent.permit()
    gate: GateInMemory = agent.world.gate
    removals = [identifier]

    def remove_in_between() -> str:
        if removals:
            permissions.remove(agent.ledger, removals.pop(), actor="user:1")
        return ""

    gate.outside = remove_in_between
    assert not agent.passes("https://example.com/")
    assert agent.standing().used == 0


def test_the_last_use_is_taken_once_however_many_want_it(agent: Fetching) -> None:
    agent.permit(uses=2)
    together = threading.Barrier(6)

    def call(number: int) -> None:
        together.wait()
        try:
            agent.world.call("fetch", url=f"https://example.com/{number}")
        except AstraError:
            return

    threads = [threading.Thread(target=call, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(agent.effects) == 2
    assert agent.standing().left == 0


def test_flags_stop_and_role_come_before_it(agent: Fetching) -> None:
    agent.permit()
    agent.world.gate.stopped = True
    with pytest.raises(AstraError) as refused:
        agent.world.call("fetch", url="https://example.com/")
    assert refused.value.reason == "stopped"
    agent.world.gate.stopped = False
    with pytest.raises(NeedsApproval):
        agent.world.call("fetch", role=Role.OPERATOR, url="https://example.com/")


def test_a_restore_voids_it(agent: Fetching) -> None:
    agent.permit()
    agent.ledger.append([Event(type=RESTORED, actor="operator", data={"reason": "older"})])
    assert agent.standing().state == "void"
    assert not agent.passes("https://example.com/")


def test_who_is_asked_to_wait_hears_which_call_would_pass(agent: Fetching) -> None:
    identifier = agent.permit()
    with pytest.raises(NeedsApproval) as waiting:
        agent.world.call("fetch", url="https://other.example/")
    assert "fetch GET example.com, 3 more until" in waiting.value.next_step
    assert identifier in waiting.value.next_step
