"""`astra review` on a real terminal: what waits is shown, and decided by keys."""

from pathlib import Path

from driver import Astra
from terminal import Terminal

HOSTILE = "https://example.com/\u202egnp"


def ask(astra: Astra, url: str) -> str:
    answer = astra.json("tools", "call", "fetch_url", f'{{"url": "{url}"}}', code=3)
    return answer["approval_id"]


def state_of(astra: Astra, identifier: str) -> str:
    return astra.json("approvals", "show", identifier)["state"]


def open_review(astra: Astra, *words: str) -> Terminal:
    return Terminal("review", *words, environment=astra.environment, folder=astra.folder)


def test_requests_are_looked_at_and_decided_one_after_the_other(astra: Astra) -> None:
    first, second = ask(astra, HOSTILE), ask(astra, "https://example.com/two")
    with open_review(astra, first) as terminal:
        terminal.wait_for(first)
        terminal.wait_for("a approve")
        assert "\u202e" not in terminal.shown
        assert "\\u202e" in terminal.shown
        terminal.press("a")
        terminal.wait_for("[y/N]")
        terminal.press("n\n")
        terminal.wait_for("Enter goes on")
        assert state_of(astra, first) == "pending"
        terminal.press("\n")
        terminal.wait_for("a approve")
        terminal.press("a")
        terminal.wait_for("[y/N]")
        terminal.press("y\n")
        terminal.wait_for(f"approved {first}, once")
        terminal.press("\n")
        terminal.wait_for(second)
        terminal.wait_for("r reject")
        terminal.press("r")
        terminal.wait_for("Reason, for the agent to read:")
        terminal.press("not this host\n")
        terminal.wait_for(f"rejected {second}")
        terminal.press("\n")
        assert terminal.wait_until_over() == 0
    assert (state_of(astra, first), state_of(astra, second)) == ("approved", "rejected")
    assert "nothing waits for you" in terminal.text


def test_nothing_that_is_signed_lies_behind_the_edge_of_the_screen(astra: Astra) -> None:
    waiting = ask(astra, "https://example.com/" + "weather/" * 30 + "?then=STEAL")
    with open_review(astra, waiting) as terminal:
        terminal.wait_for("» ")
        terminal.wait_for('STEAL"')
        terminal.press("q")
        assert terminal.wait_until_over() == 0


def test_a_goal_is_shown_in_words_before_what_is_signed(astra: Astra) -> None:
    words = ["--task", "investigate_topic", "--file", "agent.py", "--unsigned"]
    goal = astra.json("goals", "create", "Find out how it answers", *words)["id"]
    with open_review(astra, goal) as terminal:
        terminal.wait_for("1 goal")
        terminal.wait_for("succeeds when file agent.py")
        terminal.wait_for("planned by methods")
        terminal.press("\t")
        terminal.wait_for("all of it")
        terminal.press("q")
        assert terminal.wait_until_over() == 0


def test_without_a_terminal_it_says_what_to_use_instead(empty: Astra) -> None:
    answer = empty.json("review", code=1)
    assert answer["code"] == "no_terminal"
    assert "astra approvals" in answer["next_step"]


def test_looking_and_leaving_decides_nothing(astra: Astra, tmp_path: Path) -> None:
    waiting = ask(astra, "https://example.com/one")
    with open_review(astra) as terminal:
        terminal.wait_for("q quit")
        terminal.press("q")
        assert terminal.wait_until_over() == 0
    assert "1 still waits" in terminal.text
    assert state_of(astra, waiting) == "pending"
