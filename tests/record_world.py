"""A real data root whose record is attacked: opened in this process, cut, copied and put back."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.witnesses.checking import check_data_root
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.trusted.calls.counter import Request
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel import signatures
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import NeedsApproval
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.views import settled_head
from astra.trusted.policy import authority, contract, flags, restoring
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Actor, Role
from astra.trusted.settings import environment
from driver import PASSPHRASE, Astra, copy, make_repository

FLAG = "ASTRA_CODE_WRITE_ENABLED"
AGENT = Actor(role=Role.AGENT, name="test", door="mcp")


@dataclass
class RecordWorld:
    astra: Astra

    @property
    def root(self) -> DataRoot:
        return DataRoot(self.astra.root)

    @property
    def var(self) -> Path:
        return self.astra.root / "var"

    @property
    def chain(self) -> Path:
        (segment,) = (self.var / "ledger").glob("*.ndjson")
        return segment

    @property
    def checkpoints(self) -> Path:
        return self.var / "checkpoints" / "checkpoints.ndjson"

    @contextmanager
    def opened(self, data_root: Path | None = None) -> Iterator[Runtime]:
        """Open it as a daemon does, without what works by itself."""
        environ = {**self.astra.environment, "AGENT_DATA_ROOT": str(data_root or self.astra.root)}
        runtime = build_runtime(environment.load(environ))
        try:
            yield runtime
        finally:
            runtime.close()

    def operator(self) -> KeyPair:
        (path,) = (self.astra.folder / "config" / "astra").glob("operator-*.key")
        return _unlocked(path.read_text())

    def sign(self, runtime: Runtime, action: str, content: dict[str, Any]) -> Signed:
        statement = authority.draft(
            action,
            content,
            root_id=authority.find_keys(runtime.ledger).root_id,
            head=settled_head(runtime.ledger),
            now=SystemClock().now(),
        )
        return authority.sign(statement, self.operator())

    def set_witness(self, runtime: Runtime, address: str) -> None:
        text = f'{self.root.configuration.read_text()}\n[ledger]\nwitness = "{address}"\n'
        signed = self.sign(runtime, contract.CONFIG_SIGNED, contract.content(text))
        event = contract.sign(runtime.ledger, text, signed, now=runtime.clock.now())
        runtime.ledger.append([event])
        self.root.configuration.write_text(text)

    def flag_statement(self, runtime: Runtime) -> Signed:
        return self.sign(runtime, flags.FLAG_SET, flags.content(FLAG, on=True))

    def turn_on(self, runtime: Runtime, signed: Signed | None = None) -> Record:
        signed = signed or self.flag_statement(runtime)
        event = flags.turn_on(runtime.ledger, FLAG, signed, now=runtime.clock.now())
        (record,) = runtime.ledger.append([event])
        return record

    def note(self, runtime: Runtime, count: int = 1) -> None:
        """Append records that change nothing."""
        for _ in range(count):
            runtime.switches.turn_off(FLAG, actor="test")

    def restore(self, runtime: Runtime) -> Record:
        return runtime.restores.sign(
            self.sign(runtime, restoring.RESTORED, runtime.restores.content())
        )

    def problems(self) -> list[tuple[str, int]]:
        """Verify the files as `astra ledger verify` does."""
        key = self.root.read_ledger_key().public
        stored_chain = ChainFiles(self.root.var / "ledger")
        report = check_data_root(self.root, stored_chain, public_key=key).report
        return [(problem.kind, problem.sequence) for problem in report.problems]

    # What an attacker with the data root in hand does

    def copied(self, name: str) -> Path:
        folder = self.astra.folder / name
        folder.mkdir()
        copy(self.astra.root, folder)
        return folder / "data"

    def put_back(self, older: Path) -> None:
        subprocess.run(["rm", "-r", str(self.astra.root)], check=True)
        copy(older, self.astra.folder)

    def cut(self, count: int) -> None:
        """Cut records off the end of the chain, and remove the index."""
        lines = self.chain.read_bytes().splitlines(keepends=True)
        self.chain.write_bytes(b"".join(lines[:-count]))
        for path in (self.var / "index").iterdir():
            path.unlink()

    def cut_checkpoints(self) -> None:
        """Leave only checkpoints that the cut chain can show."""
        last = self.chain.read_bytes().count(b"\n")
        lines = self.checkpoints.read_text().splitlines(keepends=True)
        left = [line for line in lines if json.loads(line)["sequence"] <= last]
        self.checkpoints.write_text("".join(left))


@cache
def _unlocked(sealed: str) -> KeyPair:
    return KeyPair.from_seed(signatures.unseal(json.loads(sealed), PASSPHRASE))


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """A new data root, to be copied by every test that attacks one."""
    astra = Astra(tmp_path_factory.mktemp("pristine"))
    astra.json("init", make_repository(astra.folder / "target"), "--throwaway")
    return astra


@pytest.fixture
def world(pristine: Astra, tmp_path: Path) -> Iterator[RecordWorld]:
    made = RecordWorld(pristine.copied_to(Astra(tmp_path)))
    yield made
    made.astra.end()


@pytest.fixture
def witnessed(world: RecordWorld) -> RecordWorld:
    """A data root whose witness is the folder `witness` beside it."""
    folder = world.astra.folder / "witness"
    folder.mkdir()
    with world.opened() as runtime:
        world.set_witness(runtime, str(folder))
    return world


def fetch(url: str = "https://example.org/") -> Request:
    return Request(name="fetch_url", arguments={"url": url}, actor=AGENT)


def asked_for(runtime: Runtime, request: Request) -> str:
    """Make a call that waits for an approval, and give the approval's id."""
    try:
        runtime.counter.begin(request)
    except NeedsApproval as waiting:
        return str(waiting.facts["approval_id"])
    raise AssertionError("nobody was asked")
