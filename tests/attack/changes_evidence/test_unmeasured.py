"""No way for a change to have its tests go unmeasured: what was not measured says why, truly."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.changes.edits import WholeFile
from astra.changes.mutation import Fault, Measured, MutationEvidence
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import State
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


def test_a_change_that_breaks_an_old_test_on_purpose_is_measured_all_the_same(
    here: ChangesHere,
) -> None:
    """It passes with its own tests and reaches the operator, so its mutants do too."""
    base = here.commit_elsewhere("tests/test_old.py", b"def test_old():\n    assert True\n")

    def fail_the_tests_as_they_were() -> None:
        _, tests_from = here.tests.ran[-1]
        here.tests.verdict = TestVerdict.FAILED if tests_from == base else TestVerdict.PASSED

    here.tests.during = fail_the_tests_as_they_were
    change = here.reviewed(WholeFile(path="tests/test_new.py", content=b"x = 1\n"))
    assert change.state is State.AWAITING
    assert change.tests is not None
    assert change.tests["verdict"] == TestVerdict.FAILED
    assert change.tests["mutation"]["survived"] == 1
    assert "mutants-survive-more" in [item["rule"] for item in change.findings or ()]
