"""Signing on the operator's terminal. The passphrase and the key never leave this process."""

import os
from collections.abc import Mapping
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Head
from astra.trusted.policy import authority

_SHORTEST_PASSPHRASE = 8


def signed(context: Context, action: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Have the operator sign an action with exactly this content, for the ledger as it is now."""
    return sign_with(context, operator_pair(context), action, content)


def sign_with(
    context: Context, pair: KeyPair, action: str, content: Mapping[str, Any]
) -> dict[str, Any]:
    head = context.client().get("/api/ledger/head")
    statement = authority.draft(
        action,
        content,
        root_id=context.client().get("/api/operator")["root_id"],
        head=Head(head["sequence"], head["hash"], head["time"]),
        now=SystemClock().now(),
    )
    return authority.sign(statement, pair).as_dict()


def operator_pair(context: Context) -> KeyPair:
    from astra.trusted.files import operator_key

    root = context.client().get("/api/operator")
    operator_key.read(root["root_id"])
    return operator_key.unlock(
        root["root_id"], passphrase(context, throwaway=bool(root["throwaway"]))
    )


def new_passphrase(context: Context, *, throwaway: bool) -> str:
    """Have the operator choose a passphrase, typed twice."""
    from_environment = os.environ.get("ASTRA_OPERATOR_PASSPHRASE")
    if throwaway and from_environment:
        return from_environment
    console = context.console
    console.note("The operator's passphrase protects the key that signs approvals.")
    first = console.passphrase("new passphrase: ")
    if len(first) < _SHORTEST_PASSPHRASE:
        raise BadInput(
            f"a passphrase has at least {_SHORTEST_PASSPHRASE} characters",
            next_step="run it again with a longer one",
        )
    if console.passphrase("once more: ") != first:
        raise BadInput("the two did not match", next_step="run it again")
    return first


def passphrase(context: Context, *, throwaway: bool) -> str:
    """Ask on the terminal; only throwaway roots may take the answer from the environment."""
    from_environment = os.environ.get("ASTRA_OPERATOR_PASSPHRASE")
    if throwaway and from_environment:
        return from_environment
    return context.console.passphrase("operator's passphrase: ")
