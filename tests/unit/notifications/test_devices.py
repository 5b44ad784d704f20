"""Browsers that asked to be told: whose they are, how long they count, where they may be."""

from pathlib import Path

import pytest

from astra.adapters.device_files import DeviceFiles, KeyFile
from astra.notifications.devices import MOST, MOST_OF_ONE, Address, Devices
from astra.testing import RootInMemory
from astra.trusted.kernel.errors import BadInput, NotFound, Refused
from astra.trusted.ledger import views
from astra.trusted.policy import access, enrolment
from astra.trusted.policy.access import Principal
from astra.trusted.policy.assertions import Credential
from astra.trusted.policy.call import Role
from push_service import HOST, Browser


class World:
    def __init__(self, folder: Path) -> None:
        self.root = RootInMemory()
        self.folder = folder / "devices"
        self.files = DeviceFiles(self.folder)
        self.devices = Devices(self.root.ledger, self.root.clock, self.files, lambda: (HOST,))

    def session(self) -> Principal:
        secret = access.new_secret()
        return access.open_session(self.root.ledger, secret, by="link", now=self.root.clock.now())

    def token(self, role: Role = Role.VIEWER) -> Principal:
        secret, now = access.new_secret(), self.root.clock.now()
        content = access.token_content(secret, name="robot", role=role, days=10, now=now)
        signed = self.root.sign(access.TOKEN_CREATED, content)
        access.create_token(self.root.ledger, content, signed, now=now)
        found = access.find_principal(self.root.ledger, secret, now=now)
        assert found
        return found

    def passkey(self) -> tuple[str, Principal]:
        credential = Credential(
            id=b"credential", public_key=b"key", site="localhost", origin="http://localhost:1"
        )
        wanted = enrolment.content(credential, name="phone")
        signed = self.root.sign("passkey_enrolled", wanted)
        now = self.root.clock.now()
        enrolment.enroll(self.root.ledger, wanted, signed, now=now)
        used = {"passkey": wanted["passkey"], "counter": 1}
        secret = access.new_secret()
        access.open_session(self.root.ledger, secret, by="passkey", now=now, passkey=used)
        found = access.find_principal(self.root.ledger, secret, now=now)
        assert found
        return str(wanted["passkey"]), found

    def records(self) -> list[str]:
        found = views.records(self.root.ledger, limit=1000)
        return [each.type for each in found if each.type.startswith("device_")]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def address(path: str = "one", *, host: str = HOST) -> Address:
    said = Browser(path, host).subscription()
    return Address.read(said["endpoint"], said["keys"]["p256dh"], said["keys"]["auth"])


def test_the_ledger_knows_a_device_and_not_its_address(world: World) -> None:
    where = address("a-secret-path")
    made = world.devices.subscribe(where, world.session())
    assert [each.id for each in world.devices.list_devices()] == [made.id]
    (record,) = views.records(world.root.ledger, type_="device_subscribed")
    assert record.data["service"] == HOST
    assert "a-secret-path" not in record.line
    assert world.files.read(made.id) == where
    (path,) = world.folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert world.folder.stat().st_mode & 0o777 == 0o700
    assert "a-secret-path" not in repr(where)


def test_asking_again_changes_nothing_until_it_is_time_to_renew(world: World) -> None:
    who = world.session()
    first = world.devices.subscribe(address(), who)
    world.root.clock.advance(days=9)
    assert world.devices.subscribe(address(), who) == first
    assert world.records() == ["device_subscribed"]
    world.root.clock.advance(days=2)
    assert world.devices.subscribe(address(), who).expires_at > first.expires_at
    assert world.records() == ["device_subscribed"] * 2


def test_a_device_that_nobody_renewed_is_over_and_its_address_goes(world: World) -> None:
    who = world.token()
    world.devices.subscribe(address("old"), world.session())
    world.root.clock.advance(days=31)
    assert world.devices.list_devices() == []
    who = world.session()
    made = world.devices.subscribe(address("new"), who)
    assert world.files.devices() == [made.id]


def test_forgetting_leaves_neither_a_place_nor_an_address(world: World) -> None:
    made = world.devices.subscribe(address(), world.session())
    for _ in range(2):
        world.devices.forget(made.id, reason="gone", actor="daemon")
    assert world.devices.list_devices() == []
    assert world.files.devices() == []
    assert world.records() == ["device_subscribed", "device_forgotten"]


def test_a_device_ends_with_the_session_that_was_left(world: World) -> None:
    who = world.session()
    made = world.devices.subscribe(address(), who)
    world.root.clock.advance(hours=13)
    assert [each.id for each in world.devices.list_devices()] == [made.id], "over is not left"
    access.close_session(world.root.ledger, who.id, actor=str(who))
    assert world.devices.list_devices() == []


def test_a_device_of_a_session_that_is_over_hears_no_content(world: World) -> None:
    made = world.devices.subscribe(address(), world.session())
    assert world.devices.may_hear_content(made)
    world.root.clock.advance(hours=13)
    assert not world.devices.may_hear_content(made)


def test_a_device_ends_with_the_token_that_was_revoked_or_is_over(world: World) -> None:
    one, two = world.token(), world.token()
    world.devices.subscribe(address("one"), one)
    world.devices.subscribe(address("two"), two)
    access.revoke_token(world.root.ledger, one.id, actor="operator")
    assert [each.holder for each in world.devices.list_devices()] == [f"token:{two.id}"]
    world.root.clock.advance(days=11)
    assert world.devices.list_devices() == []


def test_a_device_brought_with_a_passkey_ends_when_that_is_revoked(world: World) -> None:
    passkey, who = world.passkey()
    made = world.devices.subscribe(address(), who)
    assert made.holder == f"passkey:{passkey}"
    access.close_session(world.root.ledger, who.id, actor=str(who))
    world.root.clock.advance(hours=13)
    assert world.devices.list_devices() == [made], "the next session with it finds it"
    assert world.devices.may_hear_content(made)
    enrolment.revoke(world.root.ledger, passkey, actor="operator")
    assert world.devices.list_devices() == []


def test_a_viewer_unsubscribes_their_own_device_and_an_operator_any(world: World) -> None:
    mine, other = world.token(), world.token()
    made = world.devices.subscribe(address(), mine)
    with pytest.raises(Refused) as refused:
        world.devices.unsubscribe(made.id, other)
    assert refused.value.reason == "wrong_holder"
    world.devices.unsubscribe(made.id, mine)
    with pytest.raises(NotFound):
        world.devices.unsubscribe(made.id, mine)
    again = world.devices.subscribe(address(), mine)
    world.devices.unsubscribe(again.id, world.session())
    assert world.devices.list_devices() == []


def test_nobody_brings_more_devices_than_people_have(world: World) -> None:
    who = world.token()
    for number in range(MOST_OF_ONE):
        world.devices.subscribe(address(str(number)), who)
    with pytest.raises(Refused) as refused:
        world.devices.subscribe(address("more"), who)
    assert refused.value.reason == "too_many_devices"
    for other in range(3):
        fresh = world.token()
        for number in range(MOST_OF_ONE):
            world.devices.subscribe(address(f"{other}-{number}"), fresh)
    assert len(world.devices.list_devices()) == MOST
    with pytest.raises(Refused):
        world.devices.subscribe(address("one-more"), world.token())


def test_a_device_moves_to_whoever_subscribes_it_now(world: World) -> None:
    """The same browser, and somebody else at it."""
    world.devices.subscribe(address(), world.token())
    who = world.session()
    (found,) = [world.devices.subscribe(address(), who)]
    assert world.devices.list_devices() == [found]
    assert found.holder == f"session:{who.id}"


@pytest.mark.parametrize("broken", ["", "{}", "[]", '{"endpoint": 1}', "\x00", '{"endpoint": ""}'])
def test_a_file_that_says_nothing_useful_is_no_address(world: World, broken: str) -> None:
    made = world.devices.subscribe(address(), world.session())
    (world.folder / f"{made.id}.json").write_text(broken)
    assert world.files.read(made.id) is None


@pytest.mark.parametrize(
    ("key", "auth"),
    [("", "AAAAAAAAAAAAAAAAAAAAAA"), ("AAAA", "AAAAAAAAAAAAAAAAAAAAAA"), ("+", "=")],
)
def test_keys_that_are_none_are_refused(key: str, auth: str) -> None:
    with pytest.raises(BadInput) as refused:
        Address.read(f"https://{HOST}/x", key, auth)
    assert refused.value.reason == "bad_subscription"


def test_the_servers_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "web-push.key"
    first = KeyFile(path).key()
    assert KeyFile(path).key() == first
    assert path.stat().st_mode & 0o777 == 0o600
