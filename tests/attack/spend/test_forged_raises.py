"""An agent that can get records appended, or approvals of its own, still raises no cap."""

from typing import Any

import pytest

from astra.spend.model import Account, SpendRefused
from astra.spend.projection import RAISED, RESERVED, SETTLED, SUBJECT
from astra.trusted.approvals.events import GRANTED, USED
from astra.trusted.kernel.errors import Conflict, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from spend_in_memory import ACCOUNT, SpendInMemory

OTHER = Account(actor="agent:b", plan="plan_00000002", correlation="cor_0000000000000002")


def ask(world: SpendInMemory, tokens: int = 1_500, account: Account = ACCOUNT) -> str:
    with pytest.raises(SpendRefused) as refusal:
        world.reserve(tokens, account=account)
    return str(refusal.value.facts["approval_id"])


def forge(world: SpendInMemory, approval: str, **changes: Any) -> None:
    """Record a raise as the daemon would, without what the operator has to do for it."""
    data = {
        "scope": world.scope("plan").key,
        "cap": "tokens_per_plan",
        "configured": 1_000,
        "from": 1_000,
        "to": 2_000,
        "approval": approval,
        **changes,
    }
    world.root.ledger.append([Event(type=RAISED, actor="operator", data=data, subject=SUBJECT)])


@pytest.fixture
def world() -> SpendInMemory:
    return SpendInMemory("tokens_per_plan = 1000")


def test_a_raise_without_a_signature_raises_nothing(world: SpendInMemory) -> None:
    forge(world, ask(world))
    ask(world)


def test_a_grant_that_nobody_signed_raises_nothing(world: SpendInMemory) -> None:
    approval = ask(world)
    content = {"approval": approval, "digest": world.gate.desk.get(approval).digest}
    world.root.ledger.append(
        [Event(type=GRANTED, actor="operator", data=content, subject=approval)]
    )
    world.raises.fulfil(approval)
    assert world.gate.desk.get(approval).state == "stale"
    forge(world, approval)
    ask(world)


def test_a_grant_by_another_key_is_refused(world: SpendInMemory) -> None:
    with pytest.raises(SignatureRejected):
        world.approve(ask(world), KeyPair.generate())
    ask(world)


@pytest.mark.parametrize("changes", [{"to": 2_000_000}, {"from": 0}, {"configured": 999}])
def test_a_signed_raise_cannot_be_stretched(world: SpendInMemory, changes: dict[str, Any]) -> None:
    approval = ask(world)
    world.approve(approval)
    world.reserve(2_000)
    forge(world, approval, **changes)
    with pytest.raises(SpendRefused):
        world.reserve(1)


def test_a_signed_raise_is_for_its_plan_alone(world: SpendInMemory) -> None:
    approval = ask(world)
    world.approve(approval)
    forge(world, approval, scope=f"plan:{OTHER.plan}")
    ask(world, account=OTHER)


def test_a_signed_raise_counts_once(world: SpendInMemory) -> None:
    approval = ask(world)
    world.approve(approval)
    world.reserve(2_000)
    with pytest.raises(Conflict):
        world.gate.approve(approval)
    world.raises.fulfil(approval)
    assert len(world.root.ledger.records(RAISED)) == 1
    assert len(world.root.ledger.records(USED)) == 1
    ask(world, 1)


def test_an_approval_of_something_else_raises_nothing(world: SpendInMemory) -> None:
    ask(world)
    pending = world.gate.desk.list_by_state()[0]
    other = world.gate.desk.ask(
        kind="goal_question",
        subject_id="goal_00000001",
        digest=pending.digest,
        summary="is this fine?",
        details={},
        actor="agent:a",
        correlation=ACCOUNT.correlation,
    )
    forge(world, other)
    ask(world)


def test_an_agent_is_offered_no_tool_that_names_spending(world: SpendInMemory) -> None:
    names = [tool.name for tool in world.gate.registry.list_all()]
    assert not [name for name in names if "spend" in name or "cap" in name.split("_")]


def test_no_event_of_an_agents_tools_counts_as_spending(world: SpendInMemory) -> None:
    """Sums move by two types of records; both are appended by the book alone."""
    from pathlib import Path

    import astra.spend

    sources = Path(astra.spend.__file__).parent.parent.rglob("*.py")
    appending = {
        path.name
        for path in sources
        if any(f"type={name}" in path.read_text() for name in ("RESERVED", "SETTLED"))
        and "astra.spend.projection" in path.read_text()
    }
    assert appending == {"book.py"}
    assert {RESERVED, SETTLED} == {"spend_reserved", "spend_settled"}
