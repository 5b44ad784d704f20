"""One world for every attack: a target, a data root, and secrets outside that must stay unseen."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from astra.adapters.persona_space import PersonaSpace
from astra.adapters.source_view.scoped_reads import ScopedReads
from astra.adapters.source_view.view import SourceView
from astra.trusted.policy.grants import GrantKind, GrantPlaces, PathGrants, compile_grants
from astra.trusted.policy.protected import ProtectedPlaces, protected_places
from astra.trusted.policy.reads import (
    OWN_FOLDERS,
    SERVER_FOLDERS,
    ReadBoundary,
    ReadScope,
    read_folders,
)

CANARY = "the canary must never be seen"

HOSTILE = {
    "parent": "../outside/canary.txt",
    "parents": "../../../../../../../../etc/passwd",
    "parent inside": "src/services/../../config",
    "parent at the end": "notes/..",
    "absolute": "/etc/passwd",
    "doubled slash": "//etc/passwd",
    "proc": "/proc/self/root/etc/passwd",
    "nul": "canary.txt\0.md",
    "newline": "a\n../outside/canary.txt",
    "escape": "\x1b[2Ja",
    "overlong name": "x" * 256,
    "overlong path": "d/" * 2500 + "x",
    "fullwidth slash": "..\uff0foutside\uff0fcanary.txt",
    "division slash": "..\u2215outside",
    "fraction slash": "..\u2044outside",
    "fullwidth dots": "\uff0e\uff0e/outside/canary.txt",
    "one dot leaders": "\u2024\u2024/outside/canary.txt",
    "two dot leader": "\u2025/outside/canary.txt",
    "decomposed": "cafe\u0301.txt",
    "zero width": "can\u200bary.txt",
    "right to left": "txt.\u202eyranac",
    "surrogate": "a\udcff",
    "trailing dot": "canary.txt.",
    "trailing space": "notes /canary.txt",
    "windows separator": "..\\outside\\canary.txt",
    "drive": "C:/outside/canary.txt",
    "share": "\\\\host\\share\\x",
    "home": "~/canary.txt",
    "home of another": "~root/canary.txt",
    "git": ".git/config",
    "git in capitals": "sub/.GIT/config",
    "git short name": "GIT~1/config",
    "git with a joiner": ".g\u200dit/config",
    "empty": "",
}
SECRETS = [
    ".env",
    ".ENV",
    ".Env.Local",
    "id_rsa",
    "ID_RSA",
    "x/.ssh/config",
    "tls.KEY",
    ".\uff45nv",
]


@dataclass
class World:
    root: Path
    space: PersonaSpace
    source: SourceView
    protected: ProtectedPlaces
    reads: Callable[..., ScopedReads]

    @property
    def data_root(self) -> Path:
        return self.root / "data"

    @property
    def persona(self) -> Path:
        return self.data_root / "persona_space"

    @property
    def sandbox(self) -> Path:
        return self.data_root / "sandbox"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    def outside_files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.outside.iterdir() if path.is_file()}

    def grants(self, *texts: str, kind: GrantKind = GrantKind.READ_PATHS) -> PathGrants:
        places = GrantPlaces(home="/home/operator", protected=self.protected)
        return compile_grants(kind, texts, places=places)


@pytest.fixture(params=list(HOSTILE), ids=list(HOSTILE))
def hostile(request: pytest.FixtureRequest) -> str:
    return HOSTILE[request.param]


@pytest.fixture(params=SECRETS)
def secret(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    root = tmp_path.resolve()
    for name in (*OWN_FOLDERS, *SERVER_FOLDERS, "var"):
        (root / "data" / name).mkdir(parents=True)
    (root / "outside").mkdir()
    (root / "outside/canary.txt").write_text(CANARY)
    (root / "data/var/ledger.ndjson").write_text(CANARY)
    (root / "data/astra.toml").write_text(CANARY)
    (root / "data/.env").write_text(CANARY)
    protected = protected_places(data_root=str(root / "data"), home="/home/operator")
    with ExitStack() as stack:
        source = stack.enter_context(SourceView(_repository(root / "git"), branch="main"))
        space = PersonaSpace(root / "data/persona_space", source=source)
        stack.enter_context(space)

        def reads(scope: ReadScope, grants: PathGrants | None = None) -> ScopedReads:
            boundary = ReadBoundary(
                scope=scope,
                folders=read_folders(str(root / "data")),
                protected=protected,
                grants=grants,
            )
            return stack.enter_context(ScopedReads(boundary))

        yield World(root=root, space=space, source=source, protected=protected, reads=reads)


def _repository(path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)
    stream = (
        "commit refs/heads/main\ncommitter T <t@localhost> 0 +0000\ndata 1\nx\n"
        "M 100644 inline src/app.py\ndata 2\n1\n\n"
        f"M 100644 inline .env\ndata {len(CANARY)}\n{CANARY}\n"
        f"M 100644 inline keys/id_rsa\ndata {len(CANARY)}\n{CANARY}\n"
        "M 120000 inline link\ndata 11\n/etc/passwd\n"
    )
    importing = ["git", f"--git-dir={path}", "fast-import", "--quiet"]
    subprocess.run(importing, input=stream.encode(), check=True)
    return path
