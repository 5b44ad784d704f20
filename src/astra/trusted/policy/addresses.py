"""Which addresses are the public internet, and which are this machine, its network or its cloud.

An allowed name may resolve to anything, so the address decides too. Only a plainly public unicast
address passes; one that carries another inside (mapped, translated, tunnelled) is judged by both.

>>> is_public("93.184.216.34"), is_public("169.254.169.254"), is_public("::ffff:10.0.0.1")
(True, False, False)
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# Ranges that `is_global` of some Python versions lets through, and cloud addresses that are
# public in number only.
_INTERNAL = tuple(
    ip_network(text)
    for text in (
        "100.64.0.0/10",
        "168.63.129.16/32",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)
_NAT64 = ip_network("64:ff9b::/96")


def is_public(text: str) -> bool:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    inner_address = _extract_inner_address(address)
    return _is_plainly_public(address) and (
        inner_address is None or _is_plainly_public(inner_address)
    )


def is_of_own_network(text: str) -> bool:
    """Tell whether an address may be a server of the operator's network: not this machine's own.

    >>> [is_of_own_network(text) for text in ("10.1.2.3", "127.0.0.1", "169.254.169.254")]
    [True, False, False]
    """
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    inner_address = _extract_inner_address(address)
    return not any(
        side.is_loopback or side.is_link_local or side.is_multicast or side.is_unspecified
        for side in (address, *((inner_address,) if inner_address else ()))
    )


def _is_plainly_public(address: IPv4Address | IPv6Address) -> bool:
    if any(address in network for network in _INTERNAL if network.version == address.version):
        return False
    return (address.is_global or address in _NAT64) and not (
        address.is_multicast or (address.is_reserved and address not in _NAT64)
    )


def _extract_inner_address(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour
