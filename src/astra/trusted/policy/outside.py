"""Which part of a call lies outside what its caller was granted: the gate looks at it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.call import Call
from astra.trusted.policy.grants import GrantKind, GrantPlaces, PathGrants, compile_grants
from astra.trusted.policy.paths import parse_absolute


def own_grants(places: GrantPlaces, writable: Sequence[Path]) -> PathGrants:
    """Give what every agent may write without asking: its own folders, and nothing else."""
    return compile_grants(GrantKind.WRITE_PATHS, [str(path) for path in writable], places=places)


def _no_server(_call: Call) -> str:
    return "another server"


def build_grant_check(
    grants: PathGrants,
    plans: Callable[[Call], str],
    servers: Callable[[Call], str] = _no_server,
) -> Callable[[Call], str]:
    """Name the first thing of a call that its grants do not cover; plans and servers have some."""

    def check(call: Call) -> str:
        if call.server and (outside := servers(call)):
            return outside
        if call.plan_id:
            return plans(call)
        if call.server:
            return ""
        for text in call.footprint.write_paths:
            try:
                covered = grants.allows(parse_absolute(text))
            except Refused:
                covered = False
            if not covered:
                return text
        return ""

    return check
