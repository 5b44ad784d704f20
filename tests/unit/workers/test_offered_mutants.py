"""What a worker measured of mutants, as the record of its job holds it."""

import json
from typing import Any

import pytest

from astra.adapters.offered_mutants import read_evidence, write_evidence
from astra.changes.mutation import Fault, Measured, MutationEvidence

FAULT = Fault(
    path="agent.py",
    kind="compare",
    line=3,
    start=10,
    end=12,
    text="< becomes <=",
    first=2,
    last=5,
    in_function=True,
)
NOW = Measured(verdicts={FAULT: "survived"}, tests=4, usable=3, seconds=1.5)
THEN = Measured(verdicts={FAULT: "killed"}, tests=4, usable=4, seconds=2.0)


@pytest.mark.parametrize(
    "evidence",
    [
        MutationEvidence(now=NOW, then=THEN, other=("page.ts",)),
        MutationEvidence(now=NOW),
        MutationEvidence(now=Measured(), reason="it is switched off"),
        MutationEvidence(now=Measured(problem="the run left no result"), then=THEN),
    ],
)
def test_a_measure_is_the_same_after_its_record(evidence: MutationEvidence) -> None:
    document = json.loads(json.dumps(write_evidence(evidence)))
    assert read_evidence(document) == evidence
    assert read_evidence(document).as_dict() == evidence.as_dict()


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"now": None, "then": None, "other": [], "reason": ""},
        {"now": {"problem": ""}, "then": None, "other": [], "reason": ""},
        {"now": [], "then": None, "other": [], "reason": ""},
        {**write_evidence(MutationEvidence(now=NOW)), "now": {"problem": "", "mutants": [{}]}},
    ],
)
def test_what_cannot_be_read_is_a_problem_and_never_a_good_measure(
    document: dict[str, Any],
) -> None:
    evidence = read_evidence(document)
    assert evidence.now.problem
    assert not evidence.is_measured
    assert [finding.rule for finding in evidence.findings()] == ["mutants-not-measured"]
