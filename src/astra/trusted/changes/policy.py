"""Approval by policy: off unless the operator signed one, and never for what a person must see.

The policy is two lines of the signed `astra.toml`: which paths, and until when. It covers a change
only if every file lies there, nothing was found, the tests passed, and neither tests, dependencies
nor protected paths are touched. A deploy is never covered.
"""

from datetime import datetime

from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import Change
from astra.trusted.changes.patterns import Patterns
from astra.trusted.settings.configuration import Target


def find_objection(change: Change, target: Target, *, now: datetime) -> str:
    """Say why the policy does not approve a change, or nothing."""
    if not target.auto_approve_paths:
        return "there is no policy"
    if not is_in_force(target.auto_approve_until, now):
        return "the policy has no end, or is over"
    allowed = Patterns(target.auto_approve_paths)
    if outside := [f["path"] for f in change.facts["files"] if not allowed.find_first(f["path"])]:
        return f"{outside[0]} is outside the policy"
    for name in ("tests", "dependencies", "protected"):
        if change.facts[name]:
            return f"it touches {name}"
    if change.findings or (change.tests or {}).get("warnings"):
        return "there are findings"
    return "" if _has_passed_tests(change) else "the tests did not pass"


def _has_passed_tests(change: Change) -> bool:
    scanned = change.findings is not None
    return scanned and change.tests is not None and change.tests["verdict"] == TestVerdict.PASSED


def is_in_force(until: str, now: datetime) -> bool:
    """Tell whether a policy has an end, and it is still to come."""
    try:
        end = datetime.fromisoformat(until)
    except ValueError:
        return False
    return end.tzinfo is not None and now < end
