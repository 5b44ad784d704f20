"""Nobody but the operator's key moves the target's branch, whatever else is in the ledger."""

from dataclasses import replace
from typing import Any

import pytest

from astra.changes import counting
from astra.changes.edits import WholeFile
from astra.persona.awareness import Awareness
from astra.trusted.approvals import desk
from astra.trusted.changes import model
from astra.trusted.changes.files import FileState
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import DuplicateKey, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from changing import ChangesHere, git


def test_another_key_approves_nothing(here: ChangesHere) -> None:
    change = here.reviewed()
    with pytest.raises(SignatureRejected):
        here.approve(change, KeyPair.generate())
    assert here.get(change.id).state is State.AWAITING


def test_a_grant_without_a_signature_is_withdrawn_and_merges_nothing(here: ChangesHere) -> None:
    change, before = here.reviewed(), here.repo.head()
    approval = here.desk.get(str(change.approval))
    forged = Event(
        type=desk.GRANTED, actor="operator", data=desk.content(approval), subject=approval.id
    )
    here.root.ledger.append([forged])
    here.steps.run_due()
    assert here.repo.head() == before
    assert here.desk.get(approval.id).state == "stale"
    assert "signature" in here.desk.get(approval.id).reason
    assert model.APPROVED not in here.types()


def test_a_signature_for_one_change_does_not_approve_another(here: ChangesHere) -> None:
    first = here.reviewed()
    second = here.reviewed(WholeFile(path="evil.py", content=b"x = 1\n"))
    approval = here.desk.get(str(first.approval))
    signed = here.root.sign("approval_granted", desk.content(approval))
    with pytest.raises(SignatureRejected):
        here.desk.grant(str(second.approval), signed)


def test_consent_cannot_be_added_to_a_signature(here: ChangesHere) -> None:
    change = here.reviewed(WholeFile(path=".envrc", content=b"x\n"))
    approval = here.desk.get(str(change.approval))
    signed = here.root.sign("approval_granted", desk.content(approval))
    signed.statement["content"]["terms"] = {"consent": [".envrc"]}
    with pytest.raises(SignatureRejected):
        here.desk.grant(approval.id, signed)


def test_an_approval_does_not_follow_the_branch_to_another_commit(here: ChangesHere) -> None:
    """The branch is moved behind Astra's back: what was approved is merged, or nothing is."""
    change = here.reviewed()
    other = here.repo.commit(
        base=change.base,
        result={"evil.py": FileState(content=b"x")},
        message="evil",
        when=here.root.clock.now(),
    )
    git(here.git_dir, "update-ref", f"refs/heads/astra/{change.id}", other.id)
    here.approve(change)
    assert here.repo.head() == change.commit


def test_an_approval_is_stale_once_the_configuration_moved_and_says_so(here: ChangesHere) -> None:
    change, before = here.reviewed(), here.repo.head()
    here.grant(str(change.approval))
    here.toml = "[target]\nmax_file_kb = 50\n"
    here.steps.run_due()
    assert here.repo.head() == before
    reason = here.desk.get(str(change.approval)).reason
    assert reason == "the signed configuration changed since it was asked for"
    again = here.get(change.id)
    assert again.approval not in {None, change.approval}
    here.approve(again)
    assert here.repo.head() == change.commit


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ({"findings": ({"rule": "x"},)}, "the evidence changed since it was asked for"),
        ({"tests": {"verdict": "failed", "words": ""}}, "the evidence changed"),
    ],
)
def test_evidence_that_moved_makes_an_approval_stale_and_is_named(
    here: ChangesHere, moved: dict[str, Any], words: str
) -> None:
    change = here.reviewed()
    approval = here.desk.get(str(change.approval))
    assert here.changes.review.describe_difference(change, approval) == ""
    assert words in here.changes.review.describe_difference(replace(change, **moved), approval)


def test_a_tree_that_moved_makes_an_approval_stale_and_names_dependencies(
    here: ChangesHere,
) -> None:
    change = here.reviewed()
    approval = here.desk.get(str(change.approval))
    other = here.repo.commit(
        base=change.base,
        result={"requirements.txt": FileState(content=b"evil==1\n")},
        message="evil",
        when=here.root.clock.now(),
    )
    swapped = replace(change, facts={**change.facts, "commit": other.id})
    said = here.changes.review.describe_difference(swapped, approval)
    assert "the commit, the files, the files that name dependencies changed" in said


def test_an_approval_is_used_once(here: ChangesHere) -> None:
    change = here.reviewed()
    here.approve(change)
    spent = desk.build_used_event(
        str(change.approval), actor="daemon", correlation="cor_0000000000000001"
    )
    with pytest.raises(DuplicateKey):
        here.root.ledger.append([spent])
    here.changes.merges.execute(str(change.approval))
    assert here.types().count(model.APPROVED) == 1


def test_an_expired_approval_merges_nothing(here: ChangesHere) -> None:
    change, before = here.reviewed(), here.repo.head()
    here.set_flag(on=False)
    here.grant(str(change.approval))
    here.root.clock.advance(hours=25)
    here.set_flag(on=True)
    here.steps.run_due()
    assert here.repo.head() == before
    assert model.EXECUTED not in here.types()


def test_a_record_of_the_code_family_while_code_writing_is_off_is_an_alert(
    here: ChangesHere,
) -> None:
    change = here.reviewed()
    assert counting.list_alerts(here.root.ledger) == []
    here.set_flag(on=False)
    forged = Event(
        type=model.ROLLED_BACK,
        actor="daemon",
        data={"reason": "forged", "diff": change.facts["diff"]},
        subject=change.id,
    )
    here.root.ledger.append([forged])
    (alert,) = counting.list_alerts(here.root.ledger)
    assert (alert["type"], alert["change"]) == (model.ROLLED_BACK, change.id)
    notes, _ = Awareness(here.root.ledger).read(kind="alert")
    assert "while code writing was off" in notes[0].text
