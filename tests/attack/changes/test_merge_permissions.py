"""A standing permission merges what was signed for, so often, until then, and nothing beside it."""

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from astra.changes.edits import Delete, Edit, WholeFile
from astra.changes.mutation import Fault, Measured, MutationEvidence, make_unmeasured
from astra.changes.proposing import Proposal
from astra.plans import events as plan_events
from astra.trusted.changes import events, merge_permissions, permission_checks
from astra.trusted.changes.evidence import Finding, Severity, TestVerdict
from astra.trusted.changes.files import EXECUTABLE, LINK, ChangedFile, FileState
from astra.trusted.changes.merging import Merges
from astra.trusted.changes.model import Change, State
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError, BadInput, Refused, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority
from astra.trusted.policy.authority import RESTORED
from changing import ChangesHere, FakeMutation, git

CODE = b"def answer():\n    return 42\n"


def permit(here: ChangesHere, key: KeyPair | None = None, **scope: Any) -> str:
    content = draft(here, **scope)
    signed = here.root.sign(merge_permissions.ADDED, content, key)
    merge_permissions.add(here.root.ledger, content, signed, now=here.root.clock.now())
    return str(content["permission"])


def draft(here: ChangesHere, **scope: Any) -> dict[str, Any]:
    now = here.root.clock.now()
    wanted: dict[str, Any] = {
        "paths": ["docs/", "src/app/"],
        "until": format_time(now + timedelta(days=1)),
        "uses": 3,
        "most_files": 2,
        "most_lines": 10,
        "mutants": 0,
        "deploy": False,
    }
    return merge_permissions.draft_content(**{**wanted, **scope}, now=now)


def code(content: bytes = CODE, path: str = "src/app/answer.py") -> WholeFile:
    return WholeFile(path=path, content=content)


def put_on_branch(here: ChangesHere, path: str, state: FileState) -> None:
    head = here.repo.head()
    commit = here.repo.commit(
        base=head, result={path: state}, message="elsewhere", when=here.root.clock.now()
    )
    assert here.repo.fast_forward(expected=head, to=commit.id)


def count_uses(here: ChangesHere) -> int:
    return here.types().count(merge_permissions.USED)


def gather(here: ChangesHere, *edits: Edit) -> Change:
    """Propose a change and gather its evidence, without asking anybody yet."""
    change = here.propose(*(edits or (code(),)))
    here.changes.gathering.scan(change.id)
    here.changes.gathering.test(change.id)
    return here.get(change.id)


def ask_while(here: ChangesHere, change: Change, happens: Callable[[], Any]) -> Change:
    """Ask for a change, with something happening once between the check and what follows."""
    pending = [happens]

    def check_ledger() -> bool:
        if pending:
            pending.pop()()
        return True

    Merges(dataclasses.replace(here.bench, ledger_is_whole=check_ledger)).ask(change.id)
    return here.get(change.id)


def test_what_it_covers_is_merged_and_the_changes_story_names_it(here: ChangesHere) -> None:
    identifier = permit(here)
    change = here.reviewed(code())
    assert change.state is State.EXECUTED
    assert here.repo.head() == change.commit
    assert change.terms == {"permission": identifier, "deploy": False}
    assert here.desk.list_by_state() == []
    (use,) = here.root.ledger.records_of(identifier, merge_permissions.USED)
    assert (use.data["change"], use.data["commit"], use.data["use"]) == (
        change.id,
        change.commit,
        1,
    )
    assert use.correlation == change.correlation
    assert "src/app/ is merged without asking me, at most 3 times" in use.data["words"]


def test_without_one_a_person_is_asked(here: ChangesHere) -> None:
    assert here.reviewed(code()).state is State.AWAITING


@pytest.mark.parametrize(
    "path",
    [
        *("agent.py", "src/other.py", "src/application.py", "src/app", "docs2/a.md"),
        *("Docs/guide.md", "DOCS/guide.md", "src/App/answer.py", "src/app\u200b/answer.py"),
        *("docs\u2215guide.md", "\u0501ocs/guide.md"),
    ],
)
def test_no_other_spelling_of_a_path_is_covered(here: ChangesHere, path: str) -> None:
    permit(here)
    try:
        change = here.reviewed(code(path=path))
    except Refused:
        return
    assert change.state is not State.EXECUTED
    assert count_uses(here) == 0


def test_a_path_in_another_unicode_form_is_not_covered(here: ChangesHere) -> None:
    permit(here, paths=["docs/caf\u00e9/"])
    assert here.reviewed(code(path="docs/caf\u00e9/a.md")).state is State.EXECUTED
    try:
        change = here.reviewed(code(b"x\n", path="docs/cafe\u0301/b.md"))
    except Refused:
        return
    assert change.state is State.AWAITING


@pytest.mark.parametrize(
    "path",
    [
        *("src/app/test_answer.py", "src/app/tests/data.txt", "src/app/conftest.py"),
        *("src/app/requirements.txt", "src/app/pyproject.toml", "src/app/poetry.lock"),
        *("src/app/settings.toml", "src/app/Settings.YAML", "src/app/.env", "src/app/x.json"),
        *("src/app/.hidden/a.py", "src/app/Makefile", "src/app/Dockerfile", "src/app/x.pth"),
        *("src/app/AGENTS.md", "src/app/.github/ci.md", "src/app/CLAUDE.md"),
        *("src/astra/trusted/policy/gate.py", "SRC/astra/Trusted/x.py", "src/astra/bootstrap/x.py"),
    ],
)
@pytest.mark.parametrize("toml", ["", '[target]\nprotected_paths = ["nothing/"]\n'])
def test_tests_dependencies_settings_and_protected_paths_are_never_covered(
    here: ChangesHere, path: str, toml: str
) -> None:
    here.toml = toml
    permit(here, paths=["SRC/", "src/"])
    try:
        change = here.reviewed(code(path=path))
    except Refused:
        return
    assert change.state is State.AWAITING
    assert count_uses(here) == 0


def test_a_rename_out_of_or_into_its_paths_is_not_covered(here: ChangesHere) -> None:
    put_on_branch(here, "docs/a.md", FileState(content=b"words\n"))
    permit(here)
    outwards = here.reviewed(Delete(path="docs/a.md"), code(b"words\n", path="elsewhere.md"))
    inwards = here.reviewed(Delete(path="agent.py"), code(path="src/app/agent.py"))
    assert (outwards.state, inwards.state) == (State.AWAITING, State.AWAITING)


def test_files_that_are_links_executable_or_binary_are_not_covered(here: ChangesHere) -> None:
    put_on_branch(here, "docs/link", FileState(content=b"../agent.py", mode=LINK))
    put_on_branch(here, "docs/run", FileState(content=b"#!/bin/sh\n", mode=EXECUTABLE))
    permit(here)
    for edit in (Delete(path="docs/link"), Delete(path="docs/run")):
        assert here.reviewed(edit).state is State.AWAITING
    permission = merge_permissions.list_all(here.root.ledger, now=here.root.clock.now())[0]
    for file in (
        ChangedFile(path="docs/a", new_mode=LINK, new=b"../agent.py"),
        ChangedFile(path="docs/a", old_mode=LINK, new_mode="100644", old=b"x", new=b"y"),
        ChangedFile(path="docs/a", new_mode="160000", new=b""),
        ChangedFile(path="docs/a", new_mode="100644", new=b"a\0b"),
    ):
        assert permission_checks.name_untouchable(file), file
    assert permission.left == 3


@pytest.mark.parametrize(
    "content",
    [
        b"x\n" * 11,
        b"x" * 2_001,
        b"x" * 1_900 + b"\ny\n",
        b"\r".join([b"x"] * 11),
    ],
)
def test_a_change_beyond_its_size_is_not_covered(here: ChangesHere, content: bytes) -> None:
    permit(here)
    assert here.reviewed(code(content)).state is State.AWAITING


def test_more_files_than_signed_for_or_moved_lines_are_counted(here: ChangesHere) -> None:
    permit(here)
    files = [code(path=f"docs/{number}.md") for number in range(3)]
    assert here.reviewed(*files).state is State.AWAITING
    lines = [b"%d\n" % number for number in range(8)]
    put_on_branch(here, "docs/list.md", FileState(content=b"".join(lines)))
    backwards = code(b"".join(reversed(lines)), path="docs/list.md")
    assert here.reviewed(backwards).state is State.AWAITING


def test_tests_that_did_not_pass_or_warn_are_not_covered(here: ChangesHere) -> None:
    permit(here)
    for number, verdict in enumerate(sorted(set(TestVerdict) - {TestVerdict.PASSED})):
        here.tests.verdict = verdict
        change = here.reviewed(code(b"x = %d\n" % number))
        assert change.state in {State.AWAITING, State.TESTS_FAILED}, verdict
    assert count_uses(here) == 0


def test_a_dangerous_or_blocking_finding_or_no_scan_is_not_covered(here: ChangesHere) -> None:
    permit(here)
    here.toml = '[target]\nblocking_findings = ["shout"]\n'
    for rule, severity in (("x", Severity.DANGER), ("shout", Severity.INFO)):
        finding = Finding(rule=rule, severity=severity, path="src/app/answer.py", message="m")
        here.scanner.findings = (finding,)
        assert here.reviewed(code(rule.encode())).state is State.AWAITING
    here.scanner.error = AstraError("broken", next_step="mend it")
    assert here.reviewed(code(b"y = 1\n")).state is State.AWAITING
    assert count_uses(here) == 0


def make_mutation(killed: int, survived: int, *, other: tuple[str, ...] = ()) -> FakeMutation:
    faults = [
        Fault(
            path="src/app/answer.py",
            kind="constant",
            line=number,
            start=number,
            end=number + 1,
            text="43",
            first=1,
            last=2,
            in_function=True,
        )
        for number in range(killed + survived)
    ]
    verdicts = {
        fault: "killed" if number < killed else "survived" for number, fault in enumerate(faults)
    }
    return FakeMutation(MutationEvidence(now=Measured(verdicts=verdicts), other=other))


@pytest.mark.parametrize(
    ("mutation", "state"),
    [
        (make_mutation(8, 2), State.EXECUTED),
        (make_mutation(7, 3), State.AWAITING),
        (make_mutation(0, 0), State.AWAITING),
        (make_mutation(9, 0, other=("src/app/a.js",)), State.AWAITING),
        (FakeMutation(make_unmeasured("it is switched off")), State.AWAITING),
        (None, State.AWAITING),
    ],
)
def test_mutants_have_to_be_measured_and_noticed(
    tmp_path: Path, mutation: FakeMutation | None, state: State
) -> None:
    here = ChangesHere(tmp_path, mutation=mutation)
    permit(here, mutants=80)
    assert here.reviewed(code()).state is state
    here.close()


def test_evidence_about_another_commit_is_no_evidence(here: ChangesHere) -> None:
    permit(here)
    (permission,) = merge_permissions.list_usable(here.root.ledger, now=here.root.clock.now())
    small, large = gather(here), gather(here, code(b"x\n" * 20))
    assert permission_checks.find_objection(here.bench, small, permission) == ""
    borrowed = dataclasses.replace(
        small, facts={**large.facts, "files": small.facts["files"], "diff": small.facts["diff"]}
    )
    assert "lines" in permission_checks.find_objection(here.bench, borrowed, permission)
    other = gather(here, code(b"x = 1\n"))
    stolen = dataclasses.replace(other, runs=small.runs, tests=small.tests)
    objection = permission_checks.find_objection(here.bench, stolen, permission)
    assert objection == "its tests ran on another commit"


def test_a_branch_that_grew_after_the_evidence_is_not_what_is_merged(here: ChangesHere) -> None:
    permit(here)
    change = gather(here)
    commit = here.repo.commit(
        base=change.commit,
        result={"agent.py": FileState(content=b"import os\n")},
        message="more",
        when=here.root.clock.now(),
    )
    git(here.git_dir, "update-ref", f"refs/heads/{change.facts['branch']}", commit.id)
    here.steps.run_due()
    assert here.get(change.id).state is State.EXECUTED
    assert here.repo.head() == change.commit


def test_on_a_base_that_moved_everything_is_gathered_again(here: ChangesHere) -> None:
    permit(here)
    change = gather(here)
    here.commit_elsewhere("agent.py", b"def answer():\n    return 40\n")
    here.steps.run_due()
    merged = here.get(change.id)
    assert (merged.state, merged.round) == (State.EXECUTED, 2)
    assert (merged.commit, None) in here.tests.ran
    assert count_uses(here) == 1


def test_a_base_that_moves_after_the_check_merges_nothing(here: ChangesHere) -> None:
    permit(here)
    moved = ask_while(here, gather(here), lambda: here.commit_elsewhere("b.py", b"b = 1\n"))
    assert moved.state is State.GATHERING
    assert here.repo.head() != moved.commit
    assert moved.terms == {}


def test_one_that_is_taken_back_after_the_check_covers_nothing(here: ChangesHere) -> None:
    identifier = permit(here)

    def take_back() -> None:
        merge_permissions.remove(here.root.ledger, identifier, actor="user:1000")

    change = ask_while(here, gather(here), take_back)
    assert change.state is State.AWAITING
    assert count_uses(here) == 0


def test_one_that_is_taken_back_between_approval_and_merge_merges_nothing(
    here: ChangesHere,
) -> None:
    """The daemon died after the batch that approved it; the permission is gone when it is back."""
    identifier = permit(here)
    change = gather(here)
    approval = here.changes.review.ask(change.id)
    assert here.changes.merges.approve_by_permission(change.id, approval)
    merge_permissions.remove(here.root.ledger, identifier, actor="user:1000")
    head = here.repo.head()
    here.steps.run_due()
    assert here.get(change.id).state is State.AWAITING
    assert here.repo.head() == head


def test_a_change_that_only_names_a_permission_is_not_merged(here: ChangesHere) -> None:
    """Its use has to be on record, for this very commit."""
    identifier = permit(here)
    change = gather(here)
    approval = here.changes.review.ask(change.id)
    change = here.get(change.id)
    here.bench.append(change, events.approved(change, approval, {"permission": identifier}))
    merge_permissions.remove(here.root.ledger, permit(here), actor="user:1000")
    here.changes.merges.merge(change.id)
    assert here.get(change.id).state is State.GATHERING


def test_an_operator_who_says_no_meanwhile_comes_first(here: ChangesHere) -> None:
    permit(here)
    change = gather(here)

    def reject() -> None:
        here.desk.reject(str(here.get(change.id).approval), "no", actor="user:1000")

    assert ask_while(here, change, reject).state is State.REJECTED
    assert count_uses(here) == 0


def test_the_last_use_is_taken_once_by_two_changes_at_a_time(here: ChangesHere) -> None:
    permit(here, uses=1)
    first, second = gather(here), gather(here, code(b"x = 1\n", path="docs/x.py"))
    outcome = ask_while(here, first, lambda: here.changes.merges.ask(second.id))
    assert here.get(second.id).state is State.EXECUTED
    assert outcome.state is State.AWAITING
    assert count_uses(here) == 1


def test_uses_are_counted_and_end(here: ChangesHere) -> None:
    permit(here, uses=2)
    states = [here.reviewed(code(b"x = %d\n" % number)).state for number in range(3)]
    assert states == [State.EXECUTED, State.EXECUTED, State.AWAITING]


def test_a_clock_that_is_set_back_revives_nothing(here: ChangesHere) -> None:
    permit(here)
    here.root.clock.advance(days=2)
    here.root.ledger.append([Event(type="half_hour", actor="test")])
    assert here.reviewed(code(b"x = 1\n")).state is State.AWAITING
    here.root.clock.advance(days=-2)
    assert here.reviewed(code(b"x = 2\n")).state is State.AWAITING
    assert count_uses(here) == 0


def test_one_from_before_a_restore_is_void(here: ChangesHere) -> None:
    permit(here)
    here.root.ledger.append([Event(type=RESTORED, actor="operator")])
    (permission,) = merge_permissions.list_all(here.root.ledger, now=here.root.clock.now())
    assert permission.state == "void"
    assert here.reviewed(code()).state is State.AWAITING


def test_a_record_without_the_operators_signature_covers_nothing(here: ChangesHere) -> None:
    content = draft(here)
    event = Event(
        type=merge_permissions.ADDED,
        actor="operator",
        data=content,
        subject=str(content["permission"]),
    )
    here.root.ledger.append([event])
    assert here.reviewed(code()).state is State.AWAITING
    with pytest.raises(SignatureRejected):
        permit(here, KeyPair.generate())


def test_what_is_signed_is_what_its_sentence_says(here: ChangesHere) -> None:
    content = draft(here)
    for change in (
        {"words": "Nothing much."},
        {"paths": ["src/"]},
        {"most_lines": 999},
        {"deploy": True},
        {"extra": 1},
    ):
        forged = {**content, **change}
        signed = here.root.sign(merge_permissions.ADDED, forged)
        with pytest.raises(BadInput):
            merge_permissions.add(here.root.ledger, forged, signed, now=here.root.clock.now())


@pytest.mark.parametrize(
    "scope",
    [
        *({"paths": paths} for paths in ([], ["**"], ["*.md"], ["*/a"], ["/"], [""], ["/etc/"])),
        *({"paths": [path]} for path in ("../a", "docs/../a", "docs//a", "./docs", "docs/\n")),
        *({"uses": uses} for uses in (0, 21, True)),
        *({"mutants": mutants} for mutants in (-1, 101)),
        *({"most_lines": 1_001}, {"most_files": 0}),
        *({"until": until} for until in ("soon", "2020-01-01T00:00:00.000000Z", "2099-01-01")),
    ],
)
def test_what_is_too_wide_is_not_signed(here: ChangesHere, scope: dict[str, Any]) -> None:
    with pytest.raises((BadInput, Refused)):
        draft(here, **scope)


def test_a_chain_that_does_not_verify_needs_a_person(here: ChangesHere) -> None:
    permit(here)
    here.whole = False
    assert here.reviewed(code()).state is State.AWAITING


def test_it_deploys_only_where_staging_and_a_way_back_stand_ready(here: ChangesHere) -> None:
    permit(here, deploy=True)
    assert here.reviewed(code(b"x = 1\n")).state is State.AWAITING
    here.deploy_objection = ""
    change = here.reviewed(code(b"x = 2\n"))
    assert change.state is State.EXECUTED
    (request,) = here.root.ledger.records("deployment_requested", limit=10)
    assert request.data["change"] == change.id


def test_one_taken_back_after_the_merge_deploys_nothing(here: ChangesHere) -> None:
    identifier = permit(here, deploy=True)
    here.deploy_objection = ""
    change = gather(here)
    here.changes.merges.ask(change.id)
    assert here.get(change.id).state is State.EXECUTED
    merge_permissions.remove(here.root.ledger, identifier, actor="user:1000")
    here.steps.run_due()
    (declined,) = here.root.ledger.records("deployment_declined", limit=10)
    assert "is removed" in declined.data["reason"]
    assert "deployment_requested" not in here.types()


def test_one_for_merging_alone_deploys_nothing(here: ChangesHere) -> None:
    permit(here)
    here.deploy_objection = ""
    change = here.reviewed(code())
    assert change.state is State.EXECUTED
    with pytest.raises(AstraError, match="a standing permission merged it"):
        here.deployments.deploy(change.id, actor="agent:test")


PLAN = "plan_00000000000000aa"


def propose_as(here: ChangesHere, actor: str, *edits: Edit) -> Change:
    """Have somebody propose a change, and let its evidence be gathered."""
    proposal = Proposal(reason="it should be 42", edits=edits or (code(),))
    change = here.changes.proposals.propose(
        proposal, actor=actor, correlation="cor_0000000000000001"
    )
    here.steps.run_due()
    return here.get(change.id)


def test_one_that_was_signed_with_a_plan_covers_the_changes_of_that_plan(
    here: ChangesHere,
) -> None:
    identifier = permit(here, plan=PLAN)
    (permission,) = merge_permissions.list_usable(here.root.ledger, now=here.root.clock.now())
    assert permission.words.startswith(f"A change of the plan {PLAN} that touches nothing but")
    change = propose_as(here, f"agent:{PLAN}")
    assert change.state is State.EXECUTED
    assert change.terms == {"permission": identifier, "deploy": False}


@pytest.mark.parametrize(
    "actor",
    [
        "agent:plan_00000000000000ab",
        "agent:test",
        "operator",
        PLAN,
        f"agent:{PLAN}0",
        f"agent:{PLAN.upper()}",
        f"agent: {PLAN}",
    ],
)
def test_one_that_was_signed_with_a_plan_covers_nobody_elses_changes(
    here: ChangesHere, actor: str
) -> None:
    permit(here, plan=PLAN)
    assert propose_as(here, actor).state is State.AWAITING
    assert count_uses(here) == 0


@pytest.mark.parametrize(
    "path",
    ["tests/test_answer.py", "pyproject.toml", "src/astra/trusted/policy/gate.py", "other/a.py"],
)
def test_a_plans_signature_never_covers_tests_dependencies_the_core_or_other_paths(
    here: ChangesHere, path: str
) -> None:
    permit(here, plan=PLAN, paths=["pyproject.toml", "src/", "tests/"])
    try:
        change = propose_as(here, f"agent:{PLAN}", code(path=path))
    except Refused:
        return
    assert change.state is not State.EXECUTED
    assert count_uses(here) == 0


def test_the_plan_of_a_permission_cannot_be_taken_off_after_it_was_signed(
    here: ChangesHere,
) -> None:
    content = draft(here, plan=PLAN)
    signed = here.root.sign(merge_permissions.ADDED, content)
    for plan in ("", "plan_00000000000000ab"):
        wider = {**content, "plan": plan}
        wider["words"] = draft(here, plan=plan)["words"]
        with pytest.raises(AstraError):
            merge_permissions.add(here.root.ledger, wider, signed, now=here.root.clock.now())
    with pytest.raises(BadInput, match="does not say what it permits"):
        merge_permissions.add(
            here.root.ledger, {**content, "plan": ""}, signed, now=here.root.clock.now()
        )


@pytest.mark.parametrize(
    "event_type", [plan_events.ABORTED, plan_events.REJECTED, plan_events.REVISED]
)
def test_it_ends_with_the_plan_that_it_was_signed_with(here: ChangesHere, event_type: str) -> None:
    permit(here, plan=PLAN)
    change = here.changes.proposals.propose(
        Proposal(reason="it should be 42", edits=(code(),)),
        actor=f"agent:{PLAN}",
        correlation="cor_0000000000000001",
    )
    here.root.ledger.append([Event(type=event_type, actor="operator", data={}, subject=PLAN)])
    here.steps.run_due()
    assert here.get(change.id).state is State.AWAITING
    (permission,) = merge_permissions.list_all(here.root.ledger, now=here.root.clock.now())
    assert permission.state == "void"


def test_a_plan_that_is_ended_while_its_change_is_looked_at_merges_nothing(
    here: ChangesHere,
) -> None:
    permit(here, plan=PLAN)
    change = here.changes.proposals.propose(
        Proposal(reason="it should be 42", edits=(code(),)),
        actor=f"agent:{PLAN}",
        correlation="cor_0000000000000001",
    )
    here.changes.gathering.scan(change.id)
    here.changes.gathering.test(change.id)
    head = here.repo.head()
    aborted = Event(type=plan_events.ABORTED, actor="operator", data={}, subject=PLAN)
    after = ask_while(here, here.get(change.id), lambda: here.root.ledger.append([aborted]))
    assert after.state is not State.EXECUTED
    assert here.repo.head() == head


@pytest.mark.parametrize(
    "plan", ["*", "plan_", "goal_00000000000000aa", f"{PLAN}\n", 7, None, ["x"]]
)
def test_a_plan_is_named_by_its_id_or_not_at_all(here: ChangesHere, plan: Any) -> None:
    with pytest.raises(BadInput, match="id of a plan"):
        draft(here, plan=plan)


def test_one_that_was_signed_before_plans_could_be_named_still_covers(here: ChangesHere) -> None:
    content = {name: value for name, value in draft(here).items() if name != "plan"}
    event = Event(
        type=merge_permissions.ADDED,
        actor="operator",
        data=content,
        subject=str(content["permission"]),
    )
    signed = here.root.sign(merge_permissions.ADDED, content)
    now = here.root.clock.now()
    here.root.ledger.append([authority.signed_event(here.root.ledger, event, signed, now=now)])
    assert here.reviewed(code()).state is State.EXECUTED
