"""A real daemon whose machine has a wrong clock: `python shifted_daemon.py SECONDS WORDS…`.

Only the clock that Astra reads is moved; the kernel's, which all machines of a test share, is not.
"""

import runpy
import sys
from datetime import UTC, datetime, timedelta

from astra.trusted.kernel.clock import SystemClock


def main() -> None:
    seconds, *arguments = sys.argv[1:]

    def read_shifted(_clock: SystemClock) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(seconds))

    SystemClock.now = read_shifted  # type: ignore[method-assign]
    sys.argv = ["astra", *arguments]
    runpy.run_module("astra.interfaces.daemon.server", run_name="__main__")


if __name__ == "__main__":
    main()
