"""Channels put together: those that the operator signed, devices, and what plans announce."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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

    def tell(self, channels: Sequence[str], agent_id: str, kinds: Mapping[str, int]) -> None:
        known = self.channels()
        said = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        for name in known.names:
            if not channels or name in channels:
                known.send(name, Message(wording=f"Astra: plan {agent_id}: {said}"))
