"""A goal's budget of money: an amount with its currency, one for each time that it was signed for.

It is signed with its unit, so that a configuration that counts in another currency cannot change
what was meant: then nothing more is spent for the goal until it has a budget in the new one.

>>> read_money(0.5, "USD"), read_money("2 EUR", "EUR"), read_money(None, "USD")
('0.5 USD', '2 EUR', '')
>>> to_nano_limit("0.5 USD", 0), to_nano_limit("0.5 USD", 2), to_nano_limit("", 1)
(500000000, 1000000000, None)
"""

import json
import re
from decimal import Decimal
from typing import Any

from astra.trusted.kernel.errors import BadInput
from astra.trusted.ledger.ports import Ledger
from astra.trusted.settings.spend_settings import NANO

MOST_MONEY = 1_000_000
_AMOUNT = re.compile(r"(\d{1,7}(?:\.\d{1,9})?)(?: ([A-Z]{1,12}))?")


def read_money(value: Any, currency: str) -> str:
    """Read an amount, a number or a text, and write it with its currency."""
    if value is None:
        return ""
    text = format(Decimal(str(value)), "f") if type(value) in {int, float} else value
    match = _AMOUNT.fullmatch(text) if isinstance(text, str) else None
    if match is None or Decimal(match[1]) > MOST_MONEY:
        raise BadInput(
            f"money: give an amount from 0 to {MOST_MONEY:,} with at most nine decimals",
            next_step="mend money, as 0.50",
            field="money",
        )
    if match[2] not in {None, currency}:
        raise BadInput(
            f"money: the budget is in {match[2]}, and spending is counted in {currency}",
            next_step=f"give it in {currency}, or set spend.currency in astra.toml",
            field="money",
        )
    return f"{match[1]} {currency}"


def to_nano_limit(money: str, grants: int) -> int | None:
    """Give what may be spent in all, in billionths: the amount for each signature, at least one.

    A model may be asked for a decomposition before anybody signed; that counts in the first one.
    """
    amount, _, _ = money.partition(" ")
    return int(Decimal(amount) * NANO) * max(1, grants) if amount else None


def find_money_limit(ledger: Ledger, goal: str, currency: str) -> int | None:
    """Give what a goal may spend in all, in billionths; None where its money is not limited."""
    rows = ledger.query("SELECT budget, grants FROM goal WHERE id = ?", [goal])
    money = str(json.loads(rows[0][0]).get("money", "")) if rows else ""
    limit = to_nano_limit(money, rows[0][1]) if rows else None
    return limit if limit is None or money.endswith(f" {currency}") else 0
