"""The screen a reviewer decides on: all of it in the terminal's width, and red where it matters."""

from typing import Any

from astra.interfaces.cli.review import render_screen

FINDING = {
    "severity": "danger",
    "path": "tests/test_agent.py",
    "line": 12,
    "message": "a check of test_the_answer may not count now (early return)",
    "rule": "check-guarded",
    "excerpt": "assert answer() == 42",
}


def run(label: str, verdict: str, **more: Any) -> dict[str, Any]:
    report = {"verdict": verdict, "reason": "1 of 9 tests failed", "failures": [], "flaky": []}
    counts = {"passed": 8, "failed": 1, "errors": 0, "skipped": 0, "seconds": 1.5}
    return {"label": label, "report": {**report, **counts, **more}}


def change(**more: Any) -> dict[str, Any]:
    failed = [{"name": "test_new", "message": "it was so before"}]
    found = {
        "id": "chg_0123456789abcdef",
        "state": "awaiting_approval",
        "round": 1,
        "reason": "the answer was wrong for those who asked twice, and nobody noticed " * 3,
        "goal": None,
        "plan": None,
        "proposed_by": "agent:user:0",
        "created_at": "2026-01-01T00:00:00.000000Z",
        "commit": "c" * 40,
        "branch": "astra/chg_0123456789abcdef",
        "base": "b" * 40,
        "target_branch": "main",
        "supersedes": None,
        "diff": {"files": 1, "added": 2, "removed": 1},
        "files": [{"path": "agent.py", "how": "modified"}],
        "protected": [],
        "tests_touched": [],
        "dependencies": [],
        "findings": [FINDING],
        "evidence": {
            "verdict": "passed",
            "words": "tests passed; the tests as they were: passed on the new code",
            "complete": True,
            "warnings": ["7 fewer tests ran than with the tests as they were"],
            "runs": [
                run("change", "passed"),
                run("base tests, new code", "passed"),
                run("new tests, base code", "failed", failures=failed),
            ],
        },
        "comments": [],
        "conflict": None,
        "decision": {"reason": ""},
        "next": "decide",
    }
    return {**found, **more}


def painted(found: dict[str, Any], width: int = 0) -> list[str]:
    return list(render_screen(found, lambda text, colour: f"<{colour}>{text}</{colour}>", width))


def plain(found: dict[str, Any], width: int = 0) -> list[str]:
    return list(render_screen(found, lambda text, _colour: text, width))


def test_secret_files_that_the_tests_found_empty_are_named() -> None:
    evidence = change()["evidence"] | {"runs": [run("change", "failed", withheld=["tests/.env"])]}
    lines = "\n".join(plain(change(evidence=evidence)))
    assert "empty for the tests: tests/.env" in lines
    assert "empty for the tests" not in "\n".join(plain(change()))


def test_every_line_fits_the_terminal_and_stays_in_its_column() -> None:
    for width in (80, 100):
        lines = plain(change(), width)
        assert max(map(len, lines)) <= width
        assert len(lines) < 40
    second = plain(change(), 80)[2]
    assert second.startswith(" " * 15)
    assert second.strip()


def test_without_a_terminal_no_line_is_broken() -> None:
    assert any("awaiting" not in line and len(line) > 150 for line in plain(change()))


def test_what_should_worry_a_reviewer_is_red() -> None:
    text = "\n".join(painted(change()))
    assert "<red>1 danger</red>" in text
    assert "<red>tests/test_agent.py:12" in text
    assert "<red>7 fewer tests ran" in text


def test_mutants_stand_beside_the_counts_and_are_red_where_some_are_lost() -> None:
    words = "mutants: 2 of 9 (22 %) survive; with the tests as they were 0 of 9 (0 %)"
    lost = [{"path": "agent.py", "line": 2, "kind": "return_none", "text": "None"}]
    document = change()
    document["evidence"]["mutation"] = {"words": words, "lost": lost, "survivors": lost}
    text = "\n".join(painted(document))
    assert "<red>2 of 9 (22 %) survive" in text
    assert "no longer noticed: agent.py:2 return none" in text
    document["evidence"]["mutation"]["lost"] = []
    assert "<red>2 of 9" not in "\n".join(painted(document))


def test_a_new_test_that_fails_on_the_old_code_is_good_news() -> None:
    text = "\n".join(painted(change()))
    assert "new tests, base code   <green>failed</green>" in text
    assert "as it should be" in text
    assert "<dim>test_new: it was so before</dim>" in text
    found = change()
    found["evidence"]["runs"][2] = run("new tests, base code", "passed")
    assert "new tests, base code   <yellow>passed</yellow>" in "\n".join(painted(found))


def test_the_plan_and_what_it_was_granted_are_shown() -> None:
    plan = {
        "id": "plan_1",
        "state": "running",
        "goals": ["Answer \x1b[2J better"],
        "grants": {"write_paths": ["agent.py"], "network_domains": ["example.org"]},
    }
    text = "\n".join(plain(change(plan=plan)))
    assert "plan_1 (running)  Answer \\x1b[2J better" in text
    assert "write paths: agent.py" in text
    assert "network domains: example.org" in text
