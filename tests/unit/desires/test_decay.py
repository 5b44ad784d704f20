"""Fading is exact, keeps the order, and survives any change of the half-life."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.desires.decay import DAY, Fading, depth, half_life_seconds
from astra.trusted.kernel.errors import BadSetting

STRENGTHS = st.floats(0, 1)
MOMENTS = st.floats(0, 20 * 365 * DAY)
HALF_LIVES = st.floats(0.01 * DAY, 3650 * DAY)


@given(STRENGTHS, MOMENTS, MOMENTS, HALF_LIVES)
def test_a_strength_halves_with_every_half_life(
    strength: float, start: float, passed: float, half_life: float
) -> None:
    fading = Fading(since=0.0, halvings=0.0, half_life=half_life)
    found = fading.strength(fading.key(strength, start), start + passed)
    assert found == pytest.approx(strength * 0.5 ** (passed / half_life), rel=1e-6, abs=1e-12)


@given(st.lists(st.tuples(STRENGTHS, MOMENTS), min_size=2, max_size=20), MOMENTS, HALF_LIVES)
def test_keys_order_as_the_faded_strengths_do_at_any_time(
    made: list[tuple[float, float]], later: float, half_life: float
) -> None:
    fading = Fading(since=0.0, halvings=0.0, half_life=half_life)
    now = max(moment for _, moment in made) + later
    by_key = sorted(made, key=lambda each: -fading.key(*each))
    faded = [strength * 0.5 ** ((now - moment) / half_life) for strength, moment in by_key]
    assert all(left >= right * (1 - 1e-6) for left, right in pairwise(faded))


@given(STRENGTHS, MOMENTS, MOMENTS, HALF_LIVES)
def test_a_strength_is_between_nothing_and_one_even_when_time_goes_back(
    strength: float, start: float, now: float, half_life: float
) -> None:
    fading = Fading(since=0.0, halvings=0.0, half_life=half_life)
    assert 0.0 <= fading.strength(fading.key(strength, start), now) <= 1.0


def test_no_strength_is_endlessly_deep() -> None:
    assert depth(0.0) == -math.inf
    assert Fading(0.0, 0.0, DAY).strength(-math.inf, 0.0) == 0.0


@pytest.mark.parametrize("days", [0.0001, 1e9, float("inf"), float("nan")])
def test_a_senseless_half_life_is_refused(days: float) -> None:
    with pytest.raises(BadSetting, match="DESIRE_HALF_LIFE_DAYS"):
        half_life_seconds(days)
