"""Waiting in the main thread for a signal to leave.

Python runs signal handlers in the main thread only. The kernel may give a signal to any thread, and
does so while threads start processes; one that waits without an end then sleeps on.
"""

import threading

LOOK_SECONDS = 0.5


def wait_until_leaving(leaving: threading.Event) -> None:
    """Wait for an event that a signal handler sets, whichever thread the signal reached."""
    while not leaving.wait(LOOK_SECONDS):
        pass
