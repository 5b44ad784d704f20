"""What can be believed: a claim about a scope, with the sentence that the server writes for it.

Claims are a closed list, because each has to be countable from records. What somebody writes about
a claim is kept beside it and never becomes its sentence.

>>> write_statement("rolled_back", "src/app")
'changes to src/app are taken back in service'
>>> parse_name("fix_bug works")
('works', 'fix_bug')
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from astra.trusted.kernel.ids import id_from_content
from astra.trusted.kernel.text import one_line

NIGHT_ENDS, NIGHT_BEGINS = 6, 22
"""Hours of the day in UTC: firings between them, over midnight, are at night."""
LONGEST_SCOPE = 300
TOP = "."
_DIGITS = 16


class ScopeKind(StrEnum):
    PATH = "path"
    TEST = "test"
    METHOD = "method"
    TOOL = "tool"
    SCHEDULE = "schedule"
    DOMAIN = "domain"


@dataclass(frozen=True)
class Claim:
    name: str
    scopes: tuple[ScopeKind, ...]
    statement: str


_CLAIMS = (
    Claim("rolled_back", (ScopeKind.PATH,), "changes to {} are taken back in service"),
    Claim("passes_tests", (ScopeKind.PATH,), "changes to {} pass their tests"),
    Claim("flaky", (ScopeKind.TEST,), "the test {} is flaky"),
    Claim("works", (ScopeKind.METHOD,), "the method {} works"),
    Claim("fails", (ScopeKind.TOOL, ScopeKind.SCHEDULE, ScopeKind.DOMAIN), "{} fails"),
    Claim(
        "fails_at_night",
        (ScopeKind.SCHEDULE,),
        f"{{}} fails between {NIGHT_BEGINS}:00 and 0{NIGHT_ENDS}:00 UTC",
    ),
)
CLAIMS: Mapping[str, Claim] = MappingProxyType({claim.name: claim for claim in _CLAIMS})


def belief_id(claim: str, kind: str, scope: str) -> str:
    """Name a belief by what it is about, so that each exists once."""
    return id_from_content("belief", f"{claim}\0{kind}\0{scope}", digits=_DIGITS)


def write_statement(claim: str, scope: str) -> str:
    place = "the files of the top folder" if scope == TOP else one_line(scope, LONGEST_SCOPE)
    return CLAIMS[claim].statement.format(place)


def parse_name(name: str) -> tuple[str, str]:
    """Read how a condition of a method names a belief: the scope, then the claim."""
    scope, _, claim = name.strip().rpartition(" ")
    return claim, scope.strip()


def list_folders(path: str, *, deepest: int = 8) -> list[str]:
    """Name the folders that a file lies in, the widest first; `.` for a file of the top folder.

    >>> list_folders("src/app/main.py")
    ['src', 'src/app']
    """
    parts = path.split("/")[:-1][:deepest]
    return ["/".join(parts[: number + 1]) for number in range(len(parts))] or [TOP]


def contains_scope(wide: str, narrow: str) -> bool:
    """Tell whether a folder holds another one."""
    return narrow.startswith(f"{wide}/")
