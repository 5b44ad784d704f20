"""The target of the demo: the example agent server, its contract, two changes, and its users."""

import importlib.util
import json
import shlex
import shutil
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from astra.trusted.git.git_command import GitCommand, run_git
from astra.trusted.kernel.errors import NotFound

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@localhost",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@localhost",
}

GOOD = {
    "reason": "greet people warmly: it is what I wished for",
    "edits": [
        {
            "path": "agent_server/api.py",
            "search": 'return "Hello from the agent"',
            "replace": 'return "Good to see you. Hello from the agent"',
        }
    ],
}
BAD = {
    "reason": "a smaller health answer, which should be faster",
    "edits": [
        {
            "path": "agent_server/api.py",
            "search": "        trouble = self.loop.trouble\n",
            "replace": "        trouble = self.loop.trouble\n"
            '        if self.about.release not in ("rel-1", "by hand"):\n'
            "            trouble = self._too_busy()\n",
        },
        {
            "path": "agent_server/api.py",
            "search": "    def greet(self, _request",
            "replace": "    def _too_busy(self) -> str:\n"
            '        """Count the looks at our health; a third one in a row is too many."""\n'
            "        looks = self.state.count(self.about.release)\n"
            '        return "too busy to be healthy" if looks > 3 else ""\n'
            "\n"
            "    def greet(self, _request",
        },
    ],
}
MENDED = {
    "reason": "health is health again: what I changed last made me fail",
    "edits": [
        {
            "path": "agent_server/api.py",
            "search": '        if self.about.release not in ("rel-1", "by hand"):\n'
            "            trouble = self._too_busy()\n",
            "replace": "",
        }
    ],
}


def make_repository(folder: Path) -> None:
    """Put the example into a repository of its own."""
    shutil.copytree(
        _find_example(), folder, ignore=shutil.ignore_patterns("__pycache__", ".*_cache")
    )
    run_git(GitCommand(repository=None, arguments=("init", "-q", "-b", "main", "--", str(folder))))
    for arguments in (("add", "--all"), ("commit", "-q", "-m", "one")):
        command = GitCommand(
            repository=folder / ".git",
            work_tree=folder,
            arguments=arguments,
            environment=_IDENTITY,
        )
        run_git(command, next_step="look at what git said, then run the demo again")


def build_configuration() -> str:
    """Give the contract that the operator of the demo signs."""
    python = shlex.quote(sys.executable)
    lines = (
        "[target]",
        'branch = "main"',
        f"test_command = {json.dumps(f'{python} {_test_command()}')}",
        "[app]",
        f"command = {json.dumps(f'{python} -m agent_server')}",
        f"client_build = {json.dumps(f'{python} build_client.py')}",
        'health_path = "/healthz"',
        "watch_seconds = 5",
        "[app.permissions]",
        'network = "host"',
    )
    return "\n".join(lines) + "\n"


def _test_command() -> str:
    """Test with pytest where it is installed; a plain installation of Astra does not bring it."""
    if importlib.util.find_spec("pytest"):
        return "-m pytest -q --disable-plugin-autoload tests"
    return "run_tests.py {junit}"


@dataclass
class Visitors:
    """People who never stop asking the app, with fresh connections and with kept ones."""

    port: int
    answered: int = 0
    lost: list[str] = field(default_factory=list[str])
    greetings: set[str] = field(default_factory=set[str])

    def __enter__(self) -> Self:
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._request_greetings, args=[keep_alive], daemon=True)
            for keep_alive in (False, True)
            for _ in range(2)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _request_greetings(self, kept: bool) -> None:  # noqa: FBT001 - two kinds of visitors
        from http.client import HTTPConnection, HTTPException

        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self._over.wait(0.005):
            try:
                headers = {} if kept else {"Connection": "close"}
                connection.request("GET", "/api/greeting", headers=headers)
                answer = connection.getresponse()
                document = json.loads(answer.read())
                self.greetings.add(str(document["greeting"]))
                self.answered += 1
            except (OSError, HTTPException, ValueError, KeyError) as error:
                self.lost.append(repr(error))
                connection.close()
        connection.close()


def _find_example() -> Path:
    this_file = Path(__file__).resolve()
    for folder in (this_file.parents[2] / "examples", this_file.parents[4] / "examples"):
        if (folder / "agent_server").is_dir():
            return folder / "agent_server"
    raise NotFound(
        "the example agent server is not here",
        next_step="install Astra again from its wheel, or run `make demo` in a clone",
    )
