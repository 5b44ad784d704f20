"""What every kind of channel does; the real one speaks to a server on this machine."""

import logging
from collections.abc import Callable, Iterator

import pytest

from astra.adapters.apprise_channels import AppriseChannels
from astra.notifications.outbox import Channels
from astra.testing import MemoryChannels
from web_hook import Hook, listening

# Apprise imports a module that Python 3.13 has no more; it has a stand-in for it then.
pytestmark = pytest.mark.filterwarnings("ignore:.imghdr. is deprecated:DeprecationWarning")
SECRET = "hunter2hunter2"


@pytest.fixture
def hook() -> Iterator[Hook]:
    with listening() as server:
        yield server


def in_memory(_hook: Hook) -> Channels:
    made = MemoryChannels("GOOD", "DEAD")
    made.dead.add("DEAD")
    return made


def by_apprise(hook: Hook) -> Channels:
    place = f"json://someone:{SECRET}@127.0.0.1:{hook.server_port}"
    return AppriseChannels(addresses={"GOOD": f"{place}/hook", "DEAD": f"{place}/dead"})


@pytest.mark.parametrize("make", [in_memory, by_apprise])
def test_it_tells_whether_a_text_was_taken(make: Callable[[Hook], Channels], hook: Hook) -> None:
    channels = make(hook)
    assert channels.names == ("GOOD", "DEAD")
    assert not channels.include_content
    assert channels.send("GOOD", "hello")
    assert not channels.send("DEAD", "hello")


def test_the_text_arrives_as_it_was_given(hook: Hook) -> None:
    by_apprise(hook).send("GOOD", "Astra: something waits for you (approval)")
    assert hook.heard == ["Astra: something waits for you (approval)"]


@pytest.mark.parametrize("address", ["nonsense", "unknown://x", "json://", "json://u:p@[::"])
def test_an_address_that_makes_no_sense_takes_nothing(address: str) -> None:
    assert not AppriseChannels(addresses={"BAD": address}).send("BAD", "hello")


def test_a_service_that_never_answers_is_left(hook: Hook) -> None:
    address = f"json://127.0.0.1:{hook.server_port}/hang?rto=0.2"
    assert not AppriseChannels(addresses={"SLOW": address}).send("SLOW", "hello")


def test_no_address_is_shown_or_logged(hook: Hook, caplog: pytest.LogCaptureFixture) -> None:
    channels = by_apprise(hook)
    with caplog.at_level(logging.DEBUG):
        channels.send("DEAD", "hello")
    assert SECRET not in caplog.text
    assert SECRET not in repr(channels)
