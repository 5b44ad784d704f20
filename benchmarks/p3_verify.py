"""P3: verifying a chain, with a checkpoint and no index.

Reference: reading the lines of the same file and taking the sha-256 of each, in one process too.
"""

from hashlib import sha256
from pathlib import Path

import sample
from astra.trusted.file_ledger import checkpoints
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import checkpoint
from measuring import at_least, best_rounds, folder, is_quick, report, seconds, sizes


def main() -> None:
    quick = is_quick()
    size, key = sizes(quick=quick)[-1], KeyPair.generate()
    with folder() as place:
        places = LedgerPlaces(place)
        places.make()
        head = sample.write_chain(places.chain, size)
        checkpoints.append(places.checkpoints, checkpoint.sign(head, time=head.time, key=key))
        (segment,) = places.chain.iterdir()
        best = best_rounds(
            {
                "astra": lambda: seconds(lambda: verify(place, key.public, size)),
                "plain": lambda: seconds(lambda: read_and_hash(segment)),
            },
            rounds=2 if quick else 7,
        )
    report("P3 verify, records/s", size / best["astra"], size / best["plain"], at_least(0.9))


def verify(place: Path, public_key: str, size: int) -> None:
    found = check_files(place, public_key=public_key)
    if not found.ok or found.records != size:
        raise SystemExit(f"an honest chain does not verify: {found}")


def read_and_hash(segment: Path) -> None:
    with segment.open("rb") as file:
        for line in file:
            sha256(line).digest()


if __name__ == "__main__":
    main()
