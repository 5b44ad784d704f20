"""P12, the pages: how much a browser has to fetch before the first page of the dashboard works."""

import sys
from pathlib import Path

from measuring import Target, is_quick, report

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
import web

LIMIT = web.LARGEST_FIRST_LOAD / 1024


def main() -> None:
    is_quick()
    web.build()
    within = Target(f"≤ {LIMIT:g} KiB", lambda value, _reference: value <= LIMIT)
    report("P12 dashboard first load, KiB gzipped", web.first_load() / 1024, target=within)


if __name__ == "__main__":
    main()
