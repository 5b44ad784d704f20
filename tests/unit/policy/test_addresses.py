import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.policy.addresses import is_public


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_public_addresses_pass(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "0.0.0.0"),
        *("255.255.255.255", "224.0.0.1", "240.0.0.1", "100.64.0.1", "100.100.100.200"),
        *("168.63.129.16", "192.0.0.170", "198.18.0.1", "203.0.113.7"),
        *("::", "::1", "fe80::1", "fe80::1%lo", "fc00::1", "fd00:ec2::254", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("2002:7f00:1::", "2002:a00:1::1", "2001:db8::1", "2001:0:a00:1::", "::127.0.0.1"),
        *("", "localhost", "1.2.3", "2130706433", "0x7f.1", "127.1", "1.2.3.4:80"),
    ],
)
def test_internal_and_unreadable_addresses_do_not(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_a_v6_address_that_carries_an_internal_one_is_internal(
    address: ipaddress.IPv4Address,
) -> None:
    number = int(address)
    if not is_public(str(address)):
        for carrier in (
            0xFFFF << 32 | number,
            0x64FF9B << 96 | number,
            0x2002 << 112 | number << 80,
        ):
            assert not is_public(str(ipaddress.IPv6Address(carrier)))
