"""`[spend]` of astra.toml: caps on what model calls may take, in tokens and in money.

Prices are for a million tokens, all in one currency; the first row whose pattern matches a model's
name counts. A cap that is left out is none; one of 0 lets nothing be spent. Inside Astra money is a
whole number of billionths (`nano`), so that sums are exact.

>>> prices = (Price(model="openai:small-*", input=0.15, output=0.6),)
>>> Spend(money_per_day=5, prices=prices).find_price("openai:small-1").input_nano
150
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import NoReturn

from astra.trusted.kernel.errors import BadSetting

NANO = 1_000_000_000
_HIGHEST_PRICE, _HIGHEST_MONEY, _MOST_TOKENS = 100_000, 1_000_000, 10**12
_NANO_A_TOKEN = 1_000
"""How many billionths a token costs where a million of them costs 1."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a million tokens of some models cost."""

    model: str
    """A pattern for names such as openai:gpt-5 or anthropic:*; * stands for anything."""
    input: float | int
    output: float | int
    cached: float | int | None = None
    """For input that the server says it had in its cache; left out, it costs as other input."""

    def __post_init__(self) -> None:
        if not self.model or not self.model.isprintable():
            _refuse("prices.model", self.model, 'a pattern such as "openai:*"')
        for name in ("input", "output", "cached"):
            value: float | None = getattr(self, name)
            if value is not None and not _is_price(value):
                accepted = f"0 to {_HIGHEST_PRICE:,} with at most three decimals"
                _refuse(f"prices.{name}", value, accepted)

    @property
    def input_nano(self) -> int:
        return int(_to_decimal(self.input) * _NANO_A_TOKEN)

    @property
    def output_nano(self) -> int:
        return int(_to_decimal(self.output) * _NANO_A_TOKEN)

    @property
    def cached_nano(self) -> int:
        cached = self.input if self.cached is None else self.cached
        return int(_to_decimal(cached) * _NANO_A_TOKEN)


@dataclass(frozen=True, kw_only=True)
class Spend:
    currency: str = "USD"
    tokens_per_day: int | None = None
    tokens_per_actor: int | None = None
    """For each actor on each day of UTC."""
    tokens_per_goal: int | None = None
    tokens_per_plan: int | None = None
    money_per_day: float | int | None = None
    money_per_actor: float | int | None = None
    money_per_goal: float | int | None = None
    money_per_plan: float | int | None = None
    prices: tuple[Price, ...] = ()

    def __post_init__(self) -> None:
        if not (self.currency.isascii() and self.currency.isalpha() and self.currency.isupper()):
            _refuse("currency", self.currency, "a code in capitals, such as USD")
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name.startswith("tokens_") and value is not None and value > _MOST_TOKENS:
                _refuse(name, value, f"0 to {_MOST_TOKENS:,}")
            if name.startswith("money_") and value is not None and not _is_money(value):
                _refuse(name, value, f"0 to {_HIGHEST_MONEY:,}")

    def find_price(self, model: str) -> Price:
        """Give the first price whose pattern matches; refused where there is none."""
        for price in self.prices:
            if fnmatchcase(model, price.model):
                return price
        raise BadSetting(
            f"there is no price for the model {model[:100]}",
            next_step=f'add [[spend.prices]] with model = "{model[:100]}", input and output to'
            " astra.toml, and run `astra config sign`",
            key="spend.prices",
        )


def to_nano(money: float) -> int:
    """Give an amount of money in billionths, rounded down.

    >>> to_nano(0.1)
    100000000
    """
    return int(_to_decimal(money) * NANO)


def _to_decimal(value: float) -> Decimal:
    return Decimal(str(value))


def _is_money(value: float) -> bool:
    return math.isfinite(value) and 0 <= value <= _HIGHEST_MONEY


def _is_price(value: float) -> bool:
    if not math.isfinite(value) or not 0 <= value <= _HIGHEST_PRICE:
        return False
    exact = _to_decimal(value) * _NANO_A_TOKEN
    return exact == int(exact)


def _refuse(name: str, value: object, accepted: str) -> NoReturn:
    raise BadSetting(
        f"spend.{name} is {str(value)[:100]!a}; accepted: {accepted}",
        next_step=f"mend spend.{name} in astra.toml",
        key=f"spend.{name}",
    )
