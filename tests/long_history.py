"""A repository with a past: hundreds of commits, merges, renames, and bytes of every kind."""

import subprocess
from pathlib import Path

COMMITS = 300
LATIN = b"# caf\xe9\nNAME = 'caf\xe9'\n"
CRLF = b"first\r\nsecond\r\nthird\r\n"
BINARY = bytes(range(256)) * 4
ODD_NAME = b'docs/na\xefve "quoted".txt'


def make(path: Path) -> Path:
    """Make a bare repository from a stream of commits; the branch is `main`."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)
    subprocess.run(
        ["git", "--git-dir", path, "fast-import", "--quiet", "--force"],
        input=b"".join(_stream()),
        check=True,
    )
    return path


def _stream() -> list[bytes]:
    said = [_commit(1, b"main", None, _first())]
    for number in range(2, COMMITS + 1):
        said.append(_commit(number, b"main", number - 1, _step(number), merged=_side(number)))
        if number % 50 == 0:
            change = _file(b"side/%d.txt" % number, b"beside\n")
            said.append(_commit(1000 + number, b"side-%d" % number, number, change))
    return said


def _side(number: int) -> int | None:
    """Merge what was done beside, three commits after it began."""
    began = number - 3
    return 1000 + began if began > 0 and began % 50 == 0 else None


def _first() -> bytes:
    return b"".join(
        [
            _file(b"agent.py", b"def answer():\n    return 41\n"),
            _file(b"notes/crlf.txt", CRLF),
            _file(b"notes/latin.py", LATIN),
            _file(b"data/picture.bin", BINARY),
            _file(ODD_NAME, b"odd\n"),
            _file(b"run.sh", b"#!/bin/sh\n", mode=b"100755"),
            _file(b"empty.txt", b""),
            _file(b"latest", b"agent.py", mode=b"120000"),
        ]
    )


def _step(number: int) -> bytes:
    """Add a file, change one, or rename one, in turn."""
    if number % 10 == 0:
        old, new = b"pkg/m%d.py" % (number - 1), b"pkg/moved/m%d.py" % (number - 1)
        return b"R %b %b\n" % (old, new)
    if number % 3 == 0 and number % 10 != 9:
        return _file(b"agent.py", b"def answer():\n    return 41  # %d\n" % number)
    return _file(b"pkg/m%d.py" % number, b"NUMBER = %d\n" % number)


def _commit(
    mark: int, branch: bytes, parent: int | None, change: bytes, *, merged: int | None = None
) -> bytes:
    when = b"%d +0000" % (1_700_000_000 + mark)
    return b"".join(
        [
            b"commit refs/heads/%b\nmark :%d\n" % (branch, mark),
            b"committer S\xc3\xb6meone <someone@localhost> %b\n" % when,
            b"data 4\nstep\n",
            b"from :%d\n" % parent if parent else b"",
            b"merge :%d\n" % merged if merged else b"",
            change,
            b"\n",
        ]
    )


def _file(path: bytes, content: bytes, *, mode: bytes = b"100644") -> bytes:
    named = b'"%b"' % path.replace(b'"', b'\\"') if b'"' in path else path
    return b"M %b inline %b\ndata %d\n%b\n" % (mode, named, len(content), content)
