"""Who the operators are, what each may sign, and how many it takes: values and rules, pure.

A council is the state at one place in the chain. It begins with the founding key, the operator
`owner`, who may sign everything; `advance` gives the next one for a record whose signature was
judged already. Roles never widen: nobody decides about a role that their own does not include.

>>> reviewer = Role(duties=frozenset({"approve:change"}), tier=1)
>>> FULL.includes(reviewer), reviewer.includes(FULL)
(True, False)
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from astra.trusted.kernel import canonical, signatures
from astra.trusted.kernel.errors import BadInput, Refused
from astra.trusted.policy.roles import FULL, Role, read_role
from astra.trusted.policy.scopes import CONFIGURATION, OPERATORS, PROTECTED, QUORUMS, Scope

ENROLLED, REMOVED = "operator_enrolled", "operator_removed"
ROLE_SET, RULES_SET = "operator_role_set", "operator_rules_set"
USERS_SET = "operator_users_set"
CHANGES = (ENROLLED, REMOVED, ROLE_SET, RULES_SET, USERS_SET)
SUBJECT = "operators"
OWNER = "owner"
MOST_SIGNATURES, MOST_OPERATORS, MOST_USERS = 9, 100, 10
_NAME = re.compile(r"[a-z][a-z0-9._-]{0,31}")
_RESERVED = frozenset(
    {"agent", "astra", "daemon", "operator", "session", "token", "user", "viewer"}
)
_USER_ID = re.compile(r"0|[1-9][0-9]{0,9}")
_PUBLIC_KEY = re.compile(r"[0-9a-f]{64}")
_REQUEST_PREFIX = b"astra-operator-request-v1\n"
_MEMBERS: Mapping[str, frozenset[str]] = {
    ENROLLED: frozenset({"name", "key", "proof", "role"}),
    REMOVED: frozenset({"name"}),
    ROLE_SET: frozenset({"name", "role"}),
    RULES_SET: frozenset({"quorum", "separate_approver"}),
    USERS_SET: frozenset({"name", "users"}),
}


class OperatorsRefused(Refused):
    code = "operators_refused"


@dataclass(frozen=True, kw_only=True)
class Operator:
    name: str
    key: str
    role: Role
    since: str = ""
    signed_by: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    """The ids of OS users who are this operator at a terminal, and no agent."""

    @property
    def fingerprint(self) -> str:
        return self.key[:16]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How many operators have to sign, by what it is about; and whether who asked may."""

    quorum: Mapping[str, int] = field(default_factory=dict[str, int])
    separate_approver: bool = False

    def count_needed(self, scope: Scope) -> int:
        return self.quorum.get(scope.quorum, 1)

    def as_dict(self) -> dict[str, Any]:
        counts = {name: self.quorum.get(name, 1) for name in QUORUMS}
        return {"quorum": counts, "separate_approver": self.separate_approver}


@dataclass(frozen=True, kw_only=True)
class Council:
    """The data root's id, and who may speak for it at a place in the chain."""

    root_id: str
    recovery: str
    throwaway: bool
    operators: tuple[Operator, ...]
    rules: Rules = field(default_factory=Rules)
    key_owners: Mapping[str, str] = field(default_factory=dict[str, str])
    """Whose each key is or was; a key is nobody else's ever after."""

    @property
    def operator(self) -> str:
        """The owner's key; nothing once the others removed the owner."""
        owner = self.find_by_name(OWNER)
        return owner.key if owner else ""

    @property
    def was_ever_several(self) -> bool:
        return len(set(self.key_owners.values())) > 1

    def find_by_name(self, name: str) -> Operator | None:
        return next((operator for operator in self.operators if operator.name == name), None)

    def find_by_user(self, user: str) -> Operator | None:
        return next((operator for operator in self.operators if user in operator.users), None)

    def find_by_key(self, key: str) -> Operator | None:
        return next((operator for operator in self.operators if operator.key == key), None)


def found_council(created: Mapping[str, Any], *, since: str) -> Council:
    """Give the council as a data root begins with: one operator, who may sign everything."""
    key = str(created["operator_key"])
    return Council(
        root_id=created["root_id"],
        recovery=created["recovery_key"],
        throwaway=bool(created["throwaway"]),
        operators=(Operator(name=OWNER, key=key, role=FULL, since=since),),
        key_owners={key: OWNER},
    )


def find_objection(council: Council, signer: Operator, scope: Scope) -> str:
    """Say why an operator may not sign a statement, or nothing when they may."""
    if scope.about_operator == signer.name and scope.is_removal:
        return f"an operator is removed by the others; {signer.name} cannot sign for it"
    return (
        signer.role.find_objection(scope)
        or _find_own_user_dropped(signer, scope)
        or _find_wider_role(council, signer, scope)
        or _find_own_request(council, signer, scope)
    )


def _find_own_user_dropped(signer: Operator, scope: Scope) -> str:
    """Keep somebody from becoming unknown at a terminal by their own word."""
    users: Any = scope.users
    if scope.about_operator != signer.name or not isinstance(users, list):
        return ""
    if set(signer.users) - set(cast("list[Any]", users)):
        return f"another operator signs that {signer.name} is an OS user no longer"
    return ""


def _find_wider_role(council: Council, signer: Operator, scope: Scope) -> str:
    current = council.find_by_name(scope.about_operator)
    roles = [read_role(scope.role)] if scope.role is not None else []
    roles += [current.role] if current else []
    if not all(signer.role.includes(role) for role in roles):
        return f"{signer.name}'s role does not include the one that this is about"
    return ""


def _find_own_request(council: Council, signer: Operator, scope: Scope) -> str:
    if council.rules.separate_approver and scope.asked_by == signer.name:
        return f"{signer.name} asked for this; another operator has to sign it"
    return ""


def count_needed(council: Council, scope: Scope) -> int:
    """Say how many operators have to sign a statement."""
    needed = council.rules.count_needed(scope)
    return max(needed, 2) if council.rules.separate_approver and scope.asks_unseen else needed


# What changes a council


def advance(
    council: Council, action: str, content: Mapping[str, Any], *, time: str, names: tuple[str, ...]
) -> Council:
    """Give the council after a change that `names` signed for; refuse one that makes no sense."""
    if frozenset(content) != _MEMBERS[action]:
        raise _build_refusal(f"{action} has {', '.join(sorted(_MEMBERS[action]))}")
    if action == ENROLLED:
        changed = _enrol(council, content, time=time, names=names)
    elif action == RULES_SET:
        changed = replace(council, rules=read_rules(content))
    else:
        changed = _change_operator(council, action, content)
    if deadlock := find_deadlock(changed):
        raise OperatorsRefused(
            deadlock,
            code="nobody_could_sign",
            next_step="enrol another operator first, or lower the rule: astra operators rules",
        )
    return changed


def replace_key(council: Council, name: str, new_key: str) -> Council:
    """Give the council after an operator's key was replaced."""
    if not is_public_key(new_key) or council.key_owners.get(new_key, name) != name:
        raise _build_refusal("the new key is another operator's")
    operators = tuple(
        replace(operator, key=new_key) if operator.name == name else operator
        for operator in council.operators
    )
    return replace(council, operators=operators, key_owners={**council.key_owners, new_key: name})


def _enrol(
    council: Council, content: Mapping[str, Any], *, time: str, names: tuple[str, ...]
) -> Council:
    name, key = str(content["name"]), str(content["key"])
    check_name(name)
    if name in council.key_owners.values():
        raise _build_refusal(f"{name} is or was an operator; a name is given once")
    if not is_public_key(key) or key in {*council.key_owners, council.recovery}:
        raise _build_refusal("that key is in use already, or was; a key is enrolled once")
    message = request_bytes(council.root_id, name, key)
    if not signatures.verify(key, message, str(content["proof"])):
        raise _build_refusal("the request was not signed by the key that it names")
    if len(council.operators) >= MOST_OPERATORS:
        raise _build_refusal(f"there are {MOST_OPERATORS} operators, which is the most")
    role = read_role(content["role"])
    operator = Operator(name=name, key=key, role=role, since=time, signed_by=names)
    return replace(
        council,
        operators=(*council.operators, operator),
        key_owners={**council.key_owners, key: name},
    )


def _change_operator(council: Council, action: str, content: Mapping[str, Any]) -> Council:
    operator = council.find_by_name(str(content["name"]))
    if operator is None:
        raise _build_refusal(f"there is no operator {str(content['name'])[:40]!a}")
    if action == REMOVED:
        remaining = tuple(o for o in council.operators if o.name != operator.name)
        return replace(council, operators=remaining)
    if action == USERS_SET:
        changed = replace(operator, users=_read_users(council, operator, content["users"]))
    else:
        changed = replace(operator, role=read_role(content["role"]))
    operators = tuple(changed if o.name == operator.name else o for o in council.operators)
    return replace(council, operators=operators)


def _read_users(council: Council, operator: Operator, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _build_refusal("OS users are a list")
    users = cast("list[Any]", value)
    if not all(isinstance(user, str) and _USER_ID.fullmatch(user) for user in users):
        raise _build_refusal("OS users are numbers, as `id -u` says them")
    if users != sorted(set(users)) or len(users) > MOST_USERS:
        raise _build_refusal(f"OS users are named once, in order, at most {MOST_USERS}")
    for user in users:
        if (owner := council.find_by_user(user)) and owner.name != operator.name:
            raise _build_refusal(f"the OS user {user} is {owner.name}'s")
    return tuple(users)


def find_deadlock(council: Council) -> str:
    """Say which rule nobody could fulfil any more, or nothing."""
    quorum, separate = council.rules.quorum, council.rules.separate_approver
    able = Counter[str]()
    for operator in council.operators:
        able[OPERATORS] += operator.role == FULL
        able[CONFIGURATION] += not operator.role.find_objection(_SAMPLES[CONFIGURATION])
        able[PROTECTED] += not operator.role.find_objection(_SAMPLES[PROTECTED])
    for name in QUORUMS:
        needed = quorum.get(name, 1) + (1 if separate and name == PROTECTED else 0)
        if able[name] < needed:
            return (
                f"{needed} operators would have to be able to sign for {name}, and"
                f" {able[name]} could"
            )
    return ""


_SAMPLES = {
    CONFIGURATION: Scope(duty=CONFIGURATION),
    PROTECTED: Scope(duty="approve:change", tier=1, paths=None),
}
"""What an operator is tried with, to see whether they could sign for the whole of it."""


# What is read and written


def read_rules(content: Mapping[str, Any]) -> Rules:
    """Read rules as they were signed; refuse what is not in their one spelling."""
    quorum: Any = content["quorum"]
    separate: Any = content["separate_approver"]
    if not isinstance(quorum, dict) or type(separate) is not bool:
        raise _build_refusal("rules are numbers by name, and whether who asked may not approve")
    counts = cast("dict[str, Any]", quorum)
    if counts.keys() != set(QUORUMS) or not all(
        type(count) is int and 1 <= count <= MOST_SIGNATURES for count in counts.values()
    ):
        names = ", ".join(QUORUMS)
        raise _build_refusal(f"{names} each take 1 to {MOST_SIGNATURES} signatures")
    return Rules(quorum=counts, separate_approver=separate)


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise BadInput(
            f"{name[:40]!a} cannot be an operator's name",
            code="bad_name",
            next_step="begin with a small letter, then small letters, digits, dots and dashes, up"
            " to 32: anna",
        )


def is_public_key(text: str) -> bool:
    return _PUBLIC_KEY.fullmatch(text) is not None


def request_bytes(root_id: str, name: str, key: str) -> bytes:
    """Give what a new operator's own key signs, to ask to be enrolled."""
    return _REQUEST_PREFIX + canonical.encode({"data_root": root_id, "name": name, "key": key})


def _build_refusal(detail: str) -> OperatorsRefused:
    return OperatorsRefused(detail, next_step="astra operators")
