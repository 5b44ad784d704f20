"""The port that is proposed for an app is one that nobody listens on."""

import socket

from astra.adapters.free_ports import find_free_port


def test_a_port_that_is_taken_is_passed_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        assert find_free_port(taken) > taken
