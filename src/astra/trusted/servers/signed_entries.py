"""The servers of the signed configuration, and its version."""

from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract
from astra.trusted.settings.server_settings import Mcp, McpServer


class SignedServers:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def read(self) -> Mcp:
        return contract.read_configuration(self._ledger).mcp

    def find(self, name: str) -> McpServer | None:
        return self.read().find(name)

    def version(self) -> int:
        return contract.version(self._ledger)
