"""Asking for lines around a diff reads files of the change, as text, and nothing else."""

import pytest

from astra.changes.edits import WholeFile
from astra.changes.lines import Remark
from astra.trusted.kernel.errors import NotFound
from changing import ChangesHere

ELSEWHERE = (
    "../git/config",
    "/etc/passwd",
    "HEAD",
    "agent.py\0",
    "agent.py/../agent.py",
    "./agent.py",
    "untouched.py",
    ":(top)agent.py",
    "",
    "n" * 5000,
    "\udcff",
    "--help",
)


@pytest.mark.parametrize("path", ELSEWHERE)
def test_only_files_of_the_change_can_be_read(here: ChangesHere, path: str) -> None:
    here.commit_elsewhere("untouched.py", b"secret = 1\n")
    change = here.reviewed()
    with pytest.raises(NotFound) as refused:
        here.changes.read_lines(change.id, path=path, side="new", start=1, end=1)
    assert len(refused.value.detail) < 400
    assert refused.value.detail.isprintable()


@pytest.mark.parametrize("path", ["a b.py", "-r.py", "é.py", "$(x).py", ":(glob)*.py", "'\".py"])
def test_names_are_names_and_nothing_else(here: ChangesHere, path: str) -> None:
    change = here.reviewed(WholeFile(path=path, content=b"one\ntwo\n"))
    found = here.changes.read_lines(change.id, path=path, side="new", start=2, end=2)
    assert found["lines"] == ["two"]


def test_the_target_of_a_symbolic_link_is_not_followed(here: ChangesHere) -> None:
    """A link of the target itself, which a change may turn into a file."""
    from astra.trusted.changes.files import FileState

    head = here.repo.head()
    link = FileState(content=b"/etc/passwd", mode="120000")
    made = here.repo.commit(
        base=head, result={"link.py": link}, message="x", when=here.root.clock.now()
    )
    assert here.repo.fast_forward(expected=head, to=made.id)
    change = here.reviewed(WholeFile(path="link.py", content=b"x = 1\n"))
    old = here.changes.read_lines(change.id, path="link.py", side="old", start=1, end=5)
    assert old["lines"] == []


def test_lines_count_as_git_counts_them_whatever_is_in_them(here: ChangesHere) -> None:
    content = b"one\r\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8same\ntwo\xff\n"
    change = here.reviewed(WholeFile(path="agent.py", content=content))
    found = here.changes.read_lines(change.id, path="agent.py", side="new", start=1, end=9)
    assert found["total"] == 2
    assert found["lines"][1] == "two\\xff"


def test_what_is_said_about_a_line_is_printable_for_whoever_reads_it(here: ChangesHere) -> None:
    change = here.reviewed()
    said = Remark(path="agent.py", side="new", line=1, text="\x1b[2Jlook\u202e")
    here.changes.remarks.comment(change.id, "", actor="operator", remarks=[said])
    ((kept,),) = (comment["remarks"] for comment in here.get(change.id).comments)
    assert kept["text"] == "\\x1b[2Jlook\\u202e"
