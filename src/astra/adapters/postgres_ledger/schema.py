"""The tables of a chain, who owns them, and what the daemon's role may do with them.

One role owns the tables; the daemons use another, which may read and add records and nothing else:
it can neither change nor remove one. A trigger refuses both to everybody, the owner included, until
somebody removes the trigger: a second line, not the first.
"""

from contextlib import closing

import psycopg
from psycopg import sql

from astra.adapters.postgres_ledger.connecting import (
    DATABASE_URL,
    Connection,
    check_server,
    connect,
    describe_address,
)
from astra.trusted.kernel.errors import BadInput, BadSetting, LedgerUnavailable
from astra.trusted.ledger.record import GENESIS

VERSION = 1
NEXT_STEP = "astra ledger prepare --to OWNER_URL --role ROLE"
_TABLES = f"""
    CREATE SCHEMA astra;
    CREATE TABLE astra.about (version integer NOT NULL);
    INSERT INTO astra.about VALUES ({VERSION});
    CREATE TABLE astra.record (sequence bigint PRIMARY KEY, line text NOT NULL);
    CREATE TABLE astra.head (
        single boolean PRIMARY KEY DEFAULT true CHECK (single),
        sequence bigint NOT NULL, hash text NOT NULL, time text NOT NULL,
        closed text NOT NULL DEFAULT ''
    ) WITH (fillfactor = 10);
    INSERT INTO astra.head (sequence, hash, time) VALUES (0, '{GENESIS}', '');
    CREATE TABLE astra.lease (
        name text PRIMARY KEY, holder text NOT NULL, epoch bigint NOT NULL,
        until timestamptz NOT NULL
    ) WITH (fillfactor = 10);
    CREATE TABLE astra.machine (
        id text PRIMARY KEY, name text NOT NULL, seen timestamptz NOT NULL
    ) WITH (fillfactor = 10);
    CREATE FUNCTION astra.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'records of the chain are never changed or removed';
    END $$;
    CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON astra.record
        FOR EACH STATEMENT EXECUTE FUNCTION astra.refuse_change()
"""  # noqa: S608 - constants of this module
_GRANTS = """
    REVOKE ALL ON ALL TABLES IN SCHEMA astra FROM {role};
    GRANT USAGE ON SCHEMA astra TO {role};
    GRANT SELECT ON astra.about TO {role};
    GRANT SELECT, INSERT ON astra.record TO {role};
    GRANT SELECT, UPDATE ON astra.head TO {role};
    GRANT SELECT, INSERT, UPDATE ON astra.lease TO {role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON astra.machine TO {role}
"""
_CAN_CHANGE = """
    SELECT has_table_privilege('astra.record', 'UPDATE')
        OR has_table_privilege('astra.record', 'DELETE')
        OR has_table_privilege('astra.record', 'TRUNCATE')
"""


def prepare_database(owner_url: str, role: str) -> bool:
    """Make the tables as their owner and let the daemons' role use them; False if they were there.

    All of it happens or nothing does.
    """
    check_server(owner_url)
    with closing(connect(owner_url)) as connection:
        try:
            with connection.transaction():
                is_new = find_version(connection) is None
                if is_new:
                    connection.execute(_TABLES.encode())
                connection.execute(sql.SQL(_GRANTS).format(role=sql.Identifier(role)))
        except psycopg.Error as error:
            raise BadInput(
                f"the tables could not be made in {describe_address(owner_url)}:"
                f" {str(error).splitlines()[0]}",
                next_step="use an address whose role may create a schema, and a role that exists",
            ) from error
        _refuse_owner_as_daemon(connection, role)
    return is_new


def check_tables(url: str) -> None:
    """Refuse a database without the tables, of another version, or with too mighty a role."""
    with closing(connect(url)) as connection:
        version = _read_version(connection)
        if version is None:
            raise BadSetting(
                f"the database {describe_address(url)} has no tables for a chain, or its role may"
                " not use them",
                next_step=NEXT_STEP,
                key=DATABASE_URL,
            )
        if version != VERSION:
            raise BadSetting(
                f"the tables in {describe_address(url)} have version {version}; this Astra knows"
                f" version {VERSION}",
                next_step="run the version of Astra that made them",
                key=DATABASE_URL,
            )
        ((may_change,),) = connection.execute(_CAN_CHANGE).fetchall()
        if may_change:
            raise BadSetting(
                f"the role that {DATABASE_URL} names may change or remove records",
                next_step=f"use a role of its own for the daemons: {NEXT_STEP}",
                key=DATABASE_URL,
            )


def find_version(connection: Connection) -> int | None:
    """Give the version of the tables, None where there are none."""
    ((table,),) = connection.execute("SELECT to_regclass('astra.about')::text").fetchall()
    if table is None:
        return None
    ((version,),) = connection.execute("SELECT version FROM astra.about").fetchall()
    return int(version)


def _read_version(connection: Connection) -> int | None:
    try:
        return find_version(connection)
    except psycopg.errors.InsufficientPrivilege:
        return None
    except psycopg.Error as error:
        raise LedgerUnavailable(
            f"the tables of the chain cannot be read: {error}", next_step=NEXT_STEP
        ) from error


def _refuse_owner_as_daemon(connection: Connection, role: str) -> None:
    rows = connection.execute(
        "SELECT rolsuper OR pg_has_role(oid, (SELECT relowner FROM pg_class"
        " WHERE oid = 'astra.record'::regclass), 'MEMBER') FROM pg_roles WHERE rolname = %s",
        [role],
    ).fetchall()
    if rows and rows[0][0]:
        raise BadInput(
            f"the role {role} owns the tables or is a superuser: it could change records",
            next_step="CREATE ROLE astra_daemon LOGIN, and name that one with --role",
        )
