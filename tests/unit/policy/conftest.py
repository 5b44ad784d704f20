import pytest

from astra.testing import RootInMemory


@pytest.fixture
def root() -> RootInMemory:
    return RootInMemory()
