"""The beta distribution, as far as beliefs need it: the mean, and the point below which 5 % lie.

The regularised incomplete beta function I_x(a, b) is the probability that a Beta(a, b) value is at
most x. It is summed as a continued fraction (modified Lentz), on whichever side of the mean it
converges quickly; its inverse is found by Newton steps inside a bracket that every step narrows.

>>> round(quantile(0.05, 1.0, 1.0), 12)
0.05
>>> round(regularised_incomplete_beta(0.5, 2.0, 2.0), 12)
0.5
"""

import math

_TINY = 1e-300
_PRECISE, _CLOSE = 4e-16, 1e-13
_MOST_TERMS, _MOST_STEPS = 200_000, 200


def mean(a: float, b: float) -> float:
    return a / (a + b)


def quantile(probability: float, a: float, b: float) -> float:
    """Give x with I_x(a, b) = probability, for a and b of at least 1."""
    low, high = 0.0, 1.0
    x = mean(a, b)
    for _ in range(_MOST_STEPS):
        error = regularised_incomplete_beta(x, a, b) - probability
        low, high = (x, high) if error < 0 else (low, x)
        slope = math.exp(_log_density(x, a, b))
        step = x - error / slope if slope > 0 else low
        point = step if low <= step <= high else (low + high) / 2
        if abs(point - x) <= _CLOSE * x:
            break
        x = point
    return x


def regularised_incomplete_beta(x: float, a: float, b: float) -> float:
    """Give the share of Beta(a, b) that lies below x."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _sum_lower(1.0 - x, b, a)
    return _sum_lower(x, a, b)


def _sum_lower(x: float, a: float, b: float) -> float:
    front = math.exp(_log_density(x, a, b) + math.log(x) + math.log1p(-x))
    return min(front / a * _continue_fraction(x, a, b), 1.0)


def _log_density(x: float, a: float, b: float) -> float:
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return constant + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x)


def _continue_fraction(x: float, a: float, b: float) -> float:
    numerator, denominator = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1))
    value = denominator
    for m in range(1, _MOST_TERMS):
        for term in _pair_of_terms(m, x, a, b):
            denominator = 1.0 / _away_from_zero(1.0 + term * denominator)
            numerator = _away_from_zero(1.0 + term / numerator)
            value *= numerator * denominator
        if abs(numerator * denominator - 1.0) < _PRECISE:
            break
    return value


def _pair_of_terms(m: int, x: float, a: float, b: float) -> tuple[float, float]:
    even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    return even, odd


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
