"""A commit on top of one that failed in service deploys it again only if somebody says so."""

import pytest

from astra.changes.edits import WholeFile
from astra.deployments import events
from astra.deployments.asking import AgentRequests
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.quarantine import TERM, ContainsQuarantined
from astra.trusted.kernel.errors import BadInput
from astra.trusted.ledger.record import Event
from astra.trusted.policy.authority import SignatureRejected
from changing import ChangesHere

GOOD = b"def answer():\n    return 41\n"
BAD = b"def answer():\n    raise SystemExit\n"


@pytest.fixture
def failed(here: ChangesHere) -> str:
    """Merge a change and have its commit fail in service."""
    here.commit_elsewhere("agent.py", GOOD)
    change = here.reviewed(WholeFile(path="agent.py", content=BAD))
    here.approve(change)
    data = {"deployment": "dep_x", "commit": change.commit, "reason": "watch: it crashed"}
    here.root.ledger.append([Event(type=events.QUARANTINED, actor="daemon", data=data)])
    return change.commit


def on_top(here: ChangesHere, path: str = "notes.md", content: bytes = b"more\n") -> Change:
    return here.reviewed(WholeFile(path=path, content=content), reason="on top")


def order(here: ChangesHere, *despite: str, force: bool = False) -> None:
    verdict = here.deployments.approved.may_deploy(None)
    content = events.order_content(
        commit=verdict.commit, digest=verdict.digest, force=force, despite=despite
    )
    signed = here.root.sign(events.ORDERED, content)
    here.deployments.deploy(None, actor="operator", signed=signed)


def test_the_review_and_the_approval_say_what_is_still_inside(
    here: ChangesHere, failed: str
) -> None:
    change = on_top(here)
    assert change.approval
    found = here.desk.details(change.approval)
    assert (
        f"contains {failed[:12]}, which failed in service" in here.desk.get(change.approval).summary
    )
    assert found["details"]["contains_quarantined"] == [failed]
    assert here.changes.describe_change(change.id)["contains_quarantined"] == [failed]


def test_a_yes_that_includes_the_deploy_has_to_name_it(here: ChangesHere, failed: str) -> None:
    change = on_top(here)
    with pytest.raises(ContainsQuarantined, match=failed[:12]):
        here.approve(change, deploy=True)
    with pytest.raises(BadInput):
        here.approve(change, deploy=True, **{TERM: ["f" * 40]})
    here.approve(change, deploy=True, **{TERM: [failed]})
    assert here.get(change.id).state is State.EXECUTED
    assert here.types().count(events.REQUESTED) == 1


@pytest.mark.parametrize("force", [False, True])
def test_no_order_deploys_it_without_naming_it(
    here: ChangesHere, failed: str, *, force: bool
) -> None:
    here.approve(on_top(here))
    with pytest.raises(ContainsQuarantined):
        order(here, force=force)
    with pytest.raises(ContainsQuarantined):
        order(here, failed[:12], force=force)
    assert events.REQUESTED not in here.types()
    order(here, failed, force=force)
    assert here.types().count(events.REQUESTED) == 1


def test_a_term_that_was_not_signed_does_not_count(here: ChangesHere, failed: str) -> None:
    here.approve(on_top(here))
    verdict = here.deployments.approved.may_deploy(None)
    content = events.order_content(commit=verdict.commit, digest=verdict.digest, force=False)
    signed = here.root.sign(events.ORDERED, content)
    signed.statement["content"] = {**content, TERM: [failed]}
    with pytest.raises(SignatureRejected):
        here.deployments.deploy(None, actor="operator", signed=signed)


def test_an_agent_is_told(here: ChangesHere, failed: str) -> None:
    here.approve(on_top(here))
    asked = AgentRequests(
        changes=here.changes, requests=here.deployments, person_for_tests=lambda: False
    )
    verdict = here.deployments.approved.may_deploy(None)
    obstacle = asked.find_obstacle(
        verdict, "", actor="agent:test", correlation="cor_0000000000000001"
    )
    assert obstacle is not None
    assert obstacle.code == "contains_quarantined"
    with pytest.raises(ContainsQuarantined):
        here.deployments.deploy(None, actor="agent:test")


@pytest.mark.parametrize(
    ("content", "contained"),
    [
        (GOOD, False),
        (b"# kept\n\n\n\n" + GOOD, False),
        (b"def answer():\n    raise  SystemExit\n", True),
        (b"# kept\n\n\n\n" + BAD, True),
        (b"", True),
    ],
)
def test_only_what_takes_the_failing_lines_back_undoes_it(
    here: ChangesHere, failed: str, content: bytes, *, contained: bool
) -> None:
    here.commit_elsewhere("agent.py", content)
    assert here.deployments.approved.may_deploy(None).contains == ((failed,) if contained else ())
