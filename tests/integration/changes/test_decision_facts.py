"""What page, terminal and API say before somebody signs, on a real repository."""

from typing import Any

import pytest

from astra.changes.edits import WholeFile
from astra.changes.service import change_document
from astra.deployments import events, views
from astra.deployments.decision_facts import DecisionFacts
from astra.deployments.live_difference import LiveDifference
from astra.trusted.changes.evidence import Finding, Severity, TestVerdict
from astra.trusted.changes.model import Change, State
from astra.trusted.kernel.errors import Refused
from astra.trusted.ledger.record import Event
from changing import ChangesHere

HOSTILE = "x\x1b[2J\u202e<script>"


def describe(here: ChangesHere, change: Change) -> dict[str, Any]:
    return DecisionFacts(changes=here.changes, ledger=here.root.ledger).describe(change.id)


def pick(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [fact for fact in document["facts"] if fact["name"] == name]


def difference(here: ChangesHere) -> dict[str, Any]:
    live_difference = LiveDifference(changes=here.changes, ledger=here.root.ledger)
    return live_difference.describe(here.repo.head())


def record_deployment(
    here: ChangesHere, *, ends: str = events.SETTLED, staged: bool = False
) -> str:
    """Deploy the head of the branch, as the lane for deployments would record it."""
    deployment = here.deployments.deploy(None, actor="operator")
    data = {"deployment": deployment.id, "release": deployment.release}
    failure = {
        "stage": "watch",
        "blamed": True,
        "reason": "it crashed",
        "rolls_back": False,
        "rollback_to": None,
    }
    steps = [
        (events.BUILT, {"commit": deployment.commit_id, "digest": "d", "files": 1, "size": 1}),
        *([(events.REHEARSED, {})] if staged else []),
        (events.SWITCHED, {"replaced": None, "backup": None, "how": "started"}),
        (ends, failure if ends == events.FAILED else {}),
    ]
    for type_, more in steps:
        event = Event(type=type_, actor="daemon", data={**data, **more}, subject=deployment.id)
        here.root.ledger.append([event])
    return deployment.release


def test_a_change_without_a_blemish_has_no_red_fact(here: ChangesHere) -> None:
    document = describe(here, here.reviewed())
    assert [fact for fact in document["facts"] if fact["red"]] == []
    assert pick(document, "findings")[0]["text"] == "no findings"
    assert pick(document, "base")[0]["tone"] == "good"
    assert pick(document, "deploy")[0]["text"].startswith("nothing is live")
    assert document["carried_over"] is None


def test_findings_are_counted_by_kind_and_danger_is_red(here: ChangesHere) -> None:
    finding = Finding(rule="r", severity=Severity.DANGER, path="agent.py", line=1, message=HOSTILE)
    note = Finding(rule="n", severity=Severity.INFO, path="agent.py", line=2, message="a note")
    here.scanner.findings = (finding, finding, note)
    (fact,) = pick(describe(here, here.reviewed()), "findings")
    assert (fact["text"], fact["red"], fact["term"]) == ("3 findings: 2 danger, 1 info", True, None)


def test_tests_that_failed_are_red_and_carry_the_term_that_the_desk_wants(
    here: ChangesHere,
) -> None:
    here.tests.verdict = TestVerdict.FAILED
    change = here.reviewed()
    (fact,) = pick(describe(here, change), "tests")
    assert (fact["red"], fact["term"], fact["value"]) == (True, "despite_tests", "failed")
    here.changes.merges.ask(change.id, despite_tests=True)
    here.approve(here.get(change.id), **{fact["term"]: fact["value"]})
    assert here.get(change.id).state is State.EXECUTED


def test_each_protected_path_is_a_red_fact_whose_value_the_desk_accepts(here: ChangesHere) -> None:
    here.toml = '[target]\nprotected_paths = ["deploy/"]\n'
    edit = WholeFile(path="deploy/run.sh", content=b"echo hi\n")
    change = here.reviewed(edit)
    facts = pick(describe(here, change), "protected")
    assert [(fact["term"], fact["value"]) for fact in facts] == [("consent", "deploy/run.sh")]
    with pytest.raises(Refused):
        here.approve(change)
    here.approve(change, consent=[fact["value"] for fact in facts])
    assert here.get(change.id).state is State.EXECUTED


def test_a_rule_that_the_operator_blocks_on_is_said_before_signing(here: ChangesHere) -> None:
    here.toml = '[target]\nblocking_findings = ["r"]\n'
    here.scanner.findings = (
        Finding(rule="r", severity=Severity.INFO, path="agent.py", line=1, message="m"),
    )
    document = describe(here, here.reviewed())
    assert document["blocked"]
    assert [fact["red"] for fact in pick(document, "blocked")] == [True]


def test_a_base_that_moved_shows_before_and_after_somebody_signs(here: ChangesHere) -> None:
    change = here.reviewed()
    here.commit_elsewhere("other.py", b"x = 1\n")
    here.commit_elsewhere("other.py", b"x = 2\n")
    before = describe(here, change)
    assert before["behind"] == 2
    assert [fact["red"] for fact in pick(before, "base")] == [True]
    here.approve(change)
    here.steps.run_due()
    after = describe(here, here.get(change.id))
    assert (after["behind"], here.get(change.id).state) == (0, State.AWAITING)
    carried_over = after["carried_over"]
    assert carried_over["signed_before"]
    assert (carried_over["previous_base"], carried_over["onto"]) == (change.base, here.repo.head())


def test_testing_again_behind_the_branch_carries_it_over_and_tests_once(here: ChangesHere) -> None:
    change = here.reviewed()
    here.commit_elsewhere("other.py", b"x = 1\n")
    runs_before = len(here.tests.ran)
    here.changes.remarks.renew(change.id, actor="operator")
    here.steps.run_due()
    renewed = here.get(change.id)
    assert (renewed.base, renewed.round) == (here.repo.head(), 2)
    assert len(here.tests.ran) == runs_before + 1
    assert not describe(here, renewed)["carried_over"]["signed_before"]


def test_a_deploy_names_what_it_replaces_and_what_else_it_brings(here: ChangesHere) -> None:
    release = record_deployment(here)
    first = here.reviewed()
    here.approve(first)
    second = here.reviewed(WholeFile(path="more.py", content=b"y = 1\n"), reason=HOSTILE)
    document = describe(here, second)
    assert document["live"]["release"] == release
    assert [item["change"] for item in document["waiting"]] == [first.id]
    (fact,) = pick(document, "deploy")
    assert fact["text"] == (
        f"this, together with “{first.purpose}”, merged before and not live now,"
        f" would replace the target as it came ({release})"
    )
    here.approve(second)
    comparison = difference(here)
    assert [item["change"] for item in comparison["commits"]] == [second.id, first.id]
    assert "return 42" in comparison["diff"]
    assert "more.py" in comparison["diff"]
    assert not comparison["truncated"]


def test_a_deploy_names_the_live_release_by_its_change(here: ChangesHere) -> None:
    first = here.reviewed(reason="greet”: nothing else would replace “it")
    here.approve(first)
    release = record_deployment(here)
    second = here.reviewed(WholeFile(path="more.py", content=b"y = 1\n"))
    (fact,) = pick(describe(here, second), "deploy")
    title = '“greet": nothing else would replace "it”'
    assert (fact["text"], fact["tone"]) == (f"this would replace {title} ({release})", "plain")


def test_many_changes_that_go_along_are_counted(here: ChangesHere) -> None:
    record_deployment(here)
    for number in range(4):
        edit = WholeFile(path=f"more{number}.py", content=b"y = 1\n")
        here.approve(here.reviewed(edit, reason=f"merged {number}"))
    last = here.reviewed(WholeFile(path="last.py", content=b"y = 1\n"))
    (fact,) = pick(describe(here, last), "deploy")
    assert "together with “merged 3” and “merged 2” and 2 more, merged before" in fact["text"]


def test_a_commit_that_is_live_differs_in_nothing(here: ChangesHere) -> None:
    record_deployment(here, staged=True)
    comparison = difference(here)
    assert (comparison["diff"], comparison["commits"]) == ("", [])
    (attempt,) = comparison["history"]
    assert (attempt["state"], bool(attempt["rehearsed_at"])) == ("settled", True)


def test_a_commit_that_failed_says_so_and_who_builds_on_it_names_it(here: ChangesHere) -> None:
    record_deployment(here)
    first = here.reviewed()
    here.approve(first)
    record_deployment(here, ends=events.FAILED)
    quarantined = {"commit": first.commit, "reason": "it crashed", "release": "r"}
    here.root.ledger.append([Event(type=events.QUARANTINED, actor="daemon", data=quarantined)])
    comparison = difference(here)
    assert comparison["quarantined"] == "it crashed"
    assert comparison["history"][0]["reason"] == "it crashed"
    second = here.reviewed(WholeFile(path="more.py", content=b"y = 1\n"))
    (fact,) = pick(describe(here, second), "quarantine")
    assert (fact["term"], fact["value"]) == ("despite_quarantine", first.commit)
    assert fact["with_deploy"]
    assert views.quarantined_commits(here.root.ledger) == (first.commit,)


def test_what_an_agent_wrote_reaches_no_fact_unescaped(here: ChangesHere) -> None:
    first = here.reviewed()
    here.approve(first)
    quarantined = {"commit": first.commit, "reason": HOSTILE, "release": "r"}
    here.root.ledger.append([Event(type=events.QUARANTINED, actor="daemon", data=quarantined)])
    second = here.reviewed(WholeFile(path="more.py", content=b"y = 1\n"), reason=HOSTILE)
    (fact,) = pick(describe(here, second), "quarantine")
    assert "\x1b" not in fact["text"]
    assert "\u202e" not in fact["text"]


def test_tests_that_took_too_long_lead_to_the_setting_that_gives_them_more(
    here: ChangesHere,
) -> None:
    here.tests.verdict = TestVerdict.TIMED_OUT
    next_step = change_document(here.reviewed())["next"]
    assert "AGENT_DEPLOY_TEST_TIMEOUT" in next_step
    here.tests.verdict = TestVerdict.FAILED
    assert "read the failures" in change_document(here.reviewed())["next"]
