"""What one operator may sign: duties, up to which tier, for which paths.

A duty names a kind of statement: `flags`, `deploy`, `approve` for every kind of approval,
`approve:change` for one. `everything` is all of them, those of a later Astra too. Where it cannot
be known which paths a statement is about, a role for some paths does not cover it.

>>> role = Role(duties=frozenset({"approve"}), tier=2, paths=("docs/**",))
>>> role.find_objection(Scope(duty="approve:change", tier=1, paths=("docs/a.md",)))
''
>>> role.find_objection(Scope(duty="approve:change", tier=1, paths=("src/a.py",)))
"the role covers only docs/**, and this is about 'src/a.py'"
"""

import re
from dataclasses import dataclass
from typing import Any, cast

from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy import globs, paths
from astra.trusted.policy.call import Tier
from astra.trusted.policy.scopes import DUTIES, EVERYTHING, Scope

_APPROVE = "approve"
_KIND = re.compile(r"approve:[a-z_]{1,40}")
MOST_PATHS = 20
_MEMBERS = frozenset({"duties", "tier", "paths"})


@dataclass(frozen=True, kw_only=True)
class Role:
    duties: frozenset[str]
    tier: int = int(Tier.EXTERNAL)
    paths: tuple[str, ...] = ()
    """Globs; nothing where the role is for every path."""

    def covers(self, duty: str) -> bool:
        is_approval = duty.startswith(f"{_APPROVE}:")
        return bool({duty, EVERYTHING} & self.duties) or (is_approval and _APPROVE in self.duties)

    def includes(self, other: "Role") -> bool:
        """Tell whether everything that the other role may sign, this one may sign too."""
        return (
            all(self.covers(duty) for duty in other.duties)
            and self.tier >= other.tier
            and (not self.paths or bool(other.paths and set(other.paths) <= set(self.paths)))
        )

    def find_objection(self, scope: Scope) -> str:
        """Say why this role does not cover a statement, or nothing when it does."""
        for duty in filter(None, (scope.duty, *scope.also)):
            if not self.covers(duty):
                return f"the role does not cover {duty}"
        if scope.tier > self.tier:
            return f"the role covers tier {self.tier} at most, and this is tier {scope.tier}"
        return self._find_outside_path(scope)

    def _find_outside_path(self, scope: Scope) -> str:
        if not self.paths or scope.paths == ():
            return ""
        covered = ", ".join(self.paths)
        if scope.paths is None:
            return f"the role covers only {covered}, and this may touch any path"
        patterns = [globs.parse_glob(text) for text in self.paths]
        for path in scope.paths:
            if not any(pattern.matches(path) for pattern in patterns):
                return f"the role covers only {covered}, and this is about {paths.quote(path)}"
        return ""

    def as_dict(self) -> dict[str, Any]:
        return {"duties": sorted(self.duties), "tier": self.tier, "paths": list(self.paths)}


FULL = Role(duties=frozenset({EVERYTHING}))


def read_role(value: Any) -> Role:
    """Read a role as it was signed; refuse what is unclear or not in its one spelling."""
    if not isinstance(value, dict) or cast("dict[str, Any]", value).keys() != _MEMBERS:
        raise _build_refusal("a role has duties, a tier and paths")
    members = cast("dict[str, Any]", value)
    role = Role(
        duties=frozenset(_read_texts(members["duties"])),
        tier=members["tier"],
        paths=_read_texts(members["paths"]),
    )
    if not role.duties or not all(_is_duty(duty) for duty in role.duties):
        raise _build_refusal(f"a duty is one of {', '.join(DUTIES)}, or approve:KIND")
    if type(role.tier) is not int or role.tier not in set(map(int, Tier)):
        raise _build_refusal("a tier is 0, 1 or 2")
    if len(role.paths) > MOST_PATHS:
        raise _build_refusal(f"a role names at most {MOST_PATHS} paths")
    for text in role.paths:
        if globs.parse_glob(text).text != text:
            raise _build_refusal(f"{paths.quote(text)} is not in its normal form")
    return role


def _is_duty(text: str) -> bool:
    return text in DUTIES or _KIND.fullmatch(text) is not None


def _read_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _build_refusal("duties and paths are lists")
    texts = cast("list[Any]", value)
    if not all(isinstance(text, str) for text in texts) or texts != sorted(set(texts)):
        raise _build_refusal("duties and paths are texts, each once, in order")
    return tuple(cast("list[str]", texts))


def _build_refusal(detail: str) -> BadInput:
    return BadInput(detail, code="bad_role", next_step="astra operators add --help")
