"""Channels put together: those that the operator signed, devices, and what plans announce."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from astra.notifications.links import make_link
from astra.notifications.outbox import Channels, Message


@dataclass(frozen=True, kw_only=True)
class EveryChannel:
    """The channels that the operator signed, then the devices that people brought."""

    signed: Channels
    devices: Channels

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.signed.names, *self.devices.names)

    @property
    def include_content(self) -> bool:
        return self.signed.include_content

    def send(self, name: str, message: Message) -> bool:
        channels = self.signed if name in self.signed.names else self.devices
        return channels.send(name, message)


@dataclass(frozen=True)
class PlanNotices:
    """Announcements through the channels that the operator signed; a plan may name some of them."""

    channels: Callable[[], Channels]
    page: Callable[[], str]

    def tell(self, channels: Sequence[str], agent_id: str, kinds: Mapping[str, int]) -> None:
        channel_set = self.channels()
        kind_counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        wording, link = f"Astra: plan {agent_id}: {kind_counts}", make_link(self.page(), agent_id)
        for name in channel_set.names:
            if not channels or name in channels:
                channel_set.send(name, Message(wording=wording, link=link))
