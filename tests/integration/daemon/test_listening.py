"""Both loopback addresses, or none: whoever had the other one would be given our requests."""

import socket

import pytest

from astra.interfaces.daemon import listening
from astra.interfaces.daemon.listening import PortUnavailable


def test_both_addresses_have_the_same_port() -> None:
    first, second = listening.listen(0)
    with first, second:
        assert first.getsockname()[:1] == ("127.0.0.1",)
        assert second.getsockname()[:1] == ("::1",)
        assert first.getsockname()[1] == second.getsockname()[1]
        for listener in (first, second):
            with socket.create_connection(listener.getsockname()[:2], timeout=60):
                pass


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
@pytest.mark.parametrize("wildcard", [False, True])
def test_where_one_address_is_taken_neither_is_used(
    family: socket.AddressFamily, *, wildcard: bool
) -> None:
    addresses = {socket.AF_INET: ("127.0.0.1", "0.0.0.0"), socket.AF_INET6: ("::1", "::")}
    with socket.socket(family, socket.SOCK_STREAM) as squatter:
        if family == socket.AF_INET6:
            squatter.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        squatter.bind((addresses[family][wildcard], 0))
        squatter.listen()
        port = squatter.getsockname()[1]
        with pytest.raises(PortUnavailable) as caught:
            listening.listen(port)
        assert caught.value.reason == "port_taken"
        assert "--port" in caught.value.next_step
        other = (
            (socket.AF_INET6, "::1") if family == socket.AF_INET else (socket.AF_INET, "127.0.0.1")
        )
        with socket.socket(other[0], socket.SOCK_STREAM) as free:
            free.bind((other[1], port))
