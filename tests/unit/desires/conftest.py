from collections.abc import Callable
from typing import Any

import pytest

from astra.desires.book import Desires
from astra.desires.model import Desire
from astra.testing import GateInMemory

Want = Callable[..., Desire]


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


@pytest.fixture
def book(gate: GateInMemory) -> Desires:
    return gate.desires


@pytest.fixture
def want(book: Desires) -> Want:
    def record(text: str, **fields: Any) -> Desire:
        fields = {"actor": "agent:test", "correlation": "cor_0000000000000001", **fields}
        return book.record(text, **fields)

    return record
