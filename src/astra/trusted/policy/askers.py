"""Who asked for something: the operator behind a record, where the chain can tell.

A signature names its operator; so does the passkey that opened a session, the token that an
operator made to act with, and the OS user that operators signed to be somebody's. What a plan, a
goal or a schedule asks for was asked for by whoever asked for that. An agent's request has no
operator behind it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from astra.trusted.kernel.ids import is_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record
from astra.trusted.policy.call import Role
from astra.trusted.policy.operators import Council

_MOST_STEPS = 8
"""How far a request is followed: a change of a plan of a goal of a desire."""
_ROLES = tuple(f"{role}:" for role in Role)


@dataclass(frozen=True, kw_only=True)
class Asker:
    name: str = ""
    """The operator; nothing where none asked, or nobody can tell which."""
    is_person: bool = False

    @property
    def is_unseen(self) -> bool:
        """Whether some operator asked, and nobody can tell which."""
        return self.is_person and not self.name


_PROGRAM, _UNSEEN = Asker(), Asker(is_person=True)


@dataclass(frozen=True, kw_only=True)
class Trail:
    """What is known of a chain, for following a request to whoever asked first."""

    ledger: Ledger
    find_signers: Callable[[Record], tuple[str, ...]]
    find_passkey_owner: Callable[[str, int], str]
    """Names whose a passkey is at a place in the chain."""
    council_at: Callable[[int], Council]

    def find_asker(self, record: Record) -> Asker:
        for _ in range(_MOST_STEPS):
            if "authority" in record.raw_data:
                names = self.find_signers(record)
                return Asker(name=names[-1], is_person=True) if names else _UNSEEN
            earlier = self._find_cause(record)
            if earlier is None:
                return self._read_actor(record)
            record = earlier
        return _UNSEEN

    def _find_cause(self, record: Record) -> Record | None:
        """Give the first record about the plan, goal or schedule in whose name this was asked."""
        name = strip_role(record.actor)
        mentions = self.ledger.find_mentions(name, limit=1) if is_id(name) else []
        return next((cause for cause in mentions if cause.sequence < record.sequence), None)

    def _read_actor(self, record: Record) -> Asker:
        kind, _, name = strip_role(record.actor).partition(":")
        if kind == "session":
            return self._read_session(name)
        if kind == "token":
            return self._read_token(name)
        if kind == "user" and (operator := self.council_at(record.sequence).find_by_user(name)):
            return Asker(name=operator.name, is_person=True)
        return Asker(is_person=record.actor.startswith(("operator", "user:")))

    def _read_session(self, identifier: str) -> Asker:
        for opening in self.ledger.records_of(identifier, "session_opened"):
            if passkey := str(opening.data.get("passkey", "")):
                return Asker(
                    name=self.find_passkey_owner(passkey, opening.sequence), is_person=True
                )
        return _UNSEEN

    def _read_token(self, identifier: str) -> Asker:
        """Tell an operator's own token from one for an agent or a service."""
        for record in self.ledger.records_of(identifier, "token_created"):
            data, names = record.data, self.find_signers(record)
            if not data.get("mine") and data.get("role") in {Role.AGENT, Role.SERVICE}:
                return _PROGRAM
            return Asker(name=names[-1] if names else "", is_person=True)
        return _UNSEEN


def strip_role(actor: str) -> str:
    """Give who acted, without the role in which they did.

    >>> strip_role("agent:token:tok_0123456789abcdef"), strip_role("operator")
    ('token:tok_0123456789abcdef', 'operator')
    """
    return next((actor.removeprefix(role) for role in _ROLES if actor.startswith(role)), actor)
