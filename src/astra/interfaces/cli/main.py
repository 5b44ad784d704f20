"""`astra`: find the command, import only its module, run it, and turn errors into exit codes.

Exit codes: 0 done, 1 refused or failed, 2 bad usage, 3 needs approval.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from astra import __version__
from astra.interfaces.cli.client import Client, exit_code_of
from astra.interfaces.cli.console import Console
from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.settings import environment
from astra.trusted.settings.environment import Settings

COMMANDS = {
    "init": ("root", "make a data root for an agent's repository"),
    "status": ("root", "what is on, what waits, what is wrong"),
    "doctor": ("doctor", "check this machine and this data root, and say how to mend them"),
    "up": ("daemon", "run the daemon in the foreground, with the dashboard"),
    "down": ("daemon", "end the daemon"),
    "login": ("access", "a one-time link into the dashboard"),
    "passkeys": ("passkeys", "approve from a browser with a passkey: enroll, list, revoke"),
    "tokens": ("access", "let programs in over HTTP: create, list, revoke"),
    "stop": ("stopping", "end everything the agent runs, at once, and prove it"),
    "start": ("stopping", "let work start again after a stop; asks for the passphrase"),
    "clock": ("clock", "compare the clock with the ledger's time; accept takes your signature"),
    "sandbox": ("sandbox", "show what confines agent code; off-unsafe takes your signature"),
    "mcp": ("mcp", "an MCP server for an agent's client, on standard input and output"),
    "flags": ("flags", "show the kill switches, or set one"),
    "config": ("operator", "show or sign astra.toml"),
    "operator": ("operator", "show or rotate the operator's key"),
    "source": ("tools", "list, read and search the target's source"),
    "desires": ("desires", "what the agent would like, and how much"),
    "goals": ("desires", "what is to be achieved"),
    "tools": ("tools", "list the tools, or call one as an agent"),
    "schedules": ("schedules", "what runs on a clock: create, change, look, run"),
    "changes": ("changes", "changes to the code: propose, look, test, decide"),
    "tasks": ("tasks", "what is to be done once, and waits for you"),
    "plans": ("plans", "one contract for a night's work: draft, decide, watch, steer"),
    "grants": ("plans", "the global allowlist that plans may draw on"),
    "chat": ("chat", "talk with the persona, which acts as an agent"),
    "approvals": ("approvals", "what waits for your decision"),
    "approve": ("approvals", "approve exactly one thing, once; asks for the passphrase"),
    "reject": ("approvals", "reject it, with a reason"),
    "deploy": ("deploying", "put an approved commit into service; asks for the passphrase"),
    "releases": ("deploying", "what was deployed, what serves, what can be gone back to"),
    "rollback": ("deploying", "put another release into service again; asks for the passphrase"),
    "readiness": ("readiness", "the go / no-go list before code writing is turned on"),
    "ledger": ("ledger", "read, verify, rebuild and export the record"),
    "backup": ("backups", "copy the data root as it is now, while the daemon runs"),
    "restore": ("backups", "go on from a backup or an older state; asks for the passphrase"),
    "demo": ("demo", "a guided story on a throwaway data root"),
}

_DATA_ROOT = "--data-root"


@dataclass
class Context:
    """What every command gets: its arguments, a console, and lazily the settings and the daemon."""

    arguments: argparse.Namespace
    console: Console
    _settings: Settings | None = field(default=None)

    @property
    def data_root(self) -> Path:
        """Name the data root. Stopping and looking need nothing else, whatever a setting says."""
        return find_data_root(self.arguments.data_root)

    @property
    def settings_trouble(self) -> AstraError | None:
        """Say what is wrong with the settings, for those who report it instead of failing on it."""
        try:
            _ = self.settings
        except AstraError as error:
            return error
        return None

    @property
    def settings(self) -> Settings:
        if self._settings is None:
            self._settings = load_settings(self.arguments.data_root)
        return self._settings

    def client(self, *, without_settings: bool = False) -> Client:
        """Give the way to the daemon; without settings, nothing in the environment narrows."""
        if without_settings:
            return Client(self.data_root)
        settings = self.settings
        return Client(settings.data_root, off=settings.flags_off, asked_on=settings.flags_asked_on)


Run = Callable[[Context], int | None]


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    console = Console(as_json="--json" in words)
    try:
        arguments = parse(words)
        run: Run = arguments.run
        return run(Context(arguments, console)) or 0
    except AstraError as error:
        console.error(error)
        return exit_code_of(error)
    except KeyboardInterrupt:
        console.note("interrupted")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:  # noqa: BLE001 - no traceback reaches a person
        console.error(_unexpected(error))
        return 1


def _unexpected(error: Exception) -> AstraError:
    """Name a trouble that nobody foresaw, and keep where it came from for whoever mends it."""
    if isinstance(error, OSError) and error.errno:
        where = f" ({error.filename})" if error.filename else ""
        return AstraError(
            f"the system refused: {error.strerror}{where}", next_step="astra doctor", code="system"
        )
    import tempfile
    import traceback

    told = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="astra-fault-", suffix=".txt", delete=False
    ) as file:
        file.write(told)
    return AstraError(
        f"a fault in Astra: {type(error).__name__}: {error}",
        next_step=f"astra doctor; {file.name} says where it happened",
    )


def parse(words: list[str]) -> argparse.Namespace:
    name = find_command(words)
    parser = Parser(
        prog="astra", description="An agent's code, under a contract a human signed.", top=True
    )
    parser.add_argument("--version", action="version", version=f"astra {__version__}")
    groups = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, (module, about) in COMMANDS.items():
        child = groups.add_parser(command, help=about, description=about)
        if command == name:
            configure(child, command, module)
    return parser.parse_args(words)


def find_command(words: list[str]) -> str | None:
    """Give the first word that is neither an option nor the value of one.

    >>> find_command(["--data-root", "elsewhere", "status"])
    'status'
    """
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return word
        if len(word) > len("--") and _DATA_ROOT.startswith(word):
            _refuse_command_as_folder(next(rest, ""))
    return None


def _refuse_command_as_folder(folder: str) -> None:
    """Tell who left the folder out; one that is named like a command can be given as a path."""
    if folder in COMMANDS and not Path(folder).is_dir():
        raise BadInput(
            f"{_DATA_ROOT} needs a folder; {folder!r} is a command, and no folder here",
            code="bad_usage",
            next_step=f"astra {_DATA_ROOT} FOLDER {folder}",
        )


def configure(parser: argparse.ArgumentParser, command: str, module: str) -> None:
    implementation = importlib.import_module(f"astra.interfaces.cli.{module}")
    implementation.configure(parser, command)


def find_data_root(data_root: str | None) -> Path:
    return Path(data_root or os.environ.get("AGENT_DATA_ROOT") or "agent-data").absolute()


def load_settings(data_root: str | None) -> Settings:
    root = find_data_root(data_root)
    environ = {**os.environ, "AGENT_DATA_ROOT": str(root)}
    return environment.load(environ, environment.read_dotenv(root / ".env"))


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are Astra's, and that takes the common options anywhere."""

    def __init__(self, *, top: bool = False, **options: Any) -> None:
        super().__init__(**options)
        unset: dict[str, Any] = {} if top else {"default": argparse.SUPPRESS}
        self.add_argument(_DATA_ROOT, metavar="FOLDER", help="the data root", **unset)
        self.add_argument("--json", action="store_true", help="print one JSON document", **unset)

    def error(self, message: str) -> NoReturn:
        raise BadInput(message, code="bad_usage", next_step=f"{self.prog} --help")


if __name__ == "__main__":
    sys.exit(main())
