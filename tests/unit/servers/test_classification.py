"""What a call of another server's tool is, by the signed entry alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.kernel.errors import BadInput, BadSetting
from astra.trusted.policy.call import Footprint, Tier
from astra.trusted.servers import classification
from astra.trusted.servers.plain_schema import rewrite_schema
from astra.trusted.settings.configuration import parse
from astra.trusted.settings.server_settings import ArgumentRule, McpServer


def make_server(**fields: Any) -> McpServer:
    return McpServer(**{"name": "x", "command": "x", **fields})


def rule(argument: str, kind: Any, most: int = 0) -> ArgumentRule:
    return ArgumentRule(argument=argument, kind=kind, most=most)


@given(st.text(max_size=20), st.dictionaries(st.sampled_from(["a*", "*b", "?"]), st.just(0)))
def test_a_tool_is_below_tier_2_only_where_the_entry_names_it(
    tool: str, tiers: dict[str, int]
) -> None:
    tier = classification.find_tier(make_server(tiers=tiers), tool)
    is_named = tool.startswith("a") or tool.endswith("b") or len(tool) == 1
    assert tier is Tier.EXTERNAL or (is_named and tiers)


def test_the_strictest_pattern_counts_and_a_name_counts_before_it() -> None:
    server = make_server(tiers={"*": 0, "write_*": 1, "*_all": 2, "list_all": 0})
    tiers = {
        name: int(classification.find_tier(server, name))
        for name in ("read", "write_one", "write_all", "list_all")
    }
    assert tiers == {"read": 0, "write_one": 1, "write_all": 2, "list_all": 0}


@pytest.mark.parametrize(
    ("value", "domain"),
    [
        ("https://Example.COM/x", "example.com"),
        ("http://example.com:8080/", "example.com:8080"),
        ("example.com", "example.com"),
        ("example.com:8443", "example.com:8443"),
    ],
)
def test_a_host_is_read_out_of_an_address_or_a_name(value: str, domain: str) -> None:
    server = make_server(arguments=(rule("url", "host"),))
    assert classification.find_footprint(server, "t", {"url": value}).domains == (domain,)


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com@evil.net/",
        "https://example.com\\@evil.net/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://2130706433/",
        "localhost",
        "",
        "https://",
        7,
        {"url": "https://example.com"},
        ["https://example.com", 5],
    ],
)
def test_what_is_no_host_is_refused(value: object) -> None:
    server = make_server(arguments=(rule("url", "host"),))
    with pytest.raises(BadInput):
        classification.find_footprint(server, "t", {"url": value})


@pytest.mark.parametrize("value", ["x", "../x", "~/x", "/a/../b", "/a\0b", 5, ["/a", "b"]])
def test_what_is_no_whole_path_is_refused(value: object) -> None:
    server = make_server(arguments=(rule("path", "write_path"),))
    with pytest.raises(BadInput):
        classification.find_footprint(server, "t", {"path": value})


def test_a_path_in_an_object_or_a_list_is_found() -> None:
    server = make_server(arguments=(rule("to.path", "write_path"), rule("paths", "read_path")))
    arguments = {"to": {"path": "/a//b/"}, "paths": ["/c", "/d"]}
    footprint = classification.find_footprint(server, "t", arguments)
    assert footprint == Footprint(write_paths=("/a/b",), read_paths=("/c", "/d"))


@pytest.mark.parametrize("value", [101, -1, "1e9", "NaN", "Infinity", True, [], None, "x", 100.5])
def test_an_amount_above_or_unreadable_asks(value: object) -> None:
    server = make_server(arguments=(rule("n", "amount", 100),))
    assert classification.find_loosening(server, "t", {"n": value})
    assert not classification.find_loosening(server, "t", {"n": 100})


@pytest.mark.parametrize(
    ("footprint", "outside"),
    [
        (Footprint(write_paths=("/srv/out/a",)), ""),
        (Footprint(write_paths=("/srv/in/a",)), "/srv/in/a"),
        (Footprint(read_paths=("/srv/in/a", "/srv/out")), ""),
        (Footprint(read_paths=("/srv/inner",)), "/srv/inner"),
        (Footprint(domains=("example.com:443",)), ""),
        (Footprint(domains=("example.com:8443",)), "example.com:8443"),
    ],
)
def test_what_lies_outside_the_entry_is_named(footprint: Footprint, outside: str) -> None:
    server = make_server(
        read_paths=("/srv/in",), write_paths=("/srv/out/",), network=("example.com",)
    )
    assert classification.find_outside(server, footprint) == outside
    assert classification.find_outside(None, footprint)


@pytest.mark.parametrize(
    "entry",
    [
        'name = "Git"\ncommand = "x"',
        'name = "a_b"\ncommand = "x"',
        'name = "a"',
        'name = "a"\ncommand = "x"\nurl = "https://example.com"',
        'name = "a"\nurl = "ftp://example.com"',
        'name = "a"\nurl = "https://user@example.com"',
        'name = "a"\nurl = "http://example.com/"\nsecrets = ["X"]',
        'name = "a"\ncommand = "x"\ntools = ["a b"]',
        'name = "a"\ncommand = "x"\ntiers = { x = 3 }',
        'name = "a"\ncommand = "x"\nsecrets = ["lower"]',
        'name = "a"\ncommand = "x"\ncall_seconds = 0',
        'name = "a"\ncommand = "x"\n[[mcp.servers]]\nname = "a"\ncommand = "y"',
        'name = "a"\ncommand = "x"\n[[mcp.servers.arguments]]\nargument = "p"\nkind = "file"',
    ],
)
def test_an_entry_that_is_off_is_not_signed(entry: str) -> None:
    with pytest.raises(BadSetting):
        parse(f"[[mcp.servers]]\n{entry}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "$ref", "$defs", "anyOf", "enum", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_schema_becomes_a_plain_one(raw: object) -> None:
    plain = rewrite_schema(raw)
    assert plain["type"] == "object"
    assert "$ref" not in str(plain)


def test_a_schema_that_names_itself_ends() -> None:
    raw = {
        "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/A"}}}},
        "properties": {"a": {"$ref": "#/$defs/A"}},
    }
    assert len(str(rewrite_schema(raw))) < 100_000
