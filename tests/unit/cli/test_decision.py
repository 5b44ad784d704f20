"""What the terminal says and asks before the operator signs for a change."""

from typing import Any

from astra.interfaces.cli.decision import list_term_questions, render_facts


def fact(name: str, text: str, tone: str = "plain") -> dict[str, Any]:
    red = tone == "bad"
    return {"name": name, "text": text, "tone": tone, "red": red, "term": None}


def paint(text: str, colour: str) -> str:
    return f"<{colour}>{text}</{colour}>"


def test_every_fact_has_a_line_and_red_ones_are_red() -> None:
    decision = {
        "facts": [fact("tests", "13 of 13 passed", "good"), fact("findings", "6 danger", "bad")],
        "carried_over": None,
    }
    assert list(render_facts(decision, paint)) == [
        "  tests      <green>13 of 13 passed</green>",
        "  findings   <red>6 danger</red>",
    ]


def test_a_round_after_the_base_moved_says_that_the_signature_is_void() -> None:
    decision = {"facts": [], "carried_over": {"signed_before": True}}
    (line,) = render_facts(decision, paint)
    assert "carried over and tested again; what was signed before is void" in line


def test_hostile_text_stays_on_one_line() -> None:
    decision = {"facts": [fact("deploy", "a\nb\x1b[2J")], "carried_over": None}
    (line,) = render_facts(decision, paint)
    assert "\n" not in line
    assert "\x1b" not in line


def test_a_full_screen_review_asks_for_each_term_by_itself() -> None:
    details = {"protected": ["a\x1b[2J.py", "b.py"], "contains_quarantined": ["c" * 40]}
    merging = list_term_questions(details, deploy=False)
    assert merging == [
        "PROTECTED: may a\\x1b[2J.py be changed?",
        "PROTECTED: may b.py be changed?",
    ]
    (quarantine,) = list_term_questions(details, deploy=True)[len(merging) :]
    assert quarantine.startswith("QUARANTINE: cccccccccccc failed in service")
