"""Parameters that many routes take: a page of a list, and flags that a client turned off."""

from typing import Annotated

from fastapi import Header, Query

Off = Annotated[str, Header(alias="Astra-Off")]
AskedOn = Annotated[str, Header(alias="Astra-Asked-On")]
LARGEST_PAGE = 1000
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]
Cursor = Annotated[int | None, Query(ge=0, lt=1 << 63, description="the `next` of the page before")]


def parse_names(header: str) -> frozenset[str]:
    return frozenset(name.strip() for name in header.split(",") if name.strip())
