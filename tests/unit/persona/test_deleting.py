"""A conversation can be deleted: its texts go, its records stay and say nothing of them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.chat_door import Copies
from astra.adapters.conversation_texts import ConversationTexts, TextNotKept
from astra.persona import conversations
from astra.persona.conversations import TEXT_MISSING, Conversations
from astra.persona.speech import Cut, Dialogue, Say, Spoken, Wanted
from astra.testing import MemoryLedger
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound
from astra.trusted.ledger import chain
from talking import Talk, call

SECRET_WORDS = "the colour of my door is green"
_KEPT_THEN_KILLED = """
import os, signal, sys
from pathlib import Path
from astra.adapters.conversation_texts import ConversationTexts
ConversationTexts(Path(sys.argv[1])).keep(sys.argv[2], b'{"text": "never recorded"}')
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path / "texts")


def list_lines(talk: Talk) -> str:
    ledger = talk.ledger
    assert isinstance(ledger, MemoryLedger)
    return "\n".join(ledger.lines)


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_records_hold_digests_and_no_words(talk: Talk) -> None:
    wanted = Wanted(id="1", tool="no_such_tool", arguments={"text": SECRET_WORDS})
    talk.script(wanted, f"I know: {SECRET_WORDS}")
    identifier, answer = talk.say(SECRET_WORDS)
    assert answer["calls"][0]["arguments"] == {"text": SECRET_WORDS}
    (asked,), (answered,) = (
        talk.records(conversations.ASKED),
        talk.records(conversations.ANSWERED),
    )
    for record in (asked, answered):
        assert SECRET_WORDS not in json.dumps(record.data)
        assert talk.texts.read(identifier, record.data["digest"])
    assert asked.data["length"] == len(SECRET_WORDS)
    assert answered.data["calls"] == [
        {"number": 1, "tool": "no_such_tool", "outcome": "refused", "code": "unknown_tool"}
    ]


def test_the_same_words_have_another_digest_each_time(talk: Talk) -> None:
    talk.script("yes", "yes")
    talk.say("yes?")
    talk.say("yes?")
    digests = [record.data["digest"] for record in talk.records(conversations.ASKED)]
    assert len(set(digests)) == 2


def test_deleting_removes_the_texts_and_keeps_a_chain_that_verifies(talk: Talk) -> None:
    talk.script("green")
    identifier, _ = talk.say(SECRET_WORDS)
    deletion = talk.chat.delete(identifier, actor="operator:test")
    assert (deletion.messages, deletion.in_ledger) == (2, 0)
    assert list_files(talk.texts.folder) == []
    assert talk.removed == [identifier]
    assert SECRET_WORDS not in list_lines(talk)
    assert talk.chat.conversations.page() == ([], None)
    (deleted,) = talk.records(conversations.DELETED)
    assert (deleted.actor, deleted.subject) == ("operator:test", identifier)
    records = [chain.parse(line) for line in list_lines(talk).splitlines()]
    assert [after.previous for after in records[1:]] == [before.hash for before in records[:-1]]


@pytest.mark.parametrize(
    "act",
    [
        lambda talk, identifier: talk.chat.conversations.get(identifier),
        lambda talk, identifier: talk.say("again", identifier),
        lambda talk, identifier: talk.chat.delete(identifier, actor="x"),
    ],
    ids=["look", "go on", "delete"],
)
def test_a_deleted_conversation_is_gone_for_whoever_asks(
    talk: Talk, act: Callable[[Talk, str], object]
) -> None:
    talk.script("green", "never said")
    identifier, _ = talk.say("hello")
    talk.chat.delete(identifier, actor="x")
    with pytest.raises(NotFound) as refused:
        act(talk, identifier)
    assert refused.value.reason == "conversation_deleted"
    assert list_files(talk.texts.folder) == []
    assert not talk.chat.is_answering(identifier)


def test_nothing_is_deleted_while_an_answer_is_under_way(talk: Talk) -> None:
    def refuses(dialogue: Dialogue, say: Say, cut: Cut) -> Spoken:
        (found,), _ = talk.chat.conversations.page()
        with pytest.raises(Conflict) as refused:
            talk.chat.delete(found.id, actor="x")
        assert refused.value.reason == "conversation_busy"
        say("still here")
        return Spoken(text="still here")

    talk.script(refuses)
    identifier, answer = talk.say("hello")
    assert answer["text"] == "still here"
    assert talk.chat.conversations.get(identifier).messages == 2


def test_a_text_that_cannot_be_written_leaves_no_record(talk: Talk) -> None:
    talk.texts.folder.write_text("a file where the folder should be")
    with pytest.raises(TextNotKept) as refused:
        talk.say("hello")
    assert "say it again" in refused.value.next_step
    assert talk.records(conversations.ASKED) == []


def test_a_record_that_is_refused_leaves_no_text(talk: Talk) -> None:
    class Refusing(Exception):
        pass

    def refuse(_events: Any, **_more: Any) -> Any:
        raise Refusing

    ledger: Any = talk.ledger
    ledger.append = refuse
    with pytest.raises(Refusing):
        talk.chat.ask("hello", actor="x")
    assert list_files(talk.texts.folder) == []


def test_kill_9_between_text_and_record_leaves_litter_that_the_next_start_sweeps(
    talk: Talk,
) -> None:
    talk.script("green")
    identifier, _ = talk.say("hello")
    for conversation in (identifier, "chat_00112233445566aa"):
        arguments = [sys.executable, "-c", _KEPT_THEN_KILLED, talk.texts.folder, conversation]
        died = subprocess.run(arguments, check=False, env={**os.environ})
        assert died.returncode == -signal.SIGKILL
    (talk.texts.folder / identifier / ".half.0011aabb").write_text("half")
    assert len(list_files(talk.texts.folder)) == 5
    assert talk.chat.conversations.remove_texts_without_record() == 2
    texts = [message.text for message in talk.chat.conversations.messages(identifier)]
    assert texts == ["hello", "green "]
    assert len(list_files(talk.texts.folder)) == 2
    assert talk.chat.conversations.remove_texts_without_record() == 0


def test_a_deletion_that_a_crash_cut_short_is_finished_at_the_next_start(
    talk: Talk, tmp_path: Path
) -> None:
    talk.script("green")
    identifier, _ = talk.say("hello")
    root = DataRoot(tmp_path / "root")
    (root.path / "conversations").mkdir(parents=True)
    copies = Copies(root=root, conversations=talk.chat.conversations)
    copies.write(identifier)
    documents = {path: path.read_bytes() for path in list_files(talk.texts.folder)}
    talk.chat.delete(identifier, actor="x")
    for path, content in documents.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert talk.chat.conversations.remove_texts_without_record() == 2
    assert list_files(talk.texts.folder) == []
    assert copies.remove_deleted() == 1
    assert list_files(root.path) == []


def test_a_text_that_was_changed_on_disk_is_not_shown(talk: Talk) -> None:
    talk.script("green")
    identifier, _ = talk.say("hello")
    (asked,) = talk.records(conversations.ASKED)
    place = talk.texts.folder / identifier / asked.data["digest"]
    place.write_text('{"text": "I never said this", "chain": ""}')
    assert talk.chat.conversations.messages(identifier)[0].text == TEXT_MISSING
    assert talk.chat.conversations.get(identifier).title.startswith("(the text of this message")


def test_an_answer_whose_text_is_elsewhere_still_says_what_was_called(talk: Talk) -> None:
    talk.script(call("write", "a"), "written")
    identifier, _ = talk.say("write it")
    elsewhere = Conversations(talk.ledger, ConversationTexts(talk.texts.folder / "other"))
    message = elsewhere.messages(identifier)[1].as_dict()
    assert message["text"] == TEXT_MISSING
    assert message["calls"][0] | {"number": 1} == {
        "number": 1,
        "tool": "write",
        "arguments": {},
        "outcome": "ok",
        "code": "ok",
    }


@pytest.mark.parametrize("name", ["..", "../../keys", "chat_1/../..", ""])
def test_texts_are_named_by_ids_and_digests_alone(tmp_path: Path, name: str) -> None:
    texts = ConversationTexts(tmp_path / "texts")
    (tmp_path / "outside").write_text("not yours")
    with pytest.raises(BadInput):
        texts.keep(name, b"x")
    with pytest.raises(BadInput):
        texts.remove(name)
    assert texts.read("chat_0011223344556677", "../../outside") is None
    texts.remove("chat_0011223344556677", "../../outside")
    assert (tmp_path / "outside").read_text() == "not yours"


def test_texts_are_closed_to_everybody_else(talk: Talk) -> None:
    talk.script("green")
    identifier, _ = talk.say("hello")
    folder = talk.texts.folder / identifier
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert {oct(path.stat().st_mode & 0o777) for path in list_files(folder)} == {"0o600"}
