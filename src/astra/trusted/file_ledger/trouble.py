"""What callers hear when the disk does not do what it should."""

import errno

from astra.trusted.kernel.errors import LedgerUnavailable, LedgerUncertain

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
}


def unavailable_error(cause: OSError, *, uncertain: bool = False) -> LedgerUnavailable:
    reason = _REASONS.get(cause.errno or 0, f"the disk fails: {cause.strerror}")
    if uncertain:
        return LedgerUncertain(
            f"{reason}, and it is uncertain whether the last records were kept",
            next_step="mend the disk, run `astra down`, then look with `astra ledger tail`",
        )
    return LedgerUnavailable(
        f"{reason}; nothing was recorded", next_step="make room or mend the disk, then try again"
    )


def reserved_disk_error() -> LedgerUnavailable:
    return LedgerUnavailable(
        "the disk is full; what is left is kept for stop, rollback and decisions",
        next_step="make room, then try again",
    )
