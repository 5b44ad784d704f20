"""People are told that something waits: once, without what it is, and never too often."""

from astra.deployments import events as deployments
from astra.flow import Background, lanes
from astra.notifications.outbox import MOST_AN_HOUR, Message, Outbox
from astra.schedules import events
from astra.testing import GateInMemory, MemoryChannels
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event

PAGE = "http://localhost:8700"


class World:
    def __init__(self, channels: MemoryChannels) -> None:
        self.gate = GateInMemory()
        self.channels = channels
        self.outbox = Outbox(
            self.gate.root.ledger, self.gate.root.clock, lambda: self.channels, lambda: PAGE
        )

    def ask(self, subject: str = "des_00000001") -> str:
        return self.gate.desk.ask(
            kind="promotion",
            subject_id=subject,
            digest=f"digest of {subject}",
            summary="make a goal of a secret wish",
            details={},
            actor="agent:test",
            correlation="cor_0000000000000001",
        )

    def recorded(self) -> list[tuple[str, int]]:
        found = views.records(self.gate.root.ledger, limit=1000)
        return [
            (record.type, record.data["attempt"])
            for record in found
            if record.type.startswith("notification_")
        ]


def test_a_request_is_told_once_on_each_channel_without_its_content() -> None:
    world = World(MemoryChannels("CHAT", "MAIL"))
    approval = world.ask()
    assert world.outbox.send_due() == 2
    assert world.outbox.send_due() == 0
    text = f"Astra: a request waits for your decision\n{PAGE}/approvals/{approval}\n{approval}"
    assert world.channels.taken == [("CHAT", text), ("MAIL", text)]
    assert world.recorded() == [("notification_sent", 1), ("notification_sent", 1)]


def test_content_is_told_where_the_operator_opted_in() -> None:
    world = World(MemoryChannels("CHAT", include_content=True))
    approval = world.ask()
    world.outbox.send_due()
    ((_, text),) = world.channels.taken
    assert text.splitlines() == [
        "make a goal of a secret wish",
        "Astra: a request waits for your decision",
        f"{PAGE}/approvals/{approval}",
        approval,
    ]


def test_a_long_summary_is_whole_below_its_title() -> None:
    message = Message(wording="Astra: an alert was raised", content="tide " * 80)
    title, whole, kind = str(message).splitlines()
    assert title.endswith("…")
    assert whole == message.content
    assert kind == "Astra: an alert was raised"


def test_a_dead_channel_is_tried_three_times_and_holds_up_no_other() -> None:
    world = World(MemoryChannels("DEAD", "MAIL"))
    world.channels.dead.add("DEAD")
    world.ask()
    for _ in range(10):
        world.outbox.send_due()
        world.gate.root.clock.advance(minutes=2)
    assert [name for name, _ in world.channels.taken] == ["MAIL"]
    failed = [attempt for kind, attempt in world.recorded() if kind == "notification_failed"]
    assert failed == [1, 2, 3]


def test_it_does_not_try_again_at_once() -> None:
    world = World(MemoryChannels("DEAD"))
    world.channels.dead.add("DEAD")
    world.ask()
    assert [world.outbox.send_due() for _ in range(3)] == [1, 0, 0]


def test_a_schedule_that_gave_up_is_told() -> None:
    world = World(MemoryChannels("CHAT"))
    notice = events.noticed(
        "sch_00000001", kind="gave_up", text="x", correlation="cor_0000000000000001"
    )
    world.gate.root.ledger.append([notice])
    world.outbox.send_due()
    lines = ("Astra: a schedule gave up", f"{PAGE}/schedules/sch_00000001", "sch_00000001")
    assert world.channels.taken == [("CHAT", "\n".join(lines))]


def test_what_was_decided_meanwhile_is_not_told() -> None:
    world = World(MemoryChannels("CHAT"))
    world.gate.desk.reject(world.ask(), "no", actor="operator")
    assert world.outbox.send_due() == 0


def test_without_channels_nothing_is_recorded_and_old_news_are_not_told_later() -> None:
    world = World(MemoryChannels())
    world.ask()
    assert world.outbox.send_due() == 0
    assert world.recorded() == []
    world.gate.root.clock.advance(minutes=61)
    world.channels = MemoryChannels("CHAT")
    assert world.outbox.send_due() == 0


def test_an_agent_that_asks_for_a_hundred_things_cannot_flood_anybody() -> None:
    world = World(MemoryChannels("CHAT"))
    for number in range(100):
        world.ask(f"des_{number:08x}")
    for _ in range(5):
        world.outbox.send_due()
    assert len(world.channels.taken) == MOST_AN_HOUR


def test_every_device_has_an_hour_of_its_own() -> None:
    """Whoever may look can bring a device; that costs the operator's channels nothing."""
    devices = [f"dev_{number:016x}" for number in range(5)]
    world = World(MemoryChannels("CHAT", *devices))
    world.channels.dead.update(devices)
    for number in range(MOST_AN_HOUR + 5):
        world.ask(f"des_{number:08x}")
    for _ in range(5):
        world.outbox.send_due()
    assert [name for name, _ in world.channels.taken] == ["CHAT"] * MOST_AN_HOUR
    assert len(world.recorded()) == MOST_AN_HOUR * 6


def test_a_message_says_which_request_to_open_and_how_many_wait() -> None:
    world = World(MemoryChannels("CHAT"))
    first = world.ask()
    second = world.ask("des_00000002")
    world.gate.root.ledger.append(
        [events.noticed("sch_1", kind="gave_up", text="x", correlation="cor_0000000000000001")]
    )
    world.outbox.send_due()
    said = [(each.opens, each.waiting, each.content) for each in world.channels.messages]
    assert said == [(first, 2, ""), (second, 2, ""), ("", 2, "")]


def test_a_release_that_is_taken_back_is_told() -> None:
    world = World(MemoryChannels("CHAT", include_content=True))
    data = {"deployment": "dep_1", "from": "bad", "release": "good"}
    event = Event(type=deployments.ROLLED_BACK, actor="daemon", data=data, subject="dep_1")
    world.gate.root.ledger.append([event])
    world.outbox.send_due()
    ((_, text),) = world.channels.taken
    assert text.splitlines() == [
        "release bad was taken back; good serves again",
        "Astra: a release was taken back",
        f"{PAGE}/releases",
        "dep_1",
    ]


class BrokenMail(MemoryChannels):
    """Channels of which one does not even answer properly."""

    def send(self, name: str, message: Message) -> bool:
        if name == "MAIL":
            raise ValueError("the service sent nonsense")
        return super().send(name, message)


def test_a_channel_that_fails_keeps_no_other_from_being_told() -> None:
    world = World(BrokenMail("MAIL", "CHAT"))
    world.ask("des_00000001")
    world.ask("des_00000002")
    lane = lanes.notifications_lane(world.outbox)
    background = Background(world.gate.root.ledger, world.gate.root.clock, [lane])
    background.run_due()
    assert [name for name, _ in world.channels.taken] == ["CHAT", "CHAT"]
    assert "the service sent nonsense" in background.trouble()
