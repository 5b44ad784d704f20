from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from astra.adapters.model_ceiling import bound

PATHS = ("/chat/completions", "/completions", "/messages", "/responses")
NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens", "n", "best_of")
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.just([5]),
)


@given(
    path=st.sampled_from(PATHS),
    payload=st.dictionaries(st.sampled_from(NAMES), ODD),
    left=st.integers(min_value=1, max_value=10**7),
)
def test_whatever_a_client_writes_an_answer_fits_into_what_is_left(
    path: str, payload: dict[str, Any], left: int
) -> None:
    held = bound(path, payload, left)
    ceilings = [payload[name] for name in NAMES[:3] if payload.get(name) is not None]
    answers = max(payload.get("n", 1), payload.get("best_of", 1))
    assert ceilings, "there is always one"
    assert all(type(ceiling) is int and ceiling >= 1 for ceiling in ceilings)
    assert max(ceilings) * answers <= held <= left


def test_a_modest_ceiling_is_left_as_it_is() -> None:
    payload = {"max_tokens": 200}
    assert bound("/messages", payload, left=1000) == 200
    assert payload == {"max_tokens": 200}


def test_what_answers_with_no_tokens_is_not_touched() -> None:
    payload = {"input": "x"}
    assert bound("/embeddings", payload, left=10) == 0
    assert payload == {"input": "x"}
