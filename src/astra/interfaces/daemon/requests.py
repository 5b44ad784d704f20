"""What every route needs to know of a request."""

from typing import Annotated

from fastapi import Header, Request

Off = Annotated[str, Header(alias="Astra-Off")]
AskedOn = Annotated[str, Header(alias="Astra-Asked-On")]


def names(header: str) -> frozenset[str]:
    return frozenset(name.strip() for name in header.split(",") if name.strip())


def caller(request: Request) -> str:
    """Name who speaks as the kernel knows it: the OS user at the other end of the socket."""
    return str(request.client.host) if request.client else "unknown"
