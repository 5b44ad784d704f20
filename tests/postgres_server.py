"""A real Postgres for tests: a server of its own in a temporary folder, a database for each test.

It listens on a Unix socket only, runs as a user without rights (initdb refuses root), and is ended
by its id. One serves a whole process of tests; tests that restart it start one for themselves.
"""

import atexit
import contextlib
import functools
import os
import pwd
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg

from astra.adapters.postgres_ledger.connecting import Connection
from astra.adapters.postgres_ledger.schema import prepare_database
from astra.trusted.kernel.ids import random_id

OWNER, DAEMON = "chain_owner", "chain_daemon"
_FAST = ("fsync=off", "full_page_writes=off", "max_wal_size=256MB", "autovacuum=off")


def find_programs() -> Path:
    """Give the folder of the newest server that Debian installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    program = str(folders[-1]) if folders else shutil.which("postgres")
    assert program, "these tests need Postgres: run `make setup`, or apt-get install postgresql"
    return Path(program).resolve().parent


def run_as() -> list[str]:
    """Give the words before a command that make it run without rights."""
    if os.getuid() != 0:
        return []
    user = pwd.getpwnam("postgres")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


@dataclass
class PostgresServer:
    options: tuple[str, ...] = _FAST
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="astra-pg-")))
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        initdb = [str(find_programs() / "initdb"), "-A", "trust", "-U", "postgres", "-E", "UTF8"]
        command = [*run_as(), *initdb, "--locale=C", "--no-sync", "-D", str(self.data)]
        subprocess.run(command, check=True, capture_output=True, cwd="/")
        self.start()
        with self.connect("postgres", "postgres") as connection:
            connection.execute(f"CREATE ROLE {OWNER} LOGIN".encode())
            connection.execute(f"CREATE ROLE {DAEMON} LOGIN".encode())

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        settings = [f"unix_socket_directories={self.folder}", "listen_addresses=", *self.options]
        program = str(find_programs() / "postgres")
        arguments = [word for setting in settings for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*run_as(), program, "-D", str(self.data), *arguments],
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for whoever started it, who ends it in order
            )
        self._await_ready()

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End the server: at once for its clients (SIGINT), or without a last word (SIGQUIT)."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(240)
            self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, user: str) -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def connect(self, database: str, user: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.url(database, user), autocommit=True)

    def create_database(self) -> "Database":
        """Make an empty database with the tables of a chain."""
        name = random_id("db").replace("-", "_")
        with self.connect("postgres", "postgres") as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {OWNER}".encode())
        database = Database(self, name)
        prepare_database(database.owner_url, DAEMON)
        return database

    def _await_ready(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect("postgres", "postgres").close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.02)
            else:
                return


@dataclass(frozen=True)
class Database:
    server: PostgresServer
    name: str

    @property
    def owner_url(self) -> str:
        return self.server.url(self.name, OWNER)

    @property
    def url(self) -> str:
        return self.server.url(self.name, DAEMON)

    def connect(self, user: str = OWNER) -> psycopg.Connection[tuple[object, ...]]:
        return self.server.connect(self.name, user)

    def end_connections(self) -> int:
        """End every connection to this database but the one that asks."""
        with self.server.connect(self.name, "postgres") as connection:
            rows = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchall()
        return len(rows)

    def drop(self) -> None:
        with self.server.connect("postgres", "postgres") as connection:
            connection.execute(f"DROP DATABASE {self.name} WITH (FORCE)".encode())


@functools.cache
def shared_server() -> PostgresServer:
    """Give the server of this process of tests, started when the first test asks for it."""
    server = PostgresServer()
    atexit.register(server.remove)
    return server


@contextlib.contextmanager
def new_database() -> Iterator[Database]:
    database = shared_server().create_database()
    try:
        yield database
    finally:
        database.drop()


def pause_within_batch(connection: Connection) -> None:
    """Send one statement of a batch and no end of it: what a client does that was paused there."""
    connection.pgconn.enter_pipeline_mode()
    connection.pgconn.send_query_params(b"SELECT 1", [])
    connection.pgconn.send_flush_request()
    connection.pgconn.flush()
    assert select.select([connection.fileno()], [], [], 60)[0], "the server ran the statement"
