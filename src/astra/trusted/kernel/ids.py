"""Typed ids: a short prefix that says what it names, an underscore, lower-case hex.

>>> id_from_content("des", "learn sailing", "2026-01-01")
'des_ba7cb7ab'
>>> id_kind("sch_00c0ffee")
'sch'
"""

import hashlib
import re
import secrets
from collections.abc import Callable

ID = re.compile(r"[a-z]{2,6}_[0-9a-f]{8,64}")


def random_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"


def id_from_content(
    prefix: str,
    *parts: str,
    digits: int = 8,
    taken: Callable[[str], bool] = lambda _id: False,
) -> str:
    """Name content by its hash: a few hex digits, more while `taken` says another owns it."""
    digest = hashlib.sha256("".join(parts).encode()).hexdigest()
    for length in range(digits, len(digest) + 1, 4):
        if not taken(candidate := f"{prefix}_{digest[:length]}"):
            return candidate
    return f"{prefix}_{digest}"


def is_id(text: str) -> bool:
    return ID.fullmatch(text) is not None


def id_kind(identifier: str) -> str:
    return identifier.partition("_")[0]
