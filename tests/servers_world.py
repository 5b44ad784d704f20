"""Other MCP servers in real boxes, in front of a real gate, over a ledger in memory."""

import json
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.adapters.servers.hosting import ServerHost
from astra.bootstrap import servers as wiring
from astra.testing import CounterInMemory, GateInMemory
from astra.tools.servers import ImportedRegistry
from astra.trusted.egress.egress_proxy import PUBLIC_INTERNET, Internet
from astra.trusted.files.data_root import DataRoot
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Record
from astra.trusted.policy import contract
from astra.trusted.servers import classification
from astra.trusted.servers.acceptance import ACCEPTED, ServerBook, build_content
from astra.trusted.servers.signed_entries import SignedServers

SMALL_SERVER = Path(__file__).parent / "small_server.py"


def tool(name: str, description: str = "", **schema: Any) -> dict[str, Any]:
    input_schema = {"type": "object", "properties": schema}
    return {"name": name, "description": description or name, "inputSchema": input_schema}


class ServersWorld:
    """A data root with a signed configuration of servers; `close` ends them."""

    def __init__(self, folder: Path, *, internet: Internet = PUBLIC_INTERNET) -> None:
        self.folder = folder
        folder.chmod(0o755)
        self.gate = GateInMemory()
        self.ledger = self.gate.root.ledger
        root = DataRoot(folder / "data")
        root.make_folders()
        self.root = root
        self.sandbox = Sandbox(
            root, self.ledger, internet=internet, check=lambda: Preflight(problems=())
        )
        self.signed = SignedServers(self.ledger)
        self.now = 0.0
        self.host = ServerHost(
            ledger=self.ledger,
            servers=self.signed.read,
            connect=self.connect,
            is_stopped=lambda: self.gate.stopped,
            seconds=lambda: self.now,
        )
        self.book = ServerBook(self.ledger)
        self.gate.outside_server = lambda call: classification.find_outside(
            self.signed.find(call.server), call.footprint
        )
        self.world = CounterInMemory(
            gate=self.gate, imported=ImportedRegistry(self.book, self.signed), servers=self.host
        )
        self.opened = ExitStack()
        self.opened.callback(self.host.close)

    def connect(self, entry: Any, story: str) -> Any:
        if entry.url:
            return wiring.connect_over_http(entry, self.sandbox, story)
        return wiring.start_in_box(entry, self.sandbox, story)

    def close(self) -> None:
        self.opened.close()

    def sign(self, text: str) -> None:
        """Put a configuration into force."""
        signed = self.gate.root.sign(contract.CONFIG_SIGNED, contract.content(text))
        self.ledger.append(
            [contract.sign(self.ledger, text, signed, now=self.gate.root.clock.now())]
        )

    def behave(self, **behaviour: Any) -> Path:
        """Say what the small server lists and answers from now on."""
        folder = self.folder / "behaviour"
        folder.mkdir(mode=0o755, exist_ok=True)
        copied = folder / "small_server.py"
        if not copied.exists():
            shutil.copy(SMALL_SERVER, copied)
        draft, place = folder / "draft.json", folder / "behaviour.json"
        draft.write_text(json.dumps(behaviour))
        draft.chmod(0o644)
        draft.replace(place)
        return place

    def sign_small(self, *lines: str, name: str = "small") -> None:
        """Sign for the small server, with lines of its entry."""
        folder = self.folder / "behaviour"
        command = f"/usr/bin/python3 -I -S {folder}/small_server.py {folder}/behaviour.json"
        entry = [
            "[[mcp.servers]]",
            f'name = "{name}"',
            f'command = "{command}"',
            *(
                []
                if any(line.startswith("read_paths") for line in lines)
                else [f'read_paths = ["{folder}"]']
            ),
            *lines,
        ]
        self.sign("\n".join(entry))

    def accept(self, server: str = "small") -> None:
        content = build_content(server, self.host.look(server))
        now = self.gate.root.clock.now()
        self.book.accept(content, self.gate.root.sign(ACCEPTED, content), now=now)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self.world.call(name, **arguments)

    def records(self, kind: str) -> list[Record]:
        return views.records(self.ledger, type_=kind)
