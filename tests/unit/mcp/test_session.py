"""A relay's first line settles who a session is; it can narrow, and nothing else."""

import json
from typing import Any

import pytest

from astra.interfaces.mcp.session import CALLS, Opening
from astra.trusted.kernel.errors import BadInput


def test_what_a_relay_writes_is_what_the_daemon_reads() -> None:
    opening = Opening(operator=True, off=frozenset({"A", "B"}), names="dotted", calls=7)
    assert Opening.read(opening.to_line()) == opening


@pytest.mark.parametrize("line", [b"", b"[]", b"7", b'"astra"', b"{}", b"[" * 100_000, b"\xff"])
def test_a_line_that_is_none_opens_an_agents_session(line: bytes) -> None:
    assert Opening.read(line) is None


@pytest.mark.parametrize(
    "members",
    [
        None,
        [],
        {"operator": 1},
        {"operator": "true"},
        {"off": "A"},
        {"off": [1]},
        {"names": "any"},
        {"calls": True},
        {"calls": 1.5},
        {"role": "operator"},
    ],
    ids=str,
)
def test_a_wrong_first_line_is_refused(members: Any) -> None:
    with pytest.raises(BadInput):
        Opening.read(json.dumps({"astra": members}).encode())


@pytest.mark.parametrize(("asked", "given"), [(5, 5), (0, 0), (-1, 0), (10**9, CALLS)])
def test_calls_can_be_fewer_and_never_more(asked: int, given: int) -> None:
    assert Opening(calls=asked).make_session("x", dotted=False).budget.limit == given


def test_without_being_told_a_session_is_an_agents() -> None:
    assert not Opening().make_session("x", dotted=False).operator
