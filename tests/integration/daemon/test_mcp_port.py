import socket

from astra.interfaces.mcp.http import listen


def test_whoever_reads_the_address_first_can_connect_before_anything_is_served() -> None:
    with listen(0) as listener, socket.create_connection(listener.getsockname(), timeout=60) as one:
        accepted, who = listener.accept()
        accepted.close()
        assert who == one.getsockname()
