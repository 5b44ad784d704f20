"""The servers of the signed configuration, read anew only when a configuration was signed."""

from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import contract
from astra.trusted.settings.server_settings import Mcp, McpServer


class SignedServers:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known = (-1, Mcp())

    def read(self) -> Mcp:
        version = self.version()
        if version != self._known[0]:
            self._known = (version, contract.read_configuration(self._ledger).mcp)
        return self._known[1]

    def find(self, name: str) -> McpServer | None:
        return self.read().find(name)

    def version(self) -> int:
        return contract.version(self._ledger)
