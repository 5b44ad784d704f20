"""The rule, pure: a call may begin when what is counted and what it may take fit under every cap.

What is counted includes reservations, so calls that run at once cannot pass a cap together.

>>> day = Cap(kind="day", measure="tokens", limit=100)
>>> day.has_room(Total(reserved=Amount(tokens=60)), Amount(tokens=40))
True
>>> day.has_room(Total(reserved=Amount(tokens=60)), Amount(tokens=41))
False
"""

from dataclasses import dataclass

from astra.spend.model import KINDS, Amount, Total
from astra.trusted.settings.spend_settings import NANO, Price, Spend, to_nano

TOKENS, MONEY = "tokens", "money"


@dataclass(frozen=True, kw_only=True)
class Cap:
    kind: str
    measure: str
    limit: int
    """In tokens, or in billionths of the currency."""
    budget: str = ""
    """The goal whose signed budget this is; nothing for a cap of the configuration."""

    @property
    def setting(self) -> str:
        if self.budget:
            return f"budget of {self.measure} of {self.budget}"
        return f"{self.measure}_per_{self.kind}"

    def read(self, amount: Amount) -> int:
        return amount.tokens if self.measure == TOKENS else amount.nano

    def has_room(self, total: Total, wanted: Amount) -> bool:
        return self.read(total.counted) + self.read(wanted) <= self.limit


def list_caps(spend: Spend) -> tuple[Cap, ...]:
    """Give the caps that the signed configuration sets."""
    settings = [(kind, measure) for measure in (TOKENS, MONEY) for kind in KINDS]
    values = {pair: getattr(spend, f"{pair[1]}_per_{pair[0]}") for pair in settings}
    return tuple(
        Cap(kind=kind, measure=measure, limit=value if measure == TOKENS else to_nano(value))
        for (kind, measure), value in values.items()
        if value is not None
    )


def has_money_cap(caps: tuple[Cap, ...]) -> bool:
    return any(cap.measure == MONEY for cap in caps)


def price_reservation(price: Price | None, input_tokens: int, output_tokens: int) -> Amount:
    """Give the most that a call can take."""
    if price is None:
        return Amount(tokens=input_tokens + output_tokens)
    dearest = max(price.input_nano, price.cached_nano)
    nano = input_tokens * dearest + output_tokens * price.output_nano
    return Amount(tokens=input_tokens + output_tokens, nano=nano)


def price_usage(
    price: Price | None, input_tokens: int, output_tokens: int, cached_tokens: int
) -> Amount:
    """Give what a call took by what its server reported."""
    if price is None:
        return Amount(tokens=input_tokens + output_tokens)
    nano = (
        (input_tokens - cached_tokens) * price.input_nano
        + cached_tokens * price.cached_nano
        + output_tokens * price.output_nano
    )
    return Amount(tokens=input_tokens + output_tokens, nano=nano)


def describe_limit(measure: str, value: int, currency: str) -> str:
    """Say an amount as a person reads it.

    >>> describe_limit("tokens", 200000, "USD"), describe_limit("money", 2_500_000_000, "USD")
    ('200,000 tokens', '2.50 USD')
    >>> describe_limit("money", 1_234_000, "USD")
    '0.001234 USD'
    """
    if measure == TOKENS:
        return f"{value:,} tokens"
    units, billionths = divmod(value, NANO)
    decimals = f"{billionths:09d}".rstrip("0")
    return f"{units:,}.{decimals.ljust(2, '0')} {currency}"
