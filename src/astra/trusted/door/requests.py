"""Who sent a request: what the loopback door found out, for every route to read."""

from starlette.requests import Request

from astra.trusted.policy.access import Principal
from astra.trusted.policy.limits import NO_LIMITS, Limits

PRINCIPAL = "astra.principal"
"""Where the loopback door puts whom it recognised, in the ASGI scope: no header reaches it."""


ROUTE = "astra.route"
"""Where the loopback door puts the route that it found, so that nobody has to look again."""


def principal(request: Request) -> Principal | None:
    """Give whom the loopback door recognised; nobody, on the daemon's own socket."""
    return request.scope.get(PRINCIPAL)


def source(request: Request) -> str:
    """Name the other end of the connection itself, whatever a header says."""
    return str(request.client.host) if request.client else "unknown"


def limits(request: Request) -> Limits:
    """Give what the token of a request is for; whoever has none is not narrowed."""
    who = principal(request)
    return who.limits if who else NO_LIMITS


def caller(request: Request) -> str:
    """Name who speaks: a session or token, or the OS user at the other end of the socket."""
    who = principal(request)
    if who is not None:
        return str(who)
    return str(request.client.host) if request.client else "unknown"
