"""The public port of the app, and the place that each release has behind it.

Two kinds, one shape. Steered: every release inherits a listening socket of its own on the port, and
the kernel sends connections to the one that serves. Relayed: the holder accepts, and carries bytes
to wherever the serving release listens; for apps on a network of their own, for apps that bind a
port themselves (`{port}` in the command), and where the kernel cannot steer.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from astra.adapters.supervisor.app_box import INSIDE_PORT
from astra.adapters.supervisor.steering import Slot, SteeredPort
from astra.deployments.ports import AppSpec
from astra.trusted.egress.relay import ByteBudget, Meter, OverBudget, relay

_BACKLOG = 1024
_MOST_CONNECTIONS = 1000
_DIAL_SECONDS = 10.0
_IDLE_SECONDS = 3600.0


class Place(Protocol):
    """Where one release is reached, and what it inherits."""

    listener: socket.socket | None
    port: int

    @property
    def served_port(self) -> int:
        """Name the port on which the release itself accepts connections."""
        ...

    def connect(self, *, seconds: float) -> socket.socket: ...

    def count_waiting(self) -> int:
        """Count the connections that were given to this release and not yet taken up."""
        ...


class Front(Protocol):
    @property
    def port(self) -> int: ...

    def fits(self, spec: AppSpec) -> bool:
        """Tell whether a release can have its place here; another port or kind needs another."""
        ...

    def place(self, spec: AppSpec) -> Place: ...

    def prefer(self, place: Place) -> None: ...

    def remove(self, place: Place) -> None: ...

    def close(self) -> None: ...


def open_front(spec: AppSpec, adopted: socket.socket | None = None) -> Front:
    """Open the port in the way that fits the app and the machine; or go on with a socket of it."""
    if not spec.listens:
        return NoFront()
    if is_steerable(spec):
        with contextlib.suppress(OSError):
            return SteeredFront(spec.port, adopted)
    return RelayedFront(spec.port, adopted)


def is_steerable(spec: AppSpec) -> bool:
    return spec.network == "host" and not binds_itself(spec)


def binds_itself(spec: AppSpec) -> bool:
    return any("{port}" in word for word in spec.command)


@dataclass(eq=False)
class SteeredPlace:
    slot: Slot
    front: SteeredPort
    port: int = 0

    def __post_init__(self) -> None:
        self.listener: socket.socket | None = self.slot.listener

    @property
    def served_port(self) -> int:
        return self.front.port

    def connect(self, *, seconds: float) -> socket.socket:
        return self.front.connect(self.slot, seconds=seconds)

    def count_waiting(self) -> int:
        return self.slot.count_waiting()


class SteeredFront:
    def __init__(self, port: int, adopted: socket.socket | None = None) -> None:
        self._steered = SteeredPort(port)
        # Opened at once, so that a kernel that cannot steer, or a port in use, is noticed now.
        first_slot = self._steered.adopt(adopted) if adopted else self._steered.add()
        self._first: Slot | None = first_slot

    @property
    def port(self) -> int:
        return self._steered.port

    def fits(self, spec: AppSpec) -> bool:
        return spec.listens and is_steerable(spec) and spec.port in {0, self.port}

    def place(self, spec: AppSpec) -> Place:
        del spec
        slot, self._first = self._first or self._steered.add(), None
        return SteeredPlace(slot, self._steered)

    def prefer(self, place: Place) -> None:
        if isinstance(place, SteeredPlace):
            self._steered.prefer(place.slot)

    def remove(self, place: Place) -> None:
        if isinstance(place, SteeredPlace):
            self._steered.remove(place.slot)

    def close(self) -> None:
        self._steered.close()


@dataclass(eq=False, kw_only=True)
class RelayedPlace:
    """A release behind the relay: on a private port of this machine, or inside a box."""

    listener: socket.socket | None
    port: int
    dial: Callable[[], socket.socket] | None = None
    open: int = 0
    starting: int = 0

    @property
    def served_port(self) -> int:
        return self.port

    def connect(self, *, seconds: float) -> socket.socket:
        if self.dial is not None:
            return self.dial()
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def count_waiting(self) -> int:
        return self.starting


@dataclass(eq=False)
class NoPlace:
    """The place of a program that has no port."""

    listener: socket.socket | None = None
    port: int = 0
    served_port: int = 0

    def connect(self, *, seconds: float) -> socket.socket:
        raise ConnectionRefusedError(f"it has no port (asked for {seconds:g} s)")

    def count_waiting(self) -> int:
        return 0


class NoFront:
    """Stands where a port would be, for an app without one."""

    port = 0

    def fits(self, spec: AppSpec) -> bool:
        return not spec.listens

    def place(self, spec: AppSpec) -> Place:
        del spec
        return NoPlace()

    def prefer(self, place: Place) -> None:
        del place

    def remove(self, place: Place) -> None:
        del place

    def close(self) -> None:
        pass


@dataclass(eq=False)
class RelayedFront:
    wanted: int
    adopted: socket.socket | None = None
    _serving: RelayedPlace | None = field(default=None, init=False)
    _room: threading.Semaphore = field(
        default_factory=lambda: threading.Semaphore(_MOST_CONNECTIONS), init=False
    )

    def __post_init__(self) -> None:
        self._listener = self.adopted or socket.create_server(
            ("127.0.0.1", self.wanted), backlog=_BACKLOG
        )
        self._closed = threading.Event()
        threading.Thread(target=self._accept_clients, name="front", daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def fits(self, spec: AppSpec) -> bool:
        return spec.listens and spec.port in {0, self.port}

    def place(self, spec: AppSpec) -> Place:
        if spec.network != "host":
            return RelayedPlace(listener=None, port=INSIDE_PORT)
        private = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        port = int(private.getsockname()[1])
        if not binds_itself(spec):
            return RelayedPlace(listener=private, port=port)
        private.close()
        return RelayedPlace(listener=None, port=port)

    def prefer(self, place: Place) -> None:
        if isinstance(place, RelayedPlace):
            self._serving = place

    def remove(self, place: Place) -> None:
        if place is self._serving:
            self._serving = None
        if place.listener is not None:
            place.listener.close()

    def close(self) -> None:
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept_clients(self) -> None:
        while not self._closed.is_set():
            self._room.acquire()
            try:
                client, _address = self._listener.accept()
                threading.Thread(target=self._relay_client, args=(client,), daemon=True).start()
            except (OSError, MemoryError, RuntimeError):  # no descriptor, no memory, no thread left
                self._room.release()
                if self._closed.wait(0.05):
                    return

    def _relay_client(self, client: socket.socket) -> None:
        try:
            with client, contextlib.suppress(OSError, TimeoutError, OverBudget):
                if (server := self._dial_serving()) is None:
                    return
                with server:
                    meter = Meter(budget=ByteBudget(2**62), counts=_Counts())
                    relay(client, server, meter, idle=_IDLE_SECONDS)
        finally:
            self._room.release()

    def _dial_serving(self) -> socket.socket | None:
        """Reach the release that serves; one that is just being restarted is waited for."""
        deadline = time.monotonic() + _DIAL_SECONDS
        while time.monotonic() < deadline and not self._closed.is_set():
            if (place := self._serving) is not None:
                place.starting += 1
                try:
                    return place.connect(seconds=2.0)
                except OSError:
                    pass
                finally:
                    place.starting -= 1
            time.sleep(0.05)
        return None


@dataclass
class _Counts:
    sent: int = 0
    received: int = 0
