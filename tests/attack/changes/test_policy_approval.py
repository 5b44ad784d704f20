"""A policy approves only what the operator signed it for, and nothing a person has to see."""

import pytest

from astra.changes.edits import WholeFile
from astra.trusted.changes.evidence import Finding, Severity, TestVerdict
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import AstraError
from changing import ChangesHere

POLICY = """[target]
auto_approve_paths = ["docs/", "tests/", ".github/", "requirements.txt", "src/", "pytest.ini"]
auto_approve_until = "2026-04-01T00:00:00Z"
"""


def docs(content: bytes = b"words\n") -> WholeFile:
    return WholeFile(path="docs/guide.md", content=content)


@pytest.fixture
def relaxed(here: ChangesHere) -> ChangesHere:
    here.toml = POLICY
    return here


def test_without_a_policy_everything_waits_for_a_person(here: ChangesHere) -> None:
    assert here.reviewed(docs()).state is State.AWAITING


def test_a_clean_change_inside_the_policy_is_merged_and_the_record_names_it(
    relaxed: ChangesHere,
) -> None:
    change = relaxed.reviewed(docs())
    assert change.state is State.EXECUTED
    assert change.terms["policy"] == "target.auto_approve_paths"
    assert relaxed.repo.head() == change.commit
    assert relaxed.desk.list_by_state() == []


@pytest.mark.parametrize(
    "path",
    [
        *("agent.py", "tests/test_a.py", ".github/workflows/ci.yml", "requirements.txt"),
        *("src/test_a.py", "src/conftest.py", "src/tests/data.json", "pytest.ini"),
    ],
)
def test_code_tests_protected_paths_and_dependencies_are_never_covered(
    relaxed: ChangesHere, path: str
) -> None:
    change = relaxed.reviewed(docs(), WholeFile(path=path, content=b"x\n"))
    assert change.state is State.AWAITING


def test_a_finding_a_failed_test_or_a_failed_scan_needs_a_person(relaxed: ChangesHere) -> None:
    relaxed.scanner.findings = (
        Finding(rule="x", severity=Severity.INFO, path="docs/guide.md", message="m"),
    )
    assert relaxed.reviewed(docs(b"1")).state is State.AWAITING
    relaxed.scanner.findings = ()
    for verdict in set(TestVerdict) - {TestVerdict.PASSED}:
        relaxed.tests.verdict = verdict
        assert relaxed.reviewed(docs(verdict.encode())).state in {
            State.AWAITING,
            State.TESTS_FAILED,
        }
    relaxed.tests.verdict = TestVerdict.PASSED
    relaxed.scanner.error = AstraError("broken", next_step="mend it")
    assert relaxed.reviewed(docs(b"3")).state is State.AWAITING


def test_fewer_tests_than_on_the_base_need_a_person(relaxed: ChangesHere) -> None:
    relaxed.tests.counts = {None: 9}
    assert relaxed.reviewed(docs()).state is State.EXECUTED
    relaxed.tests.counts = {None: 8}
    assert relaxed.reviewed(docs(b"other words\n")).state is State.AWAITING


def test_a_ledger_that_does_not_verify_needs_a_person(relaxed: ChangesHere) -> None:
    relaxed.whole = False
    assert relaxed.reviewed(docs()).state is State.AWAITING


@pytest.mark.parametrize("until", ["", "soon", "2026-04-01T00:00:00", "2026-02-01T00:00:00Z"])
def test_a_policy_without_an_end_or_past_it_approves_nothing(here: ChangesHere, until: str) -> None:
    here.toml = POLICY.replace("2026-04-01T00:00:00Z", until)
    assert here.reviewed(docs()).state is State.AWAITING


def test_a_finding_the_operator_blocks_on_cannot_be_approved(here: ChangesHere) -> None:
    here.toml = '[target]\nblocking_findings = ["weakened-test"]\n'
    here.scanner.findings = (
        Finding(rule="weakened-test", severity=Severity.DANGER, path="docs/guide.md", message="m"),
    )
    change = here.reviewed(docs())
    with pytest.raises(AstraError) as refused:
        here.approve(change)
    assert refused.value.reason == "blocked_by_findings"
    assert here.get(change.id).state is State.AWAITING
