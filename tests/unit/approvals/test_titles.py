"""Requests say what they are: two look the same only when they are the same."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.approvals.titles import WIDTH, title_call
from astra.trusted.kernel.text import printable
from astra.trusted.policy.call import Actor, Call, Footprint, Role, Tier

AGENT = Actor(role=Role.AGENT, name="test", door="test")
TEXTS = st.one_of(st.text(max_size=300), st.text("a \"'\\=", max_size=4))
ARGUMENTS = st.fixed_dictionaries(
    {
        "url": st.one_of(st.none(), TEXTS),
        "command": st.lists(TEXTS, max_size=5),
        "reason": TEXTS,
        "retries": st.integers(0, 3),
    }
)


def call(arguments: dict[str, Any], tool: str = "fetch_url", **more: Any) -> Call:
    return Call(
        tool=tool,
        tier=Tier.EXTERNAL,
        actor=AGENT,
        arguments=arguments,
        correlation="cor_0000000000000001",
        **more,
    )


def test_a_title_is_the_url_the_command_the_path() -> None:
    assert title_call(call({"url": "https://a.example/x"})) == "fetch_url https://a.example/x"
    assert title_call(call({"command": ["sh", "-c", "ls; rm x"]}, "run")) == "run sh -c 'ls; rm x'"
    assert title_call(call({"path": "notes/a.md", "content": "hi"}, "write_file")) == (
        'write_file notes/a.md content="hi"'
    )


def test_what_a_call_is_bound_to_is_in_its_title() -> None:
    files = ("commit 0123456789, main",)
    bound = call({"commit_message": "go"}, "deploy", footprint=Footprint(files=files))
    assert title_call(bound) == 'deploy commit_message="go"; commit 0123456789, main'


def test_whole_hashes_are_named_by_their_beginning_and_the_digest_tells_them_apart() -> None:
    def title(commit: str) -> str:
        files = (f"commit {commit}, {'e' * 64}",)
        return title_call(call({"reason": "go"}, "deploy", footprint=Footprint(files=files)))

    one, other = title("0123456789abcdef" * 2 + "0" * 8), title("0123456789abcdef" * 2 + "1" * 8)
    assert one.startswith('deploy reason="go"; commit 0123456789ab, eeeeeeeeeeee #')
    assert one != other


def test_what_a_tool_takes_anyway_is_left_out() -> None:
    arguments = {"url": "https://a.example/x", "characters": 16_000}
    usual = call(arguments, defaults=frozenset({"characters"}))
    assert title_call(usual) == "fetch_url https://a.example/x"
    assert title_call(call(arguments)) == "fetch_url https://a.example/x characters=16000"


def test_a_call_with_words_of_the_server_is_named_by_them_and_by_its_digest() -> None:
    def title(commit: str) -> str:
        footprint = Footprint(files=(f"commit {commit}",))
        words = f"deploy “greet kindly”, commit {commit[:12]}"
        arguments = {"commit_message": "go", "force_deploy": False}
        defaults = frozenset({"force_deploy"})
        return title_call(
            call(arguments, "deploy", footprint=footprint, words=words, defaults=defaults)
        )

    one, other = title("a" * 40), title("a" * 39 + "b")
    assert one.startswith('deploy “greet kindly”, commit aaaaaaaaaaaa commit_message="go" #')
    assert one != other


def test_titles_that_are_cut_differ_by_the_digest() -> None:
    long = "https://a.example/" + "x" * 500
    one, other = title_call(call({"url": f"{long}1"})), title_call(call({"url": f"{long}2"}))
    assert one != other
    assert one.split("#")[0] == other.split("#")[0]


@given(ARGUMENTS, ARGUMENTS)
def test_two_requests_look_the_same_only_if_they_are(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    left, right = call(one), call(other)
    same_title = title_call(left) == title_call(right)
    assert same_title == (left.digest() == right.digest())


@given(ARGUMENTS)
def test_a_title_is_one_line_that_hides_nothing(arguments: dict[str, Any]) -> None:
    title = title_call(call(arguments))
    assert "\n" not in title
    assert printable(title) == title
    assert len(title) <= WIDTH + len(" #01234567")
