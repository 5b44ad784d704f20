"""Parameters that many routes take: a page, flags that a client turned off, a tool's arguments."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header, Query
from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

Off = Annotated[str, Header(alias="Astra-Off")]
AskedOn = Annotated[str, Header(alias="Astra-Asked-On")]
LARGEST_PAGE = 1000
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]
Cursor = Annotated[int | None, Query(ge=0, lt=1 << 63, description="the `next` of the page before")]


def parse_names(header: str) -> frozenset[str]:
    return frozenset(name.strip() for name in header.split(",") if name.strip())


@dataclass(frozen=True)
class ReadAs:
    """Describes a body as the model by which a tool reads it, so that the tool says what is wrong.

    Were the model the route's own type, a bad call would be refused before the gate sees it.
    """

    model: type[BaseModel]

    def __get_pydantic_json_schema__(
        self, _schema: Any, describe: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return describe(self.model.__pydantic_core_schema__)
