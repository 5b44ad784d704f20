"""Mutation evidence is part of what is recorded, shown and signed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.changes.edits import WholeFile
from astra.changes.mutation import Fault, Measured, MutationEvidence
from astra.changes.service import change_document
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.kernel.errors import Refused
from changing import ChangesHere, FakeMutation

FAULT = Fault(
    path="agent.py",
    kind="return_none",
    line=2,
    start=20,
    end=22,
    text="None",
    first=2,
    last=2,
    in_function=True,
)
FALLEN = MutationEvidence(
    now=Measured(verdicts={FAULT: "survived"}, tests=1, usable=1),
    then=Measured(verdicts={FAULT: "killed"}, tests=1, usable=1),
)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ChangesHere]:
    changes = ChangesHere(tmp_path, mutation=FakeMutation(FALLEN))
    yield changes
    changes.close()


def test_a_fall_is_recorded_shown_and_a_finding_that_can_block(here: ChangesHere) -> None:
    change = here.reviewed()
    assert change.tests is not None
    assert change.tests["mutation"]["survived"] == 1
    assert [item["rule"] for item in change.findings or ()] == ["mutants-survive-more"]
    assert change_document(change)["evidence"]["mutation"]["words"].startswith("mutants: 1 of 1")
    assert change.approval
    summary = here.desk.get(change.approval).summary
    assert "1 of 1 (100 %) survive; with the tests as they were 0 of 1" in summary
    assert "1 dangerous finding" in summary
    here.toml = '[target]\nblocking_findings = ["mutants-survive-more"]\n'
    with pytest.raises(Refused, match="mutants-survive-more"):
        here.changes.review.check_terms(here.desk.get(change.approval), {})


def test_nothing_is_measured_while_the_tests_do_not_pass(here: ChangesHere) -> None:
    here.tests.verdict = TestVerdict.FAILED
    change = here.reviewed()
    assert here.mutation is not None
    assert here.mutation.measured == []
    assert change.tests is not None
    assert change.tests["mutation"]["words"] == "mutants: not measured: the tests do not pass"


def test_the_files_and_tests_of_the_change_are_what_is_measured(here: ChangesHere) -> None:
    change = here.reviewed(WholeFile(path="tests/test_new.py", content=b"x = 1\n"))
    assert here.mutation is not None
    (measured,) = here.mutation.measured
    assert [file.path for file in measured["files"]] == ["tests/test_new.py"]
    assert measured["tests"] == ["tests/test_new.py"]
    assert (measured["base"], measured["commit"]) == (change.base, change.commit)
    assert measured["label"] == change.id
