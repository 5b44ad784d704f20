"""Texts are split for the index as identifiers are split for a question."""

from hypothesis import given
from hypothesis import strategies as st

from astra.adapters.search_index.matching import split_text
from astra.research.quotes import CASE_EDGE


@given(st.text(alphabet="abZXY09_. \nÄß"))
def test_a_text_is_split_exactly_at_the_edges_of_case(text: str) -> None:
    assert split_text(text) == CASE_EDGE.sub(" ", text)


def test_a_run_of_capitals_ends_before_the_last_of_them() -> None:
    assert split_text("readHTTPServer2Go XYZ") == "read HTTP Server2 Go XYZ"
