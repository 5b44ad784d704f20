"""The stories of `make autonomy`: a wish in a person's words, a test for it, and how to tell.

Each is an edit to a function that exists in the example server. The test is there before the agent
begins and fails; nothing in the wish says where the code is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Fetch = Callable[[str], tuple[int, str]]
Send = Callable[[str, dict[str, str]], tuple[int, str]]


@dataclass(frozen=True, kw_only=True)
class Story:
    name: str
    wish: str
    holds: Callable[[Fetch, Send], bool]
    """Asks the deployed server itself."""
    test: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further files of the target, by their paths."""
    tests_folder: str = "checks"
    may_touch: str = ""
    """The one path that may change; any where it is empty."""

    def list_files(self) -> dict[str, str]:
        """Give what is put into the target before the story begins."""
        test = {"checks/test_wish.py": _FIND_PACKAGE + self.test} if self.test else {}
        return {**self.files, **test}


_FIND_PACKAGE = 'import sys\n\nsys.path.insert(0, ".")\n'


GREETING = Story(
    name="greeting",
    wish="The greeting should be 'Good day from the agent' instead of 'Hello from the agent'.",
    test="""
from agent_server.api import greeting


def test_the_greeting_says_good_day():
    assert greeting() == "Good day from the agent"
""",
    holds=lambda fetch, _send: "Good day from the agent" in fetch("/api/greeting")[1],
)

NOTE_LENGTH = Story(
    name="note-length",
    wish="A note may have up to 2000 characters instead of 1000.",
    test="""
from agent_server import api


def test_a_note_may_have_two_thousand_characters():
    assert api._LONGEST_NOTE == 2000
""",
    holds=lambda _fetch, send: (
        send("/api/notes", {"text": "x" * 1999})[0] == 201
        and send("/api/notes", {"text": "x" * 2001})[0] == 400
    ),
)

PAUSE = Story(
    name="pause",
    wish="The background loop should pause for 2 seconds between two thoughts instead of 1 second.",
    test="""
from agent_server import loop


def test_the_loop_pauses_for_two_seconds():
    assert loop._PAUSE_SECONDS == 2
""",
    holds=lambda fetch, _send: '"status": "ok"' in fetch("/healthz")[1],
)

STORIES = (GREETING, NOTE_LENGTH, PAUSE)
