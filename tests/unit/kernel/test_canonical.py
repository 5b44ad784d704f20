import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.kernel import canonical

text = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


@given(json_values)
def test_what_is_encoded_reads_back_equal_and_encodes_to_the_same_bytes(value: object) -> None:
    encoded = canonical.encode(value)
    assert json.loads(encoded) == value
    assert canonical.encode(json.loads(encoded)) == encoded


@given(json_values)
def test_an_encoding_is_a_single_line(value: object) -> None:
    assert b"\n" not in canonical.encode(value)


def test_member_order_does_not_matter() -> None:
    assert canonical.encode({"a": 1, "b": 2}) == canonical.encode({"b": 2, "a": 1})


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        2**53 + 1,
        -(2**53) - 1,
        "\ud800",
        {"\udfff": 1},
        {1: "number as key"},
        b"bytes",
        {"nested": [object()]},
    ],
)
def test_what_two_readers_could_understand_differently_is_refused(value: object) -> None:
    with pytest.raises(canonical.NotCanonical):
        canonical.encode(value)


def test_nesting_has_a_floor() -> None:
    value: list[object] = []
    for _ in range(100):
        value = [value]
    with pytest.raises(canonical.NotCanonical):
        canonical.encode(value)
