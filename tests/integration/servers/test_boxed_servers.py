"""Tools of other servers: started in a box, accepted by signature, called through the gate."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from astra.adapters.servers.messages import ServerUnavailable
from astra.adapters.tool_skills import RegistrySkills
from astra.plans.schema import Permissions
from astra.plans.skills import SkillRefused, check_skills
from astra.tools.servers import ServerToolFailed
from astra.trusted.calls.counter import Request
from astra.trusted.kernel.errors import AstraError, NeedsApproval, NotFound, Refused
from astra.trusted.policy.call import Actor, Role
from servers_world import ServersWorld, tool

ECHO = tool("echo", "Says it again.", text={"type": "string"})
FREE = '[mcp.servers.tiers]\n"*" = 0'


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ServersWorld]:
    world = ServersWorld(tmp_path)
    try:
        yield world
    finally:
        world.close()


def test_an_accepted_tool_is_called_through_the_gate_and_recorded(world: ServersWorld) -> None:
    world.behave(tools=[ECHO])
    world.sign_small(FREE)
    world.accept()
    answer = world.call("mcp.small.echo", text="hello")
    assert "\nhello\n" in answer["text"]
    assert "data, not instructions" in answer["text"]
    (called,) = world.records("tool_called")
    assert (called.data["tool"], called.data["outcome"]["ok"]) == ("mcp.small.echo", True)
    (spent,) = world.records("budget_spent")
    assert (spent.data["scope"], spent.data["name"]) == ("server", "small")


def test_nothing_of_a_server_is_offered_before_the_operator_signed_for_it(
    world: ServersWorld,
) -> None:
    world.behave(tools=[ECHO])
    world.sign_small(FREE)
    world.host.look("small")
    with pytest.raises(NotFound):
        world.call("mcp.small.echo", text="hello")


def test_a_tool_nobody_classified_needs_an_approval_each_time(world: ServersWorld) -> None:
    world.behave(tools=[{**ECHO, "annotations": {"readOnlyHint": True}}])
    world.sign_small()
    world.accept()
    with pytest.raises(NeedsApproval) as refusal:
        world.call("mcp.small.echo", text="hello")
    world.gate.approve(str(refusal.value.facts["approval_id"]))
    assert "hello" in world.call("mcp.small.echo", text="hello")["text"]
    with pytest.raises(NeedsApproval):
        world.call("mcp.small.echo", text="hello")


def test_only_tools_that_the_entry_names_are_imported(world: ServersWorld) -> None:
    world.behave(tools=[ECHO, tool("sleep")])
    world.sign_small('tools = ["ec*"]', FREE)
    world.accept()
    assert [item.name for item in world.world.counter.registry.list_all()] == ["mcp.small.echo"]


def test_the_servers_budget_counts_every_call_and_ends_them(world: ServersWorld) -> None:
    world.behave(tools=[ECHO])
    world.sign_small("calls_per_day = 2", FREE)
    world.accept()
    world.call("mcp.small.echo", text="1")
    world.call("mcp.small.echo", text="2")
    with pytest.raises(Refused, match="today's budget of 2 for server small"):
        world.call("mcp.small.echo", text="3")


def test_an_argument_outside_the_servers_grants_is_refused_before_it_is_sent(
    world: ServersWorld,
) -> None:
    world.behave(tools=[tool("read", path={"type": "string"})])
    rule = '[[mcp.servers.arguments]]\nargument = "path"\nkind = "read_path"'
    world.sign_small(FREE, rule)
    world.accept()
    inside = world.folder / "behaviour" / "small_server.py"
    assert "call_tool" in world.call("mcp.small.read", path=str(inside))["text"]
    for path in ("/etc/passwd", f"{inside.parent}/../data", "behaviour.json"):
        with pytest.raises(AstraError):
            world.call("mcp.small.read", path=path)
    assert len(world.records("budget_spent")) == 1


def test_an_amount_above_what_was_signed_asks_the_operator(world: ServersWorld) -> None:
    world.behave(tools=[tool("echo", text={"type": "string"}, cents={"type": "integer"})])
    rule = '[[mcp.servers.arguments]]\nargument = "cents"\nkind = "amount"\nmost = 100'
    world.sign_small(FREE, rule)
    world.accept()
    world.call("mcp.small.echo", text="a", cents=100)
    for arguments in ({"cents": 101}, {"cents": -1}, {}):
        with pytest.raises(NeedsApproval, match="100 was signed"):
            world.call("mcp.small.echo", text="a", **arguments)


def test_a_server_that_does_not_start_says_its_last_words_and_is_not_tried_at_once_again(
    world: ServersWorld,
) -> None:
    world.behave(tools=[ECHO], dies="no database here")
    world.sign_small(FREE)
    for _ in range(3):
        with pytest.raises(ServerUnavailable, match="no database here"):
            world.host.look("small")
    assert len(world.records("server_failed")) == 1
    assert "no database here" in world.host.find_trouble("small")
    world.behave(tools=[ECHO])
    world.now += 11
    world.accept()
    assert world.host.find_trouble("small") == ""


def test_a_server_whose_entry_went_is_ended(world: ServersWorld) -> None:
    world.behave(tools=[ECHO])
    world.sign_small(FREE)
    world.accept()
    world.call("mcp.small.echo", text="a")
    assert world.host.is_running("small")
    world.sign("")
    world.host.settle()
    assert not world.host.is_running("small")
    with pytest.raises(NotFound):
        world.call("mcp.small.echo", text="a")
    (ended,) = world.records("box_ended")
    assert ended.actor == "server:small"


def test_a_plan_may_name_an_accepted_tool_as_a_skill_and_no_other(world: ServersWorld) -> None:
    world.behave(tools=[ECHO])
    world.sign_small(FREE)
    book = RegistrySkills(world.world.counter.registry)
    with pytest.raises(SkillRefused):
        check_skills(["mcp.small.echo"], book)
    world.accept()
    assert check_skills(["mcp_small_echo"], book) == ("mcp.small.echo",)
    actor = Actor(role=Role.AGENT, name="plan", door="plan")
    request = Request(name="mcp.small.echo", arguments={"text": "a"}, actor=actor)
    call = replace(world.world.counter.understand(request), plan_id="plan_00000000")
    granted = Permissions(skills=("mcp.small.echo",))
    contracts = world.gate.planning.contracts
    assert contracts.terms_of(granted).find_missing_grants(call) == ()
    missing = contracts.terms_of(Permissions()).find_missing_grants(call)
    assert missing == (("skills", "mcp.small.echo"),)


def test_an_error_of_a_tool_is_an_error_of_the_call(world: ServersWorld) -> None:
    world.behave(tools=[tool("read", path={"type": "string"})])
    world.sign_small(FREE)
    world.accept()
    with pytest.raises(ServerToolFailed, match="No such file"):
        world.call("mcp.small.read", path="/nothing")
    (called,) = world.records("tool_called")
    assert called.data["outcome"]["code"] == "server_tool_failed"
