import pytest

from deployment_world import World


@pytest.fixture
def world() -> World:
    return World()
