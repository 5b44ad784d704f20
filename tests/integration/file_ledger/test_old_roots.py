"""Data roots of earlier versions open, verify, fold and list, and are not rewritten.

`tests/corpus` holds the chain and the checkpoints of data roots that earlier versions made with
their own commands, each in a folder named by the commit that made it (see the README there).
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.conversation_texts import ConversationTexts
from astra.bootstrap import PROJECTIONS
from astra.desires.book import Desires
from astra.flow import due
from astra.goals.book import Goals
from astra.persona.awareness import Awareness
from astra.persona.conversations import Conversations
from astra.plans.allowlist import Allowlist
from astra.plans.validation import Rules
from astra.schedules import views as schedules
from astra.tasks.book import TaskBook
from astra.testing import SetClock
from astra.testing_plans import MemoryPlanFiles
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes.model import State
from astra.trusted.changes.views import Book
from astra.trusted.file_ledger.check import check_files, check_folds
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.ledger import chain, formats, views
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority, flags

CORPUS = Path(__file__).parents[2] / "corpus"
VERSIONS = sorted(path.name for path in CORPUS.iterdir() if path.is_dir())
WITH_CHANGES = [name for name in VERSIONS if "changes" in name]
LARGEST_CORPUS = 500_000


@pytest.fixture(params=VERSIONS)
def var(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return copy_root(request.param, tmp_path)


@pytest.fixture
def ledger(var: Path) -> Iterator[FileLedger]:
    opened = FileLedger(var, projections=PROJECTIONS, clock=SetClock())
    yield opened
    opened.close()


def copy_root(version: str, folder: Path) -> Path:
    var = folder / "var"
    shutil.copytree(CORPUS / version, var)
    return var


def no_rules() -> Rules:
    raise AssertionError("what is granted already is not checked again")


def chain_bytes(var: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((var / "ledger").glob("*.ndjson")))


def test_an_old_root_verifies_and_every_record_can_be_read(var: Path) -> None:
    first, *others = chain_bytes(var).decode().splitlines()
    lines = 1 + len(others)
    report = check_files(var, public_key=chain.parse(first).data["ledger_key"])
    assert (report.ok, report.records) == (True, lines)
    assert check_folds(var, PROJECTIONS) == lines


def test_what_an_old_version_wrote_is_not_touched(var: Path, ledger: FileLedger) -> None:
    before = chain_bytes(var)
    formats.raise_format(ledger, version="9.9.9")
    ledger.sync()
    assert chain_bytes(var).startswith(before)
    assert formats.format_of(ledger) == formats.FORMAT
    assert ledger.compare_rebuilt() == []


def test_signatures_of_an_old_version_hold(ledger: FileLedger) -> None:
    assert authority.find_keys(ledger).throwaway
    switch = flags.read_flags(ledger)["ASTRA_CODE_WRITE_ENABLED"]
    assert (switch.on, switch.source) == (True, "operator")
    desk = Desk(ledger, SetClock())
    used = [approval.id for approval in desk.list_by_state(state="used")]
    assert used
    assert all(desk.was_signed(identifier) for identifier in used)


def test_everything_in_an_old_root_can_be_listed(ledger: FileLedger) -> None:
    clock = SetClock()
    assert [desire.text for desire in Desires(ledger=ledger, clock=clock).list_desires().items] == [
        "learn to sail"
    ]
    assert [goal.text for goal in Goals(ledger).list_goals()[0]] == ["learn to sail"]
    (hourly,) = schedules.schedules(ledger)
    assert (hourly.definition.name, hourly.state) == ("hourly", "paused")
    assert schedules.last_change(ledger, hourly.id).type == "schedule_paused"
    assert schedules.tasks(ledger)[0]
    assert Awareness(ledger).read()[0]
    assert len(views.records(ledger, limit=1_000)) == ledger.head().sequence


@pytest.mark.parametrize("version", WITH_CHANGES)
def test_a_change_of_an_old_version_is_read_and_deploys_nothing(
    version: str, tmp_path: Path
) -> None:
    ledger = FileLedger(copy_root(version, tmp_path), projections=PROJECTIONS, clock=SetClock())
    try:
        rejected, executed = Book(ledger).list_page()[0]
        assert (rejected.state, executed.state) == (State.REJECTED, State.EXECUTED)
        assert {task.state for task in TaskBook(ledger).list_page()[0]} == {"finished"}
        merged = ledger.newest("code_modification_executed")
        assert merged is not None
        assert (merged.schema, merged.data["deploy"]) == (1, False)
        waiting = due.due_steps(ledger, due.CHANGES, "9999")
        assert executed.id not in {step.subject for step in waiting}
    finally:
        ledger.close()


def test_a_conversation_whose_records_hold_its_texts_is_read_and_deleted_honestly(
    tmp_path: Path,
) -> None:
    var = copy_root("3d92bdf-chat", tmp_path)
    ledger = FileLedger(var, projections=PROJECTIONS, clock=SetClock())
    try:
        conversations = Conversations(ledger, ConversationTexts(var / "conversations"))
        ((talk,), _) = conversations.page()
        assert (talk.title, talk.messages) == ("which colour?", 4)
        texts = [message.text for message in conversations.messages(talk.id)]
        assert texts == ["which colour?", "hello there", "and now?", "hello there"]
        assert conversations.find_by_chain(conversations.read_chain(talk.id), 4) == talk
        deletion = conversations.describe_deletion(talk.id)
        assert (deletion.messages, deletion.in_ledger) == (4, 4)
        ledger.append([Event(type="chat_deleted", actor="operator", subject=talk.id)])
        assert conversations.page() == ([], None)
        assert {row[0] for row in ledger.query("SELECT inline FROM chat_message")} == {None}
        assert b"which colour?" in chain_bytes(var), "nothing rewrites the chain"
        assert ledger.compare_rebuilt() == []
    finally:
        ledger.close()


def test_the_corpus_stays_small_and_says_nothing_about_the_machine_that_made_it() -> None:
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LARGEST_CORPUS
    for path in files:
        text = path.read_text()
        assert not [folder for folder in ("/home/", "/root/", "/tmp/", "/work/") if folder in text]


def test_an_export_that_does_not_say_of_which_list_is_made_again(tmp_path: Path) -> None:
    var = copy_root("8873843-changes", tmp_path)
    ledger = FileLedger(var, projections=PROJECTIONS, clock=SetClock())
    try:
        exports = "agent_global_grants_exported"
        old = ledger.newest(exports)
        assert old is not None
        assert (old.schema, "version" in old.raw_data, old.data["version"]) == (1, False, 0)
        files = MemoryPlanFiles()
        allowlist = Allowlist(ledger=ledger, clock=SetClock(), files=files, rules=no_rules)
        allowlist.watch()
        allowlist.watch()
        assert len(ledger.records(exports, after=old.sequence)) == 1
        assert "example.org" in (files.read_allowlist() or "")
    finally:
        ledger.close()
