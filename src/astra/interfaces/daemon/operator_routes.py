"""Operators over HTTP: who they are, and changes that operators signed."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Body, FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Accepted, RoundShown, Shape
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import authority, enlisting, enrolment
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.rounds import list_waiting_rounds


class RoleShown(Shape):
    duties: list[str]
    tier: int = Field(description="the highest tier of a call that the operator may approve")
    paths: list[str] = Field(description="globs; none where it is for every path")


class OperatorListed(Shape):
    name: str
    key: str = Field(description="the public key")
    fingerprint: str
    role: RoleShown
    passkeys: list[str]
    users: list[str] = Field(description="ids of OS users who are the operator at a terminal")
    since: str
    signed_by: list[str] = Field(description="who enrolled the operator; nobody did the owner")


class RulesShown(Shape):
    quorum: dict[str, int] = Field(description="how many operators sign, by what it is about")
    separate_approver: bool = Field(description="whether who asked may not approve")


class OperatorsShown(Shape):
    items: list[OperatorListed]
    rules: RulesShown
    waiting: list[RoundShown]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/operators", response_model=OperatorsShown)
    def list_operators() -> dict[str, Any]:
        return describe_operators(runtime.ledger, now=runtime.clock.now())

    @app.post("/api/operators")
    def change_operators(
        action: Annotated[str, Body(max_length=100)],
        content: Annotated[dict[str, Any], Body()],
        signature: Annotated[dict[str, Any], Body(alias="authority")],
    ) -> Accepted:
        """Record a change of operators, roles or rules; 202 while signatures are missing."""
        record = enlisting.record_change(
            runtime.ledger, action, content, Signed.read(signature), now=runtime.clock.now()
        )
        return Accepted(sequence=record.sequence)


def describe_operators(ledger: Ledger, *, now: datetime) -> dict[str, Any]:
    """Give everything about operators that a door shows: who, the rules, what waits."""
    council = authority.find_keys(ledger)
    passkeys = _list_passkeys_by_owner(ledger)
    return {
        "items": [
            {
                "name": operator.name,
                "key": operator.key,
                "fingerprint": operator.fingerprint,
                "role": operator.role.as_dict(),
                "passkeys": passkeys.get(operator.name, []),
                "users": list(operator.users),
                "since": operator.since,
                "signed_by": list(operator.signed_by),
            }
            for operator in council.operators
        ],
        "rules": council.rules.as_dict(),
        "waiting": list_waiting_rounds(ledger, now=now),
    }


def _list_passkeys_by_owner(ledger: Ledger) -> dict[str, list[str]]:
    owners = dict[str, list[str]]()
    for passkey in enrolment.list_passkeys(ledger):
        if not passkey.revoked_at:
            owners.setdefault(passkey.operator, []).append(passkey.name)
    return owners
