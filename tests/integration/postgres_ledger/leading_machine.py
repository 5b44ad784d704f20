"""A machine that appends under its lease whatever it can, until it is ended: URL VAR."""

import os
import sys
import time
from pathlib import Path

from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.adapters.postgres_ledger.membership import Membership
from astra.trusted.kernel.errors import LedgerUnavailable
from astra.trusted.ledger.fencing import LeaseLost, work_under
from astra.trusted.ledger.record import Event

WORK = "background"


def main(url: str, var: Path) -> None:
    ledger = PostgresLedger(url, var)
    member = Membership(url, var, {WORK: lambda: True})
    member.start()
    number = 0
    while True:
        term = member.find_term(WORK)
        if term is None or term.fence is None:
            time.sleep(0.01)
            continue
        number += 1
        text = f"{term.fence.epoch}:{os.getpid()}:{number}"
        event = Event(type="thing_happened", actor="daemon", data={"text": text}, key=text)
        with work_under(term.fence):
            try:
                ledger.append([event])
            except LeaseLost:
                print("refused", text, flush=True)
            except LedgerUnavailable:
                print("failed", text, file=sys.stderr)
            else:
                print("appended", text, flush=True)
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
