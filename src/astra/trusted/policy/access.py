"""Who stands at the loopback door: sessions of people, and tokens of programs.

A secret is shown once and kept as its sha-256. A session is opened by a one-time link or a passkey
and lets a person look, and tighten; a token is a record that the operator signed, checked again at
every use. Neither of them loosens anything: that takes a signature in the request itself.

Both are for a time. When the operator accepts the clock, all that are open end: their time was
measured by a clock that was wrong.

>>> len(hash_secret("secret"))
64
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, current_time
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Role
from astra.trusted.policy.limits import NO_LIMITS, Limits, read_limits

SESSION_OPENED, SESSION_CLOSED = "session_opened", "session_closed"
TOKEN_CREATED, TOKEN_REVOKED = "token_created", "token_revoked"
SESSION_LIFETIME = timedelta(hours=12)
LONGEST_TOKEN_DAYS = 366
_NAME = re.compile(r"[\w .@:+-]{1,60}")
_HASH = re.compile(r"[0-9a-f]{64}")
_TOKEN_ID = re.compile(r"tok_[0-9a-f]{16}")
_MAY_HAVE = frozenset({"limits", "mine"})


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Somebody whom the door has recognised."""

    id: str
    role: Role
    by: str
    """How: `link`, `passkey` or `token`."""
    expires_at: str
    name: str = ""
    passkey: str = ""
    """The one that opened the session, if one did."""
    limits: Limits = NO_LIMITS
    """What a token may be used for; a session has none."""

    def __str__(self) -> str:
        return f"{'token' if self.by == 'token' else 'session'}:{self.id}"


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def find_principal(
    ledger: Ledger, secret: str, *, now: datetime, holds: Callable[[Record], bool] | None = None
) -> Principal | None:
    """Recognise whoever knows a secret; nobody, when it is unknown, over or taken back.

    `holds` checks a record's signature; whoever asks often may remember its answers.
    """
    digest, moment = hash_secret(secret), _format_current_time(ledger, now)
    return _principal_from_session(ledger, digest, moment) or _principal_from_token(
        ledger,
        digest,
        moment,
        holds or (lambda record: authority.is_signed_by_operator(ledger, record)),
    )


def is_still_recognised(ledger: Ledger, who: Principal, *, now: datetime) -> bool:
    """Tell whether somebody recognised earlier would be recognised now."""
    table = "token" if who.by == "token" else "session"
    rows = ledger.query(f"SELECT ended FROM {table} WHERE id = ?", [who.id])  # noqa: S608 - one of two names
    return bool(rows) and not rows[0][0] and who.expires_at > _format_current_time(ledger, now)


def _format_current_time(ledger: Ledger, now: datetime) -> str:
    return format_time(current_time(now, ledger.head()))


# Sessions


def open_session(
    ledger: Ledger, secret: str, *, by: str, now: datetime, passkey: Mapping[str, Any] | None = None
) -> Principal:
    """Open a session for whoever proved to be a person."""
    identifier = random_id("ses")
    until = format_time(current_time(now, ledger.head()) + SESSION_LIFETIME)
    data = {"session": identifier, "hash": hash_secret(secret), "by": by, "expires_at": until}
    event = Event(
        type=SESSION_OPENED,
        actor=f"session:{identifier}",
        data={**data, **(passkey or {})},
        subject=identifier,
        signed=passkey is not None,
    )
    ledger.append([event])
    return Principal(
        id=identifier,
        role=Role.OPERATOR,
        by=by,
        expires_at=until,
        passkey=str((passkey or {}).get("passkey", "")),
    )


def close_session(ledger: Ledger, identifier: str, *, actor: str) -> None:
    data = {"session": identifier}
    ledger.append([Event(type=SESSION_CLOSED, actor=actor, data=data, subject=identifier)])


def _principal_from_session(ledger: Ledger, digest: str, moment: str) -> Principal | None:
    rows = ledger.query(
        "SELECT id, by, expires_at, passkey FROM session"
        " WHERE hash = ? AND ended = '' AND expires_at > ?",
        [digest, moment],
    )
    for identifier, by, until, passkey in rows:
        return Principal(
            id=identifier, role=Role.OPERATOR, by=by, expires_at=until, passkey=passkey
        )
    return None


def is_not_ended(ledger: Ledger, identifier: str) -> bool:
    """Tell whether nobody has ended a session; its time may be over."""
    rows = ledger.query("SELECT ended FROM session WHERE id = ?", [identifier])
    return bool(rows) and not rows[0][0]


def list_open_sessions(ledger: Ledger) -> list[str]:
    """Name the sessions that nobody has ended; the time of some may be over."""
    return [row[0] for row in ledger.query("SELECT id FROM session WHERE ended = ''")]


def is_open(ledger: Ledger, identifier: str, *, now: datetime) -> bool:
    rows = ledger.query("SELECT ended, expires_at FROM session WHERE id = ?", [identifier])
    return bool(rows) and not rows[0][0] and rows[0][1] > _format_current_time(ledger, now)


# Tokens


@dataclass(frozen=True, kw_only=True)
class Token:
    id: str
    name: str
    role: str
    created_at: str
    expires_at: str
    ended: str
    limits: Limits = NO_LIMITS
    made_by: str = ""
    """The operator who signed for it."""
    mine: bool = False
    """Whether what it asks for is asked for by that operator."""

    def as_dict(self) -> dict[str, Any]:
        document = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**document, "limits": self.limits.as_dict()}


def token_content(
    secret: str,
    *,
    name: str,
    role: str,
    now: datetime,
    days: int = 0,
    hours: int = 0,
    limits: Limits = NO_LIMITS,
    mine: bool = False,
) -> dict[str, Any]:
    """Give what an operator signs to make a token; the secret itself is not in it."""
    content: dict[str, Any] = {
        "token": random_id("tok"),
        "name": name,
        "role": role,
        "hash": hash_secret(secret),
        "expires_at": format_time(now + timedelta(days=days, hours=hours)),
    }
    if limits != NO_LIMITS:
        content["limits"] = limits.as_dict()
    if mine:
        content["mine"] = True
    _check_token(content, now)
    return content


def create_token(
    ledger: Ledger, content: Mapping[str, Any], signed: Signed, *, now: datetime
) -> Record:
    _check_token(content, current_time(now, ledger.head()))
    event = Event(
        type=TOKEN_CREATED, actor="operator", data=dict(content), subject=str(content["token"])
    )
    event = authority.signed_event(ledger, event, signed, now=now)
    (record,) = ledger.append([event], expect={str(content["token"]): 0})
    return record


def revoke_token(ledger: Ledger, identifier: str, *, actor: str) -> Token:
    """Take a token back, at once; doing it twice changes nothing."""
    stored_token = get_token(ledger, identifier)
    if not stored_token.ended:
        data = {"token": identifier}
        ledger.append([Event(type=TOKEN_REVOKED, actor=actor, data=data, subject=identifier)])
    return get_token(ledger, identifier)


def get_token(ledger: Ledger, identifier: str) -> Token:
    for stored_token in _query_tokens(ledger, "WHERE id = ?", identifier):
        return stored_token
    raise NotFound(f"there is no token {identifier}", next_step="astra tokens list")


def list_tokens(ledger: Ledger) -> list[Token]:
    return _query_tokens(ledger, "ORDER BY sequence")


def list_belonging(ledger: Ledger, operator: str) -> list[Token]:
    """Give the open tokens with which an operator acts."""
    tokens = _query_tokens(ledger, "WHERE ended = '' ORDER BY sequence")
    return [token for token in tokens if token.made_by == operator and belongs_to_maker(token)]


def belongs_to_maker(token: Token) -> bool:
    """Tell a token that an operator acts with from one for an agent or a service."""
    return token.mine or token.role in {Role.OPERATOR, Role.VIEWER}


def _query_tokens(ledger: Ledger, condition: str, *parameters: Any) -> list[Token]:
    sql = f"SELECT line, ended FROM token JOIN record USING (sequence) {condition}"  # noqa: S608 - fixed text
    rows = ledger.query(sql, parameters)
    return [_read_token(ledger, chain.parse(line), ended) for line, ended in rows]


def _read_token(ledger: Ledger, record: Record, ended: str) -> Token:
    data, signers = record.data, authority.find_signers(ledger, record)
    return Token(
        id=str(data["token"]),
        name=str(data["name"]),
        role=str(data["role"]),
        created_at=record.time,
        expires_at=str(data["expires_at"]),
        ended=ended,
        limits=_read_limits(data),
        made_by=signers[-1] if signers else "",
        mine=bool(data.get("mine")),
    )


def _read_limits(data: Mapping[str, Any]) -> Limits:
    return read_limits(data["limits"]) if "limits" in data else NO_LIMITS


def _principal_from_token(
    ledger: Ledger, digest: str, moment: str, holds: Callable[[Record], bool]
) -> Principal | None:
    rows = ledger.query(
        "SELECT line FROM token JOIN record USING (sequence)"
        " WHERE hash = ? AND ended = '' AND expires_at > ?",
        [digest, moment],
    )
    for (line,) in rows:
        record = chain.parse(line)
        if holds(record):
            data = record.data
            return Principal(
                id=str(data["token"]),
                role=Role(data["role"]),
                by="token",
                expires_at=str(data["expires_at"]),
                name=str(data["name"]),
                limits=_read_limits(data),
            )
    return None


def _check_token(content: Mapping[str, Any], now: datetime) -> None:
    member_checks: dict[str, Callable[[str], Any]] = {
        "token": _TOKEN_ID.fullmatch,
        "name": _NAME.fullmatch,
        "role": frozenset(Role).__contains__,
        "hash": _HASH.fullmatch,
        "expires_at": lambda text: _soon_over(text, now),
    }
    if content.keys() - _MAY_HAVE != member_checks.keys():
        raise BadInput(
            f"a token has {', '.join(member_checks)}",
            next_step="make it with `astra tokens create`",
        )
    for member, check in member_checks.items():
        if not isinstance(content[member], str) or not check(content[member]):
            raise BadInput(
                f"{member} of the token is not acceptable",
                next_step=f"a role is one of {', '.join(Role)}; a name has letters and spaces, up"
                f" to 60; a token lives at most {LONGEST_TOKEN_DAYS} days",
                field=member,
            )
    _check_limits(content)


def _check_limits(content: Mapping[str, Any]) -> None:
    limits = _read_limits(content)
    if "mine" in content and content["mine"] is not True:
        raise BadInput("`mine` is true, or left out", next_step="astra tokens create --mine")
    if "limits" in content and limits == NO_LIMITS:
        raise BadInput("a scope that narrows nothing is left out", next_step="leave it out")
    if content["role"] == Role.SERVICE and not limits.routes:
        raise BadInput(
            "a service's token names the routes that it is for",
            code="service_without_routes",
            next_step="astra tokens create NAME --role service --for metrics, or --route 'GET /…'",
        )


def _soon_over(text: str, now: datetime) -> bool:
    try:
        time_left = parse_time(text) - now
    except ValueError:
        return False
    return timedelta(0) < time_left <= timedelta(days=LONGEST_TOKEN_DAYS, minutes=10)


# The index


def _apply_record(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == SESSION_OPENED:
        row = (record.subject, data["hash"], data["by"], data["expires_at"])
        yield "INSERT INTO session VALUES (?, ?, ?, ?, '', ?)", (*row, data.get("passkey", ""))
    elif record.type == TOKEN_CREATED:
        row = (record.subject, data["name"], data["role"], data["hash"], record.time)
        more = (data["expires_at"], record.sequence)
        yield "INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, '', ?)", (*row, *more)
    elif record.type == CLOCK_ACCEPTED:
        for table in ("session", "token"):
            yield f"UPDATE {table} SET ended = ? WHERE ended = ''", (record.time,)  # noqa: S608 - one of two names
    else:
        table = "session" if record.type == SESSION_CLOSED else "token"
        yield (
            f"UPDATE {table} SET ended = ? WHERE id = ? AND ended = ''",  # noqa: S608 - one of two names
            (record.time, record.subject),
        )


PROJECTION = Projection(
    "access",
    (
        """CREATE TABLE session (
            id TEXT PRIMARY KEY, hash TEXT, by TEXT, expires_at TEXT, ended TEXT, passkey TEXT
        ) WITHOUT ROWID""",
        "CREATE INDEX session_hash ON session (hash)",
        "CREATE INDEX session_ended ON session (ended)",
        """CREATE TABLE token (
            id TEXT PRIMARY KEY, name TEXT, role TEXT, hash TEXT, created_at TEXT,
            expires_at TEXT, ended TEXT, sequence INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX token_hash ON token (hash)",
    ),
    _apply_record,
    types=frozenset({SESSION_OPENED, SESSION_CLOSED, TOKEN_CREATED, TOKEN_REVOKED, CLOCK_ACCEPTED}),
    version=2,
)
