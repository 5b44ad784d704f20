"""Real bare repositories, written with `git fast-import`: any content and mode is possible."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.source_view.view import SourceView

GIT = ("git", "-c", "core.fsync=none", "-c", "protocol.file.allow=always")


@dataclass
class Repository:
    path: Path
    views: ExitStack = field(default_factory=ExitStack)

    def git(self, *arguments: str, data: bytes = b"") -> str:
        command = [*GIT, f"--git-dir={self.path}", *arguments]
        done = subprocess.run(command, input=data, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(
        self,
        files: dict[str | bytes, bytes | str],
        *,
        branch: str = "main",
        links: dict[str, str] | None = None,
        submodules: dict[str, str] | None = None,
    ) -> str:
        """Make a commit that holds exactly these entries; return its id."""
        stream = [f"commit refs/heads/{branch}\ncommitter T <t@localhost> 0 +0000\ndata 1\nx\n"]
        parts = ["".join(stream).encode(), b"deleteall\n"]
        parts += [_blob(b"100644", path, content) for path, content in files.items()]
        parts += [_blob(b"120000", path, target) for path, target in (links or {}).items()]
        for path, commit in (submodules or {}).items():
            parts.append(b"M 160000 %s %s\n" % (commit.encode(), _quoted(path)))
        self.git("fast-import", "--quiet", "--force", data=b"".join(parts))
        return self.git("rev-parse", f"refs/heads/{branch}")

    def view(self, **options: Any) -> SourceView:
        view = SourceView(self.path, **{"branch": "main", **options})
        self.views.callback(view.close)
        return view


def _blob(mode: bytes, path: str | bytes, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return b"M %s inline %s\ndata %d\n%s\n" % (mode, _quoted(path), len(data), data)


def _quoted(path: str | bytes) -> bytes:
    raw = path.encode() if isinstance(path, str) else path
    return b'"' + b"".join(b"\\%03o" % byte for byte in raw) + b'"'


@pytest.fixture
def make_repository(tmp_path: Path) -> Iterator[Callable[[], Repository]]:
    made: list[Repository] = []

    def make() -> Repository:
        path = tmp_path / f"repository{len(made)}.git"
        subprocess.run([*GIT, "init", "--quiet", "--bare", "-b", "main", str(path)], check=True)
        made.append(Repository(path))
        return made[-1]

    yield make
    for repository in made:
        repository.views.close()


@pytest.fixture
def repository(make_repository: Callable[[], Repository]) -> Repository:
    return make_repository()
