"""Whatever happens to a ledger in whatever order, it holds exactly what was acknowledged."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from astra.testing import SetClock
from astra.trusted.file_ledger.check import check_files
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.errors import DuplicateKey, StaleVersion
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event

KEY = KeyPair.generate()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SUBJECTS = st.sampled_from(["des_00000001", "des_00000002"])


class LedgerThroughItsLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = SetClock()
        self.texts: list[str] = []
        self.keys: set[str] = set()
        self.versions: dict[str, int] = {}
        self.ledger = self._open()

    def _open(self) -> FileLedger:
        return FileLedger(self.folder / "var", key=KEY, clock=self.clock)

    @rule(texts=st.lists(TEXT, min_size=1, max_size=4), lazy=st.booleans())
    def append(self, texts: list[str], lazy: bool) -> None:
        events = [Event(type="thing_happened", actor="a", data={"t": text}) for text in texts]
        self.ledger.append(events, lazy=lazy)
        self.texts += texts

    @rule(text=TEXT, key=st.sampled_from(["k1", "k2", "k3", "k4"]))
    def claim(self, text: str, key: str) -> None:
        event = Event(type="thing_happened", actor="a", data={"t": text}, key=key)
        try:
            self.ledger.append([event])
        except DuplicateKey:
            assert key in self.keys
            return
        assert key not in self.keys
        self.keys.add(key)
        self.texts.append(text)

    @rule(text=TEXT, subject=SUBJECTS, behind=st.integers(0, 1))
    def advance_a_subject(self, text: str, subject: str, behind: int) -> None:
        version = self.versions.get(subject, 0)
        event = Event(type="thing_happened", actor="a", data={"t": text}, subject=subject)
        try:
            self.ledger.append([event], expect={subject: version - behind})
        except StaleVersion:
            assert behind
            return
        assert not behind
        self.versions[subject] = version + 1
        self.texts.append(text)

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = self._open()

    @rule(torn=st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b"")))
    def die_and_come_back(self, torn: bytes) -> None:
        """The process dies without a word; the page cache keeps what was written."""
        self.ledger._keeper.stop()
        if self.ledger._tail.is_open:
            os.write(self.ledger._tail._descriptor, torn)
            self.ledger._tail.close()
        self.ledger._index.close()
        self.ledger._lock.release()
        self.ledger = self._open()

    @rule()
    def lose_the_index(self) -> None:
        self.ledger.close()
        shutil.rmtree(self.folder / "var" / "index")
        self.ledger = self._open()

    @rule(days=st.integers(-5, 40))
    def time_passes(self, days: int) -> None:
        self.clock.advance(days=days)

    @rule()
    def rebuild(self) -> None:
        self.ledger.rebuild()

    @rule()
    def compress(self) -> None:
        self.ledger.compress_finished()

    @precondition(lambda self: self.texts)
    @invariant()
    def holds_exactly_what_was_acknowledged(self) -> None:
        self.ledger.sync()
        found = views.records(self.ledger, type_="thing_happened", limit=1000)
        assert [record.data["t"] for record in found] == self.texts
        report = check_files(self.folder / "var", public_key=None)
        assert report.ok, report.problems

    def teardown(self) -> None:
        assert self.ledger.compare_rebuilt() == []
        self.ledger.close()
        assert check_files(self.folder / "var", public_key=KEY.public).ok or not self.texts
        shutil.rmtree(self.folder)


TestLedgerThroughItsLife = LedgerThroughItsLife.TestCase
TestLedgerThroughItsLife.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
