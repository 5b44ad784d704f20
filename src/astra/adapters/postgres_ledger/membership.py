"""This machine among those that share a chain: it says every second that it is there, and leads.

Background work has one doer at a time: the holder of a lease row. A lease lives for five seconds by
the database's clock and is renewed every second. Whoever finds one that is over takes it with the
next epoch, also from a holder that hangs and comes back later: that one's appends carry the old
epoch and are refused (`chain_table.check_fence`). A daemon that leaves in order gives its leases
back, so that the next one need not wait.
"""

import contextlib
import json
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from astra.adapters.postgres_ledger import connecting
from astra.adapters.postgres_ledger.connecting import Connection
from astra.trusted.kernel.errors import AstraError, LedgerUnavailable
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.private_files import write_private
from astra.trusted.ledger.fencing import Fence
from astra.trusted.stop.machines import LeaseHolder, Machine, Term

LEASE_SECONDS, RENEW_SECONDS = 5.0, 1.0
_ANSWER_SECONDS = 10.0
_SEEN = """
    INSERT INTO astra.machine VALUES (%s, %s, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, seen = excluded.seen
"""
_TAKE = """
    INSERT INTO astra.lease VALUES (%(name)s, %(holder)s, 1, clock_timestamp() + %(life)s::interval)
    ON CONFLICT (name) DO UPDATE SET
        epoch = lease.epoch + CASE
            WHEN lease.holder = excluded.holder AND lease.until > clock_timestamp() THEN 0 ELSE 1
        END,
        holder = excluded.holder, until = excluded.until
    WHERE lease.holder = excluded.holder OR lease.until <= clock_timestamp()
    RETURNING epoch
"""
_GIVE_BACK = """
    UPDATE astra.lease SET until = clock_timestamp() WHERE name = %s AND holder = %s AND epoch = %s
"""
_LIST = """
    SELECT machine.id, machine.name, extract(epoch FROM clock_timestamp() - seen)::float8,
        coalesce(array_agg(lease.name) FILTER (WHERE until > clock_timestamp()), '{}')
    FROM astra.machine LEFT JOIN astra.lease ON split_part(holder, ':', 1) = machine.id
    GROUP BY machine.id ORDER BY machine.name, machine.id
"""
_LEASES = "SELECT name, split_part(holder, ':', 1), epoch FROM astra.lease"
_log = logging.getLogger("astra.machines")


@dataclass(frozen=True)
class _Held:
    fence: Fence
    until: float
    """When it is over, by this machine's own clock that only goes forward."""


class Membership:
    def __init__(
        self, url: str, var: Path, wanted_leases: Mapping[str, Callable[[], bool]]
    ) -> None:
        """Become one of the machines; each lease is taken while its condition holds."""
        self._url, self._wanted_leases = url, wanted_leases
        self.own_id = read_machine_id(var)
        self._name = f"{socket.gethostname()}:{var.parent}"
        self._holder = f"{self.own_id}:{secrets.token_hex(4)}"
        self._held: dict[str, _Held] = {}
        self._connection: Connection | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run_loop, name="membership", daemon=True)
        self.trouble = ""

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Leave in order: the leases are free at once, and nobody waits for this machine."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_ANSWER_SECONDS)
        while self._thread.is_alive():
            if self._connection:
                connecting.hang_up(self._connection)
            self._thread.join(RENEW_SECONDS)
        with (
            contextlib.suppress(AstraError, psycopg.Error),
            contextlib.closing(connecting.connect(self._url)) as connection,
        ):
            for lease in self._held.values():
                fence = lease.fence
                connection.execute(_GIVE_BACK, [fence.name, fence.holder, fence.epoch])
            connection.execute("DELETE FROM astra.machine WHERE id = %s", [self.own_id])

    def find_term(self, lease: str) -> Term | None:
        held_lease = self._held.get(lease)
        is_over = held_lease is None or time.monotonic() >= held_lease.until
        return None if is_over or held_lease is None else Term(held_lease.fence)

    def list_machines(self) -> Sequence[Machine]:
        try:
            with contextlib.closing(connecting.connect(self._url)) as connection:
                rows = connection.execute(_LIST).fetchall()
        except psycopg.Error as error:
            raise connecting.unreachable_error(self._url, error) from error
        return [
            Machine(id=identifier, name=name, seen_seconds=max(age, 0.0), leads=tuple(leads))
            for identifier, name, age, leads in rows
        ]

    def list_leases(self) -> Mapping[str, LeaseHolder]:
        try:
            with contextlib.closing(connecting.connect(self._url)) as connection:
                rows = connection.execute(_LEASES).fetchall()
        except psycopg.Error as error:
            raise connecting.unreachable_error(self._url, error) from error
        return {name: LeaseHolder(machine, int(epoch)) for name, machine, epoch in rows}

    def forget(self, machine_id: str) -> bool:
        machines = {machine.id: machine for machine in self.list_machines()}
        machine = machines.get(machine_id)
        if machine is None or machine.is_answering:
            return False
        with contextlib.closing(connecting.connect(self._url)) as connection:
            connection.execute("DELETE FROM astra.machine WHERE id = %s", [machine_id])
        return True

    def _run_loop(self) -> None:
        while not self._stopping.is_set():
            try:
                with contextlib.closing(connecting.connect(self._url)) as connection:
                    self._connection = connection
                    while not self._stopping.is_set():
                        self._take_part(connection)
                        self.trouble = ""
                        self._stopping.wait(RENEW_SECONDS)
            except (LedgerUnavailable, psycopg.Error) as error:
                self.trouble = str(error)
                _log.warning("this machine cannot say that it is there: %s", error)
                self._stopping.wait(RENEW_SECONDS / 2)

    def _take_part(self, connection: Connection) -> None:
        connection.execute(_SEEN, [self.own_id, self._name])
        for name, is_wanted in self._wanted_leases.items():
            if not is_wanted():
                continue
            try:
                self._take_lease(connection, name)
            except psycopg.errors.LockNotAvailable:
                connecting.end_hung_writers(connection)
                raise

    def _take_lease(self, connection: Connection, name: str) -> None:
        began = time.monotonic()
        parameters = {"name": name, "holder": self._holder, "life": f"{LEASE_SECONDS} seconds"}
        rows = connection.execute(_TAKE, parameters).fetchall()
        if not rows:
            self._held.pop(name, None)
            return
        fence = Fence(name, self._holder, int(rows[0][0]))
        if name not in self._held or self._held[name].fence != fence:
            _log.info("this machine leads %s from epoch %s on", name, fence.epoch)
        self._held[name] = _Held(fence, began + LEASE_SECONDS)


def read_machine_id(var: Path) -> str:
    """Give the id of a data folder, made at first use; a copy of the folder gets one of its own."""
    path, facts = var / "machine.json", var.stat()
    folder = [os.fspath(var.resolve()), facts.st_dev, facts.st_ino, _read_host_id()]
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        document = json.loads(path.read_bytes())
        if document["folder"] == folder:
            return str(document["id"])
    identifier = random_id("mch")
    write_private(path, json.dumps({"id": identifier, "folder": folder}).encode())
    return identifier


def _read_host_id() -> str:
    with contextlib.suppress(OSError):
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    return socket.gethostname()
