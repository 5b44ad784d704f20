"""Doors that could not be opened once are tried again for the next one who knocks."""

from typing import Any, cast

import pytest

from astra.interfaces.daemon.activity import Activity
from astra.interfaces.mcp.listener import McpListener


class Unready:
    """A runtime that is not there yet."""

    asked = 0

    @property
    def settings(self) -> Any:
        self.asked += 1
        raise LookupError(f"not there yet, asked {self.asked} times")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_a_failure_to_open_is_told_and_not_kept() -> None:
    listener = McpListener(cast("Any", Unready()), Activity())
    for count in (1, 2):
        with pytest.raises(LookupError, match=f"asked {count} times"):
            await listener({"type": "http"}, cast("Any", None), cast("Any", None))
