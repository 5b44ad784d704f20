"""The channels that the operator signed, with their addresses from the `.env` beside."""

from dataclasses import dataclass

from astra.adapters.apprise_channels import AppriseChannels
from astra.trusted.files.data_root import DataRoot
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract
from astra.trusted.settings import environment


@dataclass(frozen=True, kw_only=True)
class SignedChannels:
    ledger: Ledger
    root: DataRoot

    def current(self) -> AppriseChannels:
        """Give the channels in force; a name without an address that can be read is none.

        A damaged line of `.env` silences its own channel, and no other channel or device.
        """
        notify = contract.read_configuration(self.ledger).notify
        addresses = environment.read_valid_lines(self.root.path / ".env")
        return AppriseChannels(
            addresses={name: addresses[name] for name in notify.channels if addresses.get(name)},
            include_content=notify.include_content,
        )
