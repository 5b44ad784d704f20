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
_PROMPT = "operator's passphrase: "


def sign_action(
    context: Context, action: str, content: Mapping[str, Any], *, prompt: str = _PROMPT
) -> dict[str, Any]:
    """Have the operator sign an action with exactly this content, for the ledger as it is now."""
    return sign_with(context, unlock_operator_pair(context, prompt=prompt), action, content)


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


def unlock_operator_pair(context: Context, *, prompt: str = _PROMPT) -> KeyPair:
    from astra.trusted.files import operators_key

    root = context.client().get("/api/operator")
    operators_key.read(root["root_id"])
    throwaway = bool(root["throwaway"])
    passphrase = ask_passphrase(context, throwaway=throwaway, prompt=prompt)
    return operators_key.unlock(root["root_id"], passphrase)


def require_way_to_sign(context: Context) -> None:
    """Refuse at once where the key is missing, or where nobody could type its passphrase."""
    from astra.trusted.files import operators_key

    root = context.client().get("/api/operator")
    operators_key.read(root["root_id"])
    if not (root["throwaway"] and os.environ.get("ASTRA_OPERATOR_PASSPHRASE")):
        context.console.require_terminal()


def new_passphrase(context: Context, *, throwaway: bool) -> str:
    """Have the operator choose a passphrase, typed twice."""
    from_environment = os.environ.get("ASTRA_OPERATOR_PASSPHRASE")
    if throwaway and from_environment:
        return from_environment
    console = context.console
    console.note("The operator's passphrase protects the key that signs approvals.")
    first = console.ask_passphrase("new passphrase: ")
    if len(first) < _SHORTEST_PASSPHRASE:
        raise BadInput(
            f"a passphrase has at least {_SHORTEST_PASSPHRASE} characters",
            next_step="run it again with a longer one",
        )
    if console.ask_passphrase("once more: ") != first:
        raise BadInput("the two did not match", next_step="run it again")
    return first


def ask_passphrase(context: Context, *, throwaway: bool, prompt: str = _PROMPT) -> str:
    """Ask on the terminal; only throwaway roots may take the answer from the environment."""
    from_environment = os.environ.get("ASTRA_OPERATOR_PASSPHRASE")
    if throwaway and from_environment:
        return from_environment
    return context.console.ask_passphrase(prompt)


def asks_for_passphrase(context: Context) -> bool:
    """Tell whether signing will ask on the terminal, or finds the passphrase in the environment."""
    is_throwaway = bool(context.client().get("/api/operator")["throwaway"])
    return not (is_throwaway and os.environ.get("ASTRA_OPERATOR_PASSPHRASE"))
