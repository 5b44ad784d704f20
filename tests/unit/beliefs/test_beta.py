"""The inverse of the incomplete beta function, against exact sums of fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.beliefs.beta import mean, quantile, regularised_incomplete_beta

whole = st.integers(min_value=1, max_value=60)
shapes = st.floats(min_value=1.0, max_value=5_000.0)
probabilities = st.floats(min_value=0.001, max_value=0.999)


def exact_share(x: float, a: int, b: int) -> float:
    """Give I_x(a, b) for whole a and b: the chance of at least a hits in a + b - 1 tries."""
    tries, hit = a + b - 1, Fraction(x)
    terms = (
        math.comb(tries, hits) * hit**hits * (1 - hit) ** (tries - hits)
        for hits in range(a, tries + 1)
    )
    return float(sum(terms, Fraction(0)))


@given(whole, whole, probabilities)
def test_the_share_below_a_point_is_the_binomial_sum(a: int, b: int, x: float) -> None:
    assert regularised_incomplete_beta(x, a, b) == pytest.approx(exact_share(x, a, b), abs=1e-12)


@given(whole, whole, probabilities)
def test_a_quantile_has_its_share_below_it(a: int, b: int, probability: float) -> None:
    point = quantile(probability, a, b)
    assert exact_share(point, a, b) == pytest.approx(probability, abs=1e-11)


@given(shapes, shapes, probabilities)
def test_a_quantile_is_the_inverse_for_every_shape(a: float, b: float, probability: float) -> None:
    point = quantile(probability, a, b)
    assert 0.0 < point < 1.0
    assert regularised_incomplete_beta(point, a, b) == pytest.approx(probability, abs=1e-9)


@given(shapes, shapes, probabilities)
def test_swapping_the_shapes_mirrors_the_quantile(a: float, b: float, probability: float) -> None:
    mirrored = 1.0 - quantile(1.0 - probability, b, a)
    assert quantile(probability, a, b) == pytest.approx(mirrored, abs=1e-9)


@given(shapes, shapes)
def test_more_for_it_raises_the_lower_bound(a: float, b: float) -> None:
    assert quantile(0.05, a + 1, b) > quantile(0.05, a, b) > quantile(0.05, a, b + 1)


@given(shapes, shapes)
def test_the_mean_lies_between_the_bounds(a: float, b: float) -> None:
    assert quantile(0.05, a, b) < mean(a, b) < quantile(0.95, a, b)


def test_closed_forms_are_met_to_the_last_digits() -> None:
    assert quantile(0.05, 1, 1) == pytest.approx(0.05, rel=1e-12)
    assert quantile(0.05, 2, 1) == pytest.approx(math.sqrt(0.05), rel=1e-12)
    assert quantile(0.05, 1, 4) == pytest.approx(1 - 0.95**0.25, rel=1e-12)


def test_a_million_on_either_side_is_answered() -> None:
    assert quantile(0.05, 1e6, 1.0) == pytest.approx(0.05 ** (1 / 1e6), rel=1e-12)
    assert quantile(0.05, 1.0, 1e6) == pytest.approx(-math.expm1(math.log(0.95) / 1e6), rel=1e-9)


def test_nothing_lies_outside_zero_and_one() -> None:
    assert regularised_incomplete_beta(-0.5, 2, 2) == 0.0
    assert regularised_incomplete_beta(1.5, 2, 2) == 1.0
