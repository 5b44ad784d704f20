"""What a token is for: tools, a tier, paths, routes; and that all of it only narrows."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.door.rules import RULES, find_scope_objection
from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.policy.call import Actor, Call, Role, Tier
from astra.trusted.policy.gate import Known, decide
from astra.trusted.policy.limits import (
    HIGHEST_TIER,
    NO_LIMITS,
    Limits,
    build_limits,
    read_limits,
)

DOCS = Limits(paths=("docs/**",))


def test_the_highest_tier_is_the_gates() -> None:
    assert max(Tier) == HIGHEST_TIER
    assert not NO_LIMITS.narrow_calls


@pytest.mark.parametrize(
    ("touched", "inside"),
    [
        (("docs/a.md",), True),
        (("docs/sub/a.md", "docs/b.md"), True),
        (("docs/",), True),
        (("docs/sub/",), True),
        ((), True),
        (("src/a.py",), False),
        (("docs/a.md", "src/a.py"), False),
        (("docs/../src/a.py",), False),
        (("docs/./a.md",), False),
        (("docs//a.md",), False),
        (("documents/",), False),
        (("docs",), False),
        (("",), False),
        (("/own/docs/a.md",), False),
        (None, False),
    ],
)
def test_paths_are_the_files_that_globs_name(
    touched: tuple[str, ...] | None, *, inside: bool
) -> None:
    assert (DOCS.find_path_objection(touched) == "") is inside


def test_a_folder_is_covered_only_by_a_glob_for_all_of_it() -> None:
    assert Limits(paths=("docs/*.md",)).find_path_objection(("docs/",))
    assert Limits(paths=("d*/**",)).find_path_objection(("docs/",))
    assert not Limits(paths=("/own/notes/**",)).find_path_objection(("/own/notes/",))
    assert Limits(paths=("/own/notes/**",)).find_path_objection(("/own/",))


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"tools": [], "tier": 2, "paths": []},
        {"tools": [], "tier": 2, "paths": [], "routes": [], "more": []},
        {"tools": "x", "tier": 2, "paths": [], "routes": []},
        {"tools": ["b", "a"], "tier": 2, "paths": [], "routes": []},
        {"tools": ["a", "a"], "tier": 2, "paths": [], "routes": []},
        {"tools": [1], "tier": 2, "paths": [], "routes": []},
        {"tools": ["*"], "tier": 2, "paths": [], "routes": []},
        {"tools": ["a b"], "tier": 2, "paths": [], "routes": []},
        {"tools": ["a*b"], "tier": 2, "paths": [], "routes": []},
        {"tools": [], "tier": True, "paths": [], "routes": []},
        {"tools": [], "tier": 3, "paths": [], "routes": []},
        {"tools": [], "tier": 2, "paths": ["/etc/**"], "routes": []},
        {"tools": [], "tier": 2, "paths": ["../x"], "routes": []},
        {"tools": [], "tier": 2, "paths": ["docs/**/**"], "routes": []},
        {"tools": [], "tier": 2, "paths": [], "routes": ["PUT /x"]},
        {"tools": [], "tier": 2, "paths": [], "routes": ["GET /x\n"]},
        {"tools": [f"t{n:03}" for n in range(101)], "tier": 2, "paths": [], "routes": []},
    ],
)
def test_what_is_unclear_is_no_scope(value: Any) -> None:
    with pytest.raises(AstraError):
        read_limits(value)


def test_what_was_typed_is_signed_in_one_spelling() -> None:
    limits = build_limits(tools=["b", "a", "b"], paths=["docs/./**"], routes=["GET /x"], tier=1)
    assert read_limits(limits.as_dict()) == limits
    assert limits.tools == ("a", "b")
    with pytest.raises(BadInput):
        build_limits(routes=["nothing"])


NAMES = st.sampled_from(["write_file", "astra.plans.get", "astra.schedule.create", "fetch_url"])
LIMITS = st.builds(
    Limits,
    tools=st.sampled_from([(), ("write_file",), ("astra.*",), ("astra.plans.*", "fetch_url")]),
    tier=st.sampled_from([0, 1, 2]),
    paths=st.sampled_from([(), ("docs/**",), ("/own/**",)]),
    routes=st.sampled_from([(), ("GET /api/status",), ("POST /api/changes", "POST /mcp")]),
)


@given(
    limits=LIMITS,
    tool=NAMES,
    role=st.sampled_from(list(Role)),
    tier=st.sampled_from(list(Tier)),
    touched=st.sampled_from([None, (), ("docs/a.md",), ("src/a.py",), ("/own/a",)]),
    later=st.sampled_from([(), (("write_file", 1),), (("fetch_url", 2),)]),
    stopped=st.booleans(),
)
def test_limits_never_allow_what_would_be_denied_without_them(
    *, limits: Limits, tool: str, role: Role, tier: Tier, touched: Any, later: Any, stopped: bool
) -> None:
    def judge(token_limits: Limits) -> bool:
        call = Call(
            tool=tool,
            tier=tier,
            actor=Actor(role=role, name="test", door="http"),
            arguments={},
            correlation="cor_0000000000000001",
            limits=token_limits,
            touched=touched,
            later=later,
        )
        return decide(call, Known(flags={}, stopped=stopped)).allowed

    assert judge(NO_LIMITS) or not judge(limits)


@given(limits=LIMITS, route=st.sampled_from(sorted(RULES)))
def test_a_scope_opens_no_route_that_it_does_not_name(limits: Limits, route: str) -> None:
    objection = find_scope_objection(route, limits)
    if limits.routes and route not in limits.routes:
        assert objection or route == "GET /api/session"
    if limits == NO_LIMITS:
        assert not objection


@pytest.mark.parametrize("route", sorted(RULES))
def test_a_token_for_some_tools_decides_nothing_beside_the_gate(route: str) -> None:
    """Whatever routes it names: what is not a call of a tool is only a look."""
    limits = Limits(tools=("astra.health",), routes=(route,))
    if find_scope_objection(route, limits) == "":
        is_look = route.startswith(("GET ", "POST /mcp", "DELETE /mcp"))
        assert is_look or Role.AGENT in RULES[route].roles
