"""One public port, one listening socket a release, and a kernel program that picks between them.

Sockets that share a port with SO_REUSEPORT form a group. A classic BPF program of four steps a
socket, attached to the group, says which of them gets a new connection: the one that serves, unless
the connection comes from the address from which a particular release is probed. So a new release
can be asked for its health and nobody else reaches it; the switch is one system call; the old one
gets nothing new afterwards, while what waits in its own queue stays with it.

The kernel numbers the sockets of a group in the order in which they began to listen, and moves the
last one into the gap when one leaves. This class keeps the same count, and only it adds or removes.
A release that changes the order from inside is noticed, because a probe reaches another process
than it should (`attribution`); then the count is tried in another order (`reorder`).
"""

import ctypes
import secrets
import socket
import struct
from dataclasses import dataclass, field

_ATTACH_PROGRAM = 51  # SO_ATTACH_REUSEPORT_CBPF
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_SOURCE_ADDRESS = 0xFFF00000 + 12  # SKF_NET_OFF, then the place in an IPv4 header
_TCP_INFO_SIZE, _UNACKED = 104, 24  # of a listening socket: how many wait to be accepted
_BACKLOG = 1024


def _loopback_address() -> str:
    """Pick a loopback address that nobody connects from by accident."""
    one, two, three = secrets.token_bytes(3)
    return f"127.{one % 126 + 128}.{two}.{three % 254 + 1}"


@dataclass(eq=False, kw_only=True)
class Slot:
    """The place of one release at the port."""

    listener: socket.socket
    probe: str = field(default_factory=_loopback_address)

    def count_waiting(self) -> int:
        facts = self.listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_SIZE)
        return int(struct.unpack_from("I", facts, _UNACKED)[0])


class SteeredPort:
    def __init__(self, port: int, *, host: str = "127.0.0.1") -> None:
        self._host = host
        self.port = port
        self._slots: list[Slot] = []
        self._serving: Slot | None = None

    def adopt(self, listener: socket.socket) -> Slot:
        """Take over a socket that listens on the port already, with whoever waits in its queue."""
        slot = Slot(listener=listener)
        self._attach_program([*self._slots, slot])
        self.port = int(listener.getsockname()[1])
        self._slots.append(slot)
        return slot

    def add(self) -> Slot:
        """Open a place for another release; it gets no connection but probes."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind((self._host, self.port))
            slot = Slot(listener=listener)
            self._attach_program([*self._slots, slot])
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
        self.port = int(listener.getsockname()[1])
        self._slots.append(slot)
        return slot

    def prefer(self, slot: Slot) -> None:
        """Send every new connection there, from this call on."""
        self._serving = slot
        self._attach_program(self._slots)

    def remove(self, slot: Slot) -> None:
        """Close a place; whoever inherited its socket has to be gone already."""
        if slot not in self._slots:
            return
        slot.listener.close()
        self._slots[self._slots.index(slot)] = self._slots[-1]
        self._slots.pop()
        if self._serving is slot:
            self._serving = None
        if self._slots:
            self._attach_program(self._slots)

    def reorder(self) -> None:
        """Count the sockets in another order, after somebody else answered a probe.

        A release can shut its listening socket and listen again: then the kernel numbers it last.
        """
        self._slots.append(self._slots.pop(0))
        self._attach_program(self._slots)

    def connect(self, slot: Slot, *, seconds: float) -> socket.socket:
        """Connect to exactly this release."""
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            connection.settimeout(seconds)
            connection.bind((slot.probe, 0))
            connection.connect((self._host, self.port))
        except OSError:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        for slot in list(self._slots):
            self.remove(slot)

    def _attach_program(self, slots: list[Slot]) -> None:
        serving = slots.index(self._serving) if self._serving in slots else 0
        code = build_program({slot.probe: place for place, slot in enumerate(slots)}, serving)
        code_buffer = ctypes.create_string_buffer(code)
        described = struct.pack("HL", len(code) // 8, ctypes.addressof(code_buffer))
        slots[0].listener.setsockopt(socket.SOL_SOCKET, _ATTACH_PROGRAM, described)


def build_program(probes: dict[str, int], serving: int) -> bytes:
    """Write the program: probe addresses to their own sockets, everybody else to the serving one.

    >>> len(build_program({"127.1.2.3": 1}, 0)) // 8
    4
    """
    steps = [(_LOAD, 0, 0, _SOURCE_ADDRESS)]
    for address, place in probes.items():
        number = int.from_bytes(socket.inet_aton(address), "big")
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, place)]
    steps.append((_RETURN, 0, 0, serving))
    return b"".join(struct.pack("HBBI", *step) for step in steps)
