"""Where the chain of a data root is, when it is not in its files: `var/chain.json`.

The file names the database without its password, and holds the first record, so that a daemon that
is pointed at another database, or at none, refuses to begin instead of going on with another chain.
Where it is missing, the chain is in `var/ledger`.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.kernel.errors import BadSetting, LedgerDamaged
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Record

MARKER = "chain.json"
SETTING = "ASTRA_DATABASE_URL"


@dataclass(frozen=True, kw_only=True)
class ChainPlace:
    address: str
    """The database, without a password."""
    first: Record

    def as_text(self) -> str:
        return json.dumps({"postgres": self.address, "first": self.first.line}, indent=1)


def read_place(var: Path) -> ChainPlace | None:
    """Say which database holds the chain; None where it is in the files."""
    try:
        document = json.loads((var / MARKER).read_bytes())
        return ChainPlace(address=str(document["postgres"]), first=chain.parse(document["first"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerDamaged(
            f"{var / MARKER} cannot be read: {error}",
            next_step="put it back from a backup: it says where the chain is",
        ) from None


def refuse_other_place(place: ChainPlace | None, address: str) -> None:
    """Refuse a setting (the address it names, or nothing) that does not fit where the chain is."""
    if place is None and address:
        raise BadSetting(
            f"{SETTING} names {address}, and the chain of this data root is in its files",
            next_step="move it with `astra ledger move --to URL`, or unset the setting",
            key=SETTING,
        )
    if place is not None and not address:
        raise BadSetting(
            f"the chain of this data root is in the database {place.address}",
            next_step=f"set {SETTING} in the environment or in .env of the data root",
            key=SETTING,
        )
    if place is not None and address != place.address:
        raise BadSetting(
            f"{SETTING} names {address}, and the chain of this data root is in {place.address}",
            next_step="set it right; if the database has a new address, say so with"
            " `astra ledger move --to URL`",
            key=SETTING,
        )
