"""Which reports of a server settle a reservation, and which do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.spend.usage import MOST_TOKENS, Report, judge_report

POSSIBLE = Report(input_tokens=1_000, output_tokens=100, cached_tokens=500)


@pytest.mark.parametrize(
    "report",
    [
        Report(),
        Report(input_tokens=-1_000, output_tokens=100),
        Report(input_tokens=1_000, output_tokens=-1),
        Report(input_tokens=1, output_tokens=100),
        Report(input_tokens=1_000, output_tokens=1),
        Report(input_tokens=10**30, output_tokens=100),
        Report(input_tokens=1_000, output_tokens=MOST_TOKENS + 1),
        Report(input_tokens=1_000, output_tokens=100, cached_tokens=1_001),
        Report(input_tokens=1_000, output_tokens=100, cached_tokens=-1),
    ],
)
def test_a_report_that_cannot_be_true_is_not_believed(report: Report) -> None:
    assert judge_report(report, sent_bytes=4_000, received_bytes=400)
    assert not judge_report(POSSIBLE, sent_bytes=4_000, received_bytes=400)


@given(st.integers(), st.integers(), st.integers(0), st.integers(0))
def test_what_is_believed_is_never_less_than_was_sent(
    input_tokens: int, output_tokens: int, sent: int, received: int
) -> None:
    report = Report(input_tokens=input_tokens, output_tokens=output_tokens)
    if not judge_report(report, sent_bytes=sent, received_bytes=received):
        assert 0 <= input_tokens <= MOST_TOKENS
        assert 16 * input_tokens >= sent
        assert 16 * output_tokens >= received
