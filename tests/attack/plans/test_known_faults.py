"""Twenty faults of an earlier system of this kind, each of which would be found here."""

import ast
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import astra.plans
from astra.adapters.plan_files import PlanFolder
from astra.bootstrap.build import build_runtime
from astra.plans import events, schema, states
from astra.plans.states import BLOCKED, State
from astra.trusted.kernel.errors import AstraError, LedgerLocked, NotFound, SignatureRejected
from astra.trusted.ledger import views
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Actor, Call, Footprint, Role, Tier
from astra.trusted.settings import environment
from driver import Astra
from plans_at_work import NOTES, PlansAtWork, document, done, down, tool, write


@pytest.fixture
def work() -> PlansAtWork:
    return PlansAtWork()


def test_01_the_gate_is_not_driven_by_the_models_own_booleans(work: PlansAtWork) -> None:
    lie = {"destructive": False, "read_only": True, "approved": True, "safe": True, "tier": 0}
    work.script({**tool("delete_file", path=f"{NOTES}/a"), **lie})
    plan = work.run(work.approved(skills=["files", "delete_file"]))
    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE
    assert work.effects == []


def test_02_consent_is_asked_by_code_that_exists_and_fails_closed(
    astra: Astra, work: PlansAtWork
) -> None:
    """The real wiring has every part a decision needs, and a bad signature moves nothing."""
    runtime = build_runtime(environment.load(astra.environment))
    try:
        control = runtime.running.control
        assert control.runner.acting.contracts is runtime.planning.contracts
        assert callable(runtime.running.runner.boxes.end)
    finally:
        runtime.close()
    work.script(tool("delete_file", path=f"{NOTES}/a"))
    plan = work.run(work.approved(skills=["files", "delete_file"]))
    forged = Signed(statement={}, signature="", key=work.gate.root.operator.public)
    with pytest.raises(SignatureRejected):
        work.running.control.decide(plan.id, "grant", forged)
    assert work.run(plan).state is State.BLOCKED_ON_DESTRUCTIVE
    assert work.effects == []


def test_03_no_door_grants_the_root(work: PlansAtWork) -> None:
    with pytest.raises(AstraError, match="cannot be granted"):
        work.gate.planning.allowlist.content("read_paths", "/")
    with pytest.raises(AstraError, match="cannot be granted"):
        work.approved(read_paths=["/"])
    work.script(write("/"), write("/etc/passwd"), done())
    plan = work.run(work.approved())
    assert plan.state is State.COMPLETED, "what nobody may grant is refused, not asked for"
    assert work.outcomes(plan) == ["refused", "refused", "ok"]


@pytest.mark.parametrize(
    ("name", "reason"), [("plan.json", "plan_tampered"), ("grants.json", "grants_tampered")]
)
@pytest.mark.parametrize("how", ["edited", "removed", "emptied"])
def test_04_every_file_of_a_contract_is_inside_the_tamper_check(
    work: PlansAtWork, name: str, reason: str, how: str
) -> None:
    work.script(write(f"{NOTES}/a"), write(f"{NOTES}/b"))
    plan = work.approved()
    work.run(plan, most=4)
    assert len(work.effects) == 1
    files, key = work.gate.plan_files.files, f"{plan.id}/{name}"
    if how == "removed":
        del files[key]
    else:
        files[key] = "" if how == "emptied" else files[key].replace(NOTES, "/data/persona_space")
    if how == "edited" and name == "plan.json":
        files[key] += " "
    found = work.run(plan)
    assert (found.state, found.reason) == (State.ABORTED, reason)
    assert len(work.effects) == 1
    assert work.boxes.ended == [plan.id]


def test_05_resuming_keeps_the_history_of_the_checkpoint(work: PlansAtWork) -> None:
    work.files[f"{NOTES}/x"] = "read before the pause"
    model = work.script(tool("read_file", path=f"{NOTES}/x"), done())
    plan = work.approved()
    work.run(plan, most=4)
    work.running.control.pause(plan.id, actor="user:1")
    work.running = work.new_running()
    work.decide(plan, "resume")
    work.run(plan)
    assert "read before the pause" in model.last()


def test_06_the_operators_replies_are_heard(work: PlansAtWork) -> None:
    model = work.script({"kind": "message", "text": "Which?", "question": True}, done())
    plan = work.run(work.approved())
    work.running.control.message(plan.id, "the red one", actor="user:1")
    work.run(plan)
    assert "the red one" in model.last()


def test_07_two_who_set_the_state_at_once_never_write_over_each_other(work: PlansAtWork) -> None:
    plan = work.approved()
    work.run(plan, most=2)
    real = work.ledger.append

    def aborted_first(events: Any, **options: Any) -> Any:
        work.ledger.append = real
        work.running.control.abort(plan.id, actor="user:1")
        return real(events, **options)

    work.ledger.append = aborted_first
    with pytest.raises(states.IllegalMove, match="is aborted and cannot become paused"):
        work.running.control.pause(plan.id, actor="user:2")
    assert work.state(plan) is State.ABORTED


@pytest.mark.parametrize("blocked", sorted(BLOCKED))
def test_08_every_block_has_a_way_out(work: PlansAtWork, blocked: State) -> None:
    outside = "/data/persona_space/other/x"
    scripts: dict[State, tuple[list[Any], dict[str, Any], tuple[str, dict[str, Any]]]] = {
        State.BLOCKED_ON_PERMISSION: ([write(outside), done()], {}, ("grant", {"once": True})),
        State.BLOCKED_ON_DESTRUCTIVE: (
            [tool("delete_file", path=f"{NOTES}/a"), done()],
            {"skills": ["files", "delete_file"]},
            ("grant", {}),
        ),
        State.BLOCKED_ON_BUDGET: (
            [tool("nothing"), done()],
            {"budget": 1},
            ("extend_budget", {"steps": 5}),
        ),
        State.BLOCKED_ON_LLM: ([down(), down(), down(), down(), done()], {}, ("resume", {})),
    }
    sayings, manifest, (action, how) = scripts[blocked]
    work.script(*sayings)
    plan = work.approved(document(**manifest))
    for seconds in (5, 15, 45, 0):
        plan = work.run(plan)
        work.clock.advance(seconds=seconds)
    assert plan.state is blocked
    work.decide(plan, action, **how)
    assert work.run(plan).state is State.COMPLETED


def test_09_an_approval_is_never_half_written(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    folder = PlanFolder(tmp_path)

    class HalfWay(dict[str, str]):
        def items(self) -> Any:
            yield "plan.json", "{}"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.write("plan_00000000000000aa", HalfWay())
    assert list((tmp_path / "agents").iterdir()) == []


def test_10_nobody_else_may_read_the_files(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    kept = os.umask(0)
    try:
        PlanFolder(tmp_path).write("plan_00000000000000aa", {"grants.json": "{}"})
    finally:
        os.umask(kept)
    folder = tmp_path / "agents" / "plan_00000000000000aa"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "grants.json").stat().st_mode) == 0o600


def test_11_a_crash_loses_no_announcement(work: PlansAtWork) -> None:
    work.script({"kind": "message", "text": "hello"}, done())
    plan = work.run(work.approved())
    work.running = work.new_running()
    work.clock.advance(seconds=61)
    work.running.announcements.flush()
    assert work.heard.told == [(("phone",), plan.id, {"agent_update": 1, "agent_done": 1})]


def test_11b_a_channel_that_breaks_loses_no_announcement(work: PlansAtWork) -> None:
    work.script(done())
    plan = work.run(work.approved())
    work.clock.advance(seconds=61)
    real, work.heard.tell = work.heard.tell, _breaks  # type: ignore[method-assign]
    with pytest.raises(OSError, match="the channel broke"):
        work.running.announcements.flush()
    work.heard.tell = real  # type: ignore[method-assign]
    work.running.announcements.flush()
    assert work.heard.told == [(("phone",), plan.id, {"agent_done": 1})]


def _breaks(*_arguments: Any) -> None:
    raise OSError("the channel broke")


def test_12_the_loop_is_one_step_that_a_test_can_take() -> None:
    """No part of the domain sleeps, starts threads or reads the clock of the machine."""
    folder = Path(astra.plans.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {node.module or ""}
            else:
                continue
            assert not names & {"time", "threading", "asyncio", "multiprocessing"}, path


def test_13_a_plan_of_an_older_schema_still_loads(work: PlansAtWork) -> None:
    old = document()
    old["permission_manifest"] = old.pop("manifest")
    old["estimated_minutes"] = old.pop("estimated_duration_minutes")
    work.script(write(f"{NOTES}/a"), done())
    plan = work.run(work.approved(old))
    assert plan.state is State.COMPLETED
    assert work.effects == [("write_file", f"{NOTES}/a")], "with what the old one granted"
    assert plan.plan == work.approved(document()).plan
    assert sorted(schema.LADDER) == list(range(schema.SCHEMA_VERSION))


def test_13b_a_stored_plan_that_cannot_be_read_breaks_no_other(work: PlansAtWork) -> None:
    """As after going back to an older Astra: it is listed, it does not run, it can be ended."""
    strange = work.approved()
    data = {"plan": {"schema_version": 99}, "plan_hash": "0" * 64}
    event = events.make_event(
        events.REVISED, strange.id, data, actor="user:1", correlation=strange.correlation
    )
    work.ledger.append([event])
    work.gate.desk.ask(
        kind="plan",
        subject_id=strange.id,
        digest="0" * 64,
        summary="as the newer version asked",
        details={},
        actor="daemon",
        correlation=strange.correlation,
    )
    work.script(done())
    assert work.run(work.approved()).state is State.COMPLETED
    work.running.runner.watch()
    assert strange.id in [plan.id for plan in work.register.list_plans()[0]]
    work.gate.planning.plans.reject(strange.id, "unreadable", actor="user:1")
    assert work.state(strange) is State.REJECTED


def test_14_the_budget_counts_calls_and_not_loops(work: PlansAtWork) -> None:
    work.script("garbage", "garbage", tool("nothing"), down(), tool("more"))
    plan = work.approved(document(budget=3))
    work.run(plan)
    work.clock.advance(seconds=5)
    plan = work.run(plan)
    assert (plan.state, plan.spent, plan.calls) == (State.BLOCKED_ON_BUDGET, 3, 5)


def test_15_no_stored_path_is_opened_unchecked(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = PlanFolder(tmp_path)
    with pytest.raises(NotFound):
        folder.read("../secret/..", "secret")
    (tmp_path / "agents" / "plan_00000000000000aa").mkdir()
    (tmp_path / "agents" / "plan_00000000000000aa" / "plan.json").symlink_to(secret)
    assert folder.read("plan_00000000000000aa", "plan.json") == ""


def test_16_two_runtimes_never_share_a_namespace(astra: Astra) -> None:
    runtime = build_runtime(environment.load(astra.environment))
    try:
        with pytest.raises(LedgerLocked):
            build_runtime(environment.load(astra.environment))
        one, two = (
            runtime.planning.plans.draft(
                document(write_paths=[]), actor="a", correlation="cor_00000000000000aa"
            )
            for _ in range(2)
        )
        assert one.id != two.id
    finally:
        runtime.close()


def test_17_neither_secrets_nor_content_leave_through_announcements(work: PlansAtWork) -> None:
    work.script({"kind": "message", "text": "the plan of the vault is under the mat"}, done())
    work.run(work.approved())
    work.clock.advance(seconds=61)
    work.running.announcements.flush()
    assert work.heard.told
    assert "vault" not in json.dumps(work.heard.told)


def test_18_a_glob_is_never_widened_to_its_folder(work: PlansAtWork) -> None:
    plan = work.approved(write_paths=[f"{NOTES}/*.md"])
    work.run(plan, most=2)
    terms = work.gate.planning.contracts.terms(plan.id)
    allowed = {
        name: not terms.find_missing_grants(wants(f"{NOTES}/{name}"))
        for name in ("a.md", "a.key", "sub/a.md", "")
    }
    assert allowed == {"a.md": True, "a.key": False, "sub/a.md": False, "": False}


def wants(path: str) -> Call:
    return Call(
        tool="write_file",
        tier=Tier.LOCAL_WRITE,
        actor=Actor(role=Role.AGENT, name="x", door="plan"),
        arguments={},
        footprint=Footprint(write_paths=(path,)),
        correlation="cor_00000000000000aa",
    )


def test_19_keys_that_nobody_knows_do_not_crash_the_loader(work: PlansAtWork) -> None:
    plan = document()
    plan["from_the_future"] = {"deep": [1, 2, {"x": None}]}
    plan["manifest"]["budget"] = 7
    work.script(done())
    assert work.run(work.approved(plan)).state is State.COMPLETED
    (drafted,) = views.records(work.ledger, type_="agent_plan_drafted")
    assert drafted.data["ignored_keys"] == ["from_the_future", "manifest.budget"]


def test_20_two_replies_within_one_moment_are_both_kept(work: PlansAtWork) -> None:
    model = work.script(done())
    plan = work.approved()
    work.run(plan, most=2)
    for words in ("first", "second", "second"):
        work.running.control.message(plan.id, words, actor="user:1")
    work.run(plan)
    heard = [part for part in model.prompts[0].data if "message from the operator" in part]
    assert [part.splitlines()[1] for part in heard] == ["first", "second", "second"]
