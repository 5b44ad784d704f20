"""A real data root, driven through the real command in processes of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PASSPHRASE = "correct horse battery"


@dataclass
class Astra:
    folder: Path
    extra: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def root(self) -> Path:
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "AGENT_DATA_ROOT": str(self.root),
            "ASTRA_OPERATOR_PASSPHRASE": PASSPHRASE,
            **self.extra,
        }

    def run(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "astra.interfaces.cli.main", *map(str, words)],
            env={**self.environment, **environment},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )

    def json(self, *words: str | Path, code: int = 0, **environment: str) -> Any:
        done = self.run(*words, "--json", **environment)
        assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    def daemon_pid(self) -> int:
        return self.json("status")["daemon"]["pid"]


def make_repository(path: Path) -> Path:
    path.mkdir()
    (path / "agent.py").write_text("def answer() -> int:\n    return 42\n")
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    for words in (["init", "-q", "-b", "trunk"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=path, check=True)
    return path
