"""Landlock, for the one thing that nothing else keeps a box on the host's network from: ports.

A thread that takes the rule on can bind no TCP port but those it names, and neither can whatever it
starts, for ever. The rule says nothing about files, so that bubblewrap may still mount. Kernels
before 6.7 have no rules for the network; then `has_port_rules` is False and status says so.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from functools import lru_cache

from astra.trusted.sandbox import syscalls

ANY_FREE_PORT = 0
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_FIRST_WITH_PORTS = 4
_BIND_TCP = 1
_PORT_RULE = 2
_NO_NEW_PRIVILEGES = 38


@lru_cache(maxsize=1)
def has_port_rules() -> bool:
    """Tell whether this kernel can keep a program from binding ports."""
    try:
        return syscalls.call(_CREATE_RULESET, 0, 0, _ASK_VERSION) >= _FIRST_WITH_PORTS
    except OSError:
        return False


def allow_ports(ports: Iterable[int]) -> None:
    """Let this thread, and all that it starts from now on, bind these TCP ports and no other."""
    handled = ctypes.create_string_buffer(struct.pack("QQ", 0, _BIND_TCP), 16)
    rules = syscalls.call(_CREATE_RULESET, ctypes.addressof(handled), len(handled), 0)
    try:
        for port in sorted(set(ports)):
            rule = ctypes.create_string_buffer(struct.pack("QQ", _BIND_TCP, port), 16)
            syscalls.call(_ADD_RULE, rules, _PORT_RULE, ctypes.addressof(rule), 0)
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        syscalls.call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
