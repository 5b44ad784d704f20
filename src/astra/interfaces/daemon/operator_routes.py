"""Operators over HTTP: who they are, and changes that operators signed."""

from typing import Annotated, Any

from fastapi import Body, FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Accepted, RoundShown, Shape
from astra.trusted.policy import enlisting
from astra.trusted.policy.authority import Signed


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
        return enlisting.describe_operators(runtime.ledger, now=runtime.clock.now())

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
