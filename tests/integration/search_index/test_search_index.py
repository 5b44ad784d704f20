"""The search index: by blob, incremental, without secrets, and rebuilt at will."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.search_index.symbols import parse_files
from astra.trusted.ledger.record import Event
from astra.trusted.policy.secrets import SecretRules
from research_world import ResearchWorld
from secret_target import CANARY

FILES = {
    "store/readTree.ts": "export function readTree(path: string) { return open_file(path); }\n",
    "store/tree.py": "def read_tree(path):\n    return 1\n\n\nclass TreeReader:\n    pass\n",
    "guide.md": "Call read_tree to read a tree.\n",
    "other.py": "from store.tree import read_tree\nread_tree('.')\n",
}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ResearchWorld]:
    world = ResearchWorld(tmp_path, FILES)
    yield world
    world.close()


def search(here: ResearchWorld, *terms: str, documents: bool = False) -> list[str]:
    code = here.researcher.gathering.code
    answer = code.search(terms, commit=code.find_commit(), documents=documents, limit=10)
    return [hit.path for hit in answer.hits]


def test_identifiers_match_however_they_are_written(here: ResearchWorld) -> None:
    for spelling in ("read_tree", "readTree", "ReadTree"):
        assert set(search(here, spelling)) == {"store/readTree.ts", "store/tree.py", "other.py"}


def test_a_word_is_found_in_its_other_forms_behind_the_form_that_was_asked_for(
    here: ResearchWorld,
) -> None:
    here.commit(
        {
            "docs/retry.md": "An upload that failed is retried after a pause.\n",
            "docs/retries.md": "How many retries there are is counted.\n",
            "docs/retrieval.md": "Retrieval of passages is something else.\n",
        }
    )
    assert search(here, "retries", documents=True) == ["docs/retries.md", "docs/retry.md"]
    assert search(here, "retrying", "uploads", documents=True)[0] == "docs/retry.md"
    session = here.ask("uploads retrying", sources=["documents"], max_depth=0)
    assert "is retried after" in session["findings"][0]["citations"][0]["quote"]


def test_records_are_found_by_other_forms_of_a_word(here: ResearchWorld) -> None:
    desire = {"text": "faster uploads of pictures", "strength": 1.0, "tags": [], "context": None}
    here.ledger.append([Event(type="desire_recorded", actor="agent", data=desire)])
    sequences = here.researcher.gathering.records.search_records(["picture", "uploading"], limit=5)
    (record,) = [here.ledger.record(sequence) for sequence in sequences]
    assert record is not None
    assert record.data["text"] == desire["text"]


def test_documents_are_apart_from_source(here: ResearchWorld) -> None:
    assert search(here, "read_tree", documents=True) == ["guide.md"]


def test_definitions_are_found_in_python_and_typescript_with_their_lines(
    here: ResearchWorld,
) -> None:
    code = here.researcher.gathering.code
    commit = code.find_commit()
    definitions = code.find_definitions(["read_tree"], commit=commit, limit=5)
    assert {(d.name, d.path, d.start) for d in definitions} == {
        ("readTree", "store/readTree.ts", 1),
        ("read_tree", "store/tree.py", 1),
    }
    assert all(definition.references >= 3 for definition in definitions)
    (reader,) = code.find_definitions(["TreeReader"], commit=commit, limit=1)
    assert (reader.kind, reader.start, reader.end) == ("class", 5, 6)


def test_a_new_commit_adds_its_new_blobs_only(here: ResearchWorld) -> None:
    assert search(here, "read_tree")
    (before,) = here.database.query("SELECT count(*) FROM blob")
    here.commit({"store/more.py": "def walk_forest():\n    pass\n"})
    assert search(here, "walk_forest") == ["store/more.py"]
    (after,) = here.database.query("SELECT count(*) FROM blob")
    assert after[0] == before[0] + 1


def test_an_earlier_commit_is_searched_as_it_was(here: ResearchWorld) -> None:
    code = here.researcher.gathering.code
    old = code.find_commit()
    here.commit({"other.py": "nothing of the kind\n"})
    assert "other.py" not in search(here, "read_tree")
    answer = code.search(["read_tree"], commit=old, documents=False, limit=10)
    assert "other.py" in {hit.path for hit in answer.hits}


def test_what_reading_refuses_is_not_in_the_index(here: ResearchWorld) -> None:
    here.commit({".env": f"{CANARY}\n", "keys/server.key": f"{CANARY}\n"})
    here.commit({"settings.py": 'API_KEY = "canarymasked12345"\n'})
    assert search(here, CANARY) == []
    assert search(here, "canarymasked12345") == []
    assert search(here, "API_KEY") == ["settings.py"]
    here.database.close()
    raw = here.database.path.read_bytes()
    assert b"7d1f0c" not in raw
    assert b"canarymasked" not in raw


def test_a_rule_signed_later_hides_what_was_indexed_before(here: ResearchWorld) -> None:
    assert "other.py" in search(here, "read_tree")
    here.secrets = SecretRules(patterns=("other.py",))
    here.views.renew()
    assert "other.py" not in search(here, "read_tree")


def test_binary_and_huge_files_are_counted_and_not_indexed(here: ResearchWorld) -> None:
    here.commit({"data.bin": b"read_tree\0\1\2", "huge.py": "# read_tree\n" * 300_000})
    code = here.researcher.gathering.code
    answer = code.search(["read_tree"], commit=code.find_commit(), documents=False, limit=10)
    assert {"data.bin", "huge.py"}.isdisjoint(hit.path for hit in answer.hits)
    assert answer.skipped == 2


def test_a_damaged_or_removed_index_is_made_anew(here: ResearchWorld) -> None:
    assert search(here, "TreeReader") == ["store/tree.py"]
    here.database.close()
    here.database.path.write_bytes(b"this is no database" * 100)
    assert search(here, "TreeReader") == ["store/tree.py"]
    here.database.close()
    here.database.path.unlink()
    assert search(here, "TreeReader") == ["store/tree.py"]


def test_a_crash_in_the_middle_of_a_batch_leaves_no_half_indexed_blob(
    here: ResearchWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = here.views.current.source

    def die(_entries: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(view, "read_texts", die)
    with pytest.raises(KeyboardInterrupt):
        search(here, "read_tree")
    assert here.database.query("SELECT count(*) FROM blob") == [(0,)]
    monkeypatch.undo()
    assert search(here, "TreeReader") == ["store/tree.py"]


@pytest.mark.parametrize(
    "term",
    ['" OR text:*', "*", "NEAR(a b)", "a AND NOT b", "'; DROP TABLE blob", "\0", "\u017f", ""],
)
def test_no_term_becomes_another_question(here: ResearchWorld, term: str) -> None:
    search(here, term)
    assert "store/tree.py" in search(here, "read_tree")


def test_records_are_searched_by_a_closed_list_of_types(here: ResearchWorld) -> None:
    desire = {"text": "prune the tree", "strength": 1.0, "tags": [], "context": None}
    here.ledger.append(
        [
            Event(type="desire_recorded", actor="agent", data=desire),
            Event(type="operator_spoke", actor="operator", data={"text": "prune the tree"}),
        ]
    )
    sequences = here.researcher.gathering.records.search_records(["prune", "tree"], limit=5)
    records = [here.ledger.record(sequence) for sequence in sequences]
    assert [record.type for record in records if record] == ["desire_recorded"]


def test_a_parser_that_cannot_cope_gives_no_symbols_and_harms_nobody() -> None:
    nested = "(" * 100_000 + ")" * 100_000
    broken, fine = parse_files([("Python", nested), ("JavaScript", "function f() {}")])
    assert broken is None
    assert fine == [["f", "function", 1, 1]]
    (deep,) = parse_files([("TypeScript", "class A {" * 5_000)])
    assert deep is None or isinstance(deep, list)
