"""What a proposal may be about: a claim that the server can count, or words and nothing else."""

from astra.beliefs.claims import CLAIMS, LONGEST_SCOPE, ScopeKind
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line

WORDS = "words"
"""The claim of a statement that no record can speak for or against."""


def read_subject(claim: str, kind: str, scope: str, statement: str) -> tuple[str, str, str]:
    """Name what a proposal is about, as claim, kind of scope, and scope."""
    if not claim:
        if kind or scope:
            _refuse("claim", f"one of {', '.join(CLAIMS)}, as there is a scope")
        return WORDS, "", statement
    if claim not in CLAIMS:
        _refuse("claim", f"one of {', '.join(CLAIMS)}, or nothing")
    kinds = [str(scope_kind) for scope_kind in CLAIMS[claim].scopes]
    if kind not in kinds:
        _refuse("scope_kind", f"one of {', '.join(kinds)} for {claim}")
    clean_scope = scope.strip()
    if kind == ScopeKind.PATH:
        clean_scope = clean_scope.strip("/")
    if not 1 <= len(clean_scope) <= LONGEST_SCOPE or one_line(clean_scope, LONGEST_SCOPE) != (
        clean_scope
    ):
        _refuse("scope", f"1 to {LONGEST_SCOPE} printable characters on one line")
    return claim, kind, clean_scope


def _refuse(name: str, wanted: str) -> None:
    raise BadInput(f"{name}: give {wanted}", code="bad_belief", next_step=f"mend {name}")
