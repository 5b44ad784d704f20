"""A port for the app that nobody on this machine listens on, for `astra init` to propose.

It may be taken before the app starts; the deployment says so then.
"""

import socket

_MOST_TRIED = 100


def find_free_port(first: int) -> int:
    """Find the first free port of the loopback address from one on; that one where none is."""
    candidates = range(first, first + _MOST_TRIED)
    return next((port for port in candidates if _is_free(port)), first)


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
