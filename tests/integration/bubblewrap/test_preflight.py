import pytest

from astra.adapters.bubblewrap import preflight
from astra.adapters.bubblewrap.attacks.arena import Result
from astra.adapters.bubblewrap.attacks.cases import ATTACKS
from astra.adapters.bubblewrap.preflight import judge_results, suggest_fix
from astra.trusted.sandbox import machine


def test_the_box_holds_on_this_machine() -> None:
    assert preflight.preflight().problems == ()


def test_every_canary_is_an_attack_that_exists() -> None:
    assert {attack.name for attack in ATTACKS} >= preflight.CANARIES


def test_a_missing_program_is_one_problem_with_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "SYSTEM_PATH", "/nowhere")
    machine.inspect_machine.cache_clear()
    try:
        (problem,) = preflight.preflight().problems
    finally:
        machine.inspect_machine.cache_clear()
    assert "bubblewrap" in problem.fix


def test_a_box_that_cannot_start_is_one_problem() -> None:
    words = "not tried: bwrap: No permissions to create new namespace"
    table = [Result(name=n, category="x", expected=("EPERM",), outcome=words) for n in "abc"]
    (problem,) = judge_results(
        table, {"kernel/apparmor_restrict_unprivileged_userns": "1"}
    ).problems
    assert "AppArmor" in problem.fix


def test_an_attempt_that_got_through_is_a_problem_of_its_own() -> None:
    table = [
        Result(name="a", category="x", expected=("EPERM",), outcome="out: secret"),
        Result(name="b", category="x", expected=("EPERM",), outcome="EPERM"),
    ]
    found = judge_results(table, {})
    assert not found.ok
    assert "out: secret" in found.problems[0].what


@pytest.mark.parametrize(
    ("words", "settings", "hint"),
    [
        ("x", {"kernel/unprivileged_userns_clone": "0"}, "unprivileged_userns_clone=1"),
        ("x", {"user/max_user_namespaces": "0"}, "max_user_namespaces"),
        ("bwrap: Unknown option --disable-userns", {}, "0.8"),
        ("Creating new namespace failed: Operation not permitted", {}, "container"),
        ("something else", {}, "doctor"),
    ],
)
def test_the_fix_follows_from_what_was_seen(
    words: str, settings: dict[str, str], hint: str
) -> None:
    assert hint in suggest_fix(words, settings)
