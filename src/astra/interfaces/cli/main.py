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

from astra import __version__
from astra.interfaces.cli.client import Client, exit_code_of
from astra.interfaces.cli.console import Console
from astra.interfaces.cli.parsing import DATA_ROOT, HelpAsked, Parser, wrong_choice_error
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
    "machines": ("machines", "the machines that share the chain, and which of them leads"),
    "worker": ("workers", "run jobs of a shared chain on this machine; serves no HTTP and no MCP"),
    "workers": ("workers", "the workers of a shared chain, what they can do and what they do now"),
    "start": ("stopping", "let work start again after a stop; asks for the passphrase"),
    "clock": ("clock", "compare the clock with the ledger's time; accept takes your signature"),
    "sandbox": ("sandbox", "show what confines agent code; off-unsafe takes your signature"),
    "mcp": ("mcp", "an MCP server for an agent's client, on standard input and output"),
    "flags": ("flags", "show the kill switches, or set one"),
    "config": ("operator", "show, check or sign astra.toml"),
    "environments": ("environments", "what was built for tests and app: list, remove"),
    "operator": ("operator", "show or rotate your own operator's key"),
    "operators": ("operators", "who may sign what: list, request, add, remove, role, rules, sign"),
    "source": ("tools", "list, read and search the target's source"),
    "desires": ("desires", "what the agent would like, and how much"),
    "goals": ("goals", "what is to be achieved: create, adopt, run, pause, abandon, retry"),
    "research": ("research", "questions answered with checked citations: ask, list, show"),
    "beliefs": ("beliefs", "what outcomes say about tests, folders, methods and schedules"),
    "spend": ("spend", "tokens and money that models took today, and the caps on them"),
    "tools": ("tools", "list the tools, or call one as an agent"),
    "schedules": ("schedules", "what runs on a clock: create, change, look, run"),
    "changes": ("changes", "changes to the code: propose, look, test, decide"),
    "sync": ("sync", "bring commits of people into the target's branch; asks for the passphrase"),
    "tasks": ("tasks", "tasks of changes, goals and schedules, and how each ended"),
    "plans": ("plans", "longer work under one signed contract: draft, decide, watch, steer"),
    "grants": ("plans", "the global allowlist that plans may draw on"),
    "chat": ("chat", "talk with the persona, which acts as an agent"),
    "inbox": ("inbox", "everything that waits for you, and the command that moves it on"),
    "review": ("reviewing", "look at what waits on a full screen, and decide by keys"),
    "approvals": ("approvals", "what waits for your decision"),
    "approve": ("approvals", "approve exactly one thing, once; asks for the passphrase"),
    "reject": ("approvals", "reject it, with a reason"),
    "permissions": ("permissions", "what need not ask you each time: list, add, add-merge, remove"),
    "servers": ("servers", "other MCP servers, whose calls pass the gate too: list, show, accept"),
    "deploy": ("deploying", "put an approved commit into service; asks for the passphrase"),
    "releases": ("deploying", "what was deployed, what is live, what can be rolled back to"),
    "rollback": ("deploying", "put an earlier release into service again; asks for the passphrase"),
    "readiness": ("readiness", "the go / no-go list before code writing is turned on"),
    "alerts": ("alerts", "what is unusual now: list, check, silence, export"),
    "notify": ("notify", "send a test message through your notification channels"),
    "logs": ("logs", "what the daemon, the app or its holder logged; --follow goes on"),
    "support": ("support", "put together what helps to find a fault, without secrets"),
    "smoke": ("smoke", "try every part of the running server once, within seconds"),
    "ledger": ("ledger", "read, verify, rebuild and export the record"),
    "backup": ("backups", "copy the data root as it is now, while the daemon runs"),
    "restore": ("backups", "go on from a backup or an older state; asks for the passphrase"),
    "service": ("service", "run it under systemd: install writes hardened units"),
    "demo": ("demo", "a guided story on a throwaway data root"),
    "completion": ("completion", "a script that completes commands in bash, zsh or fish"),
    "help": ("usage", "all commands, or how one of them is used"),
}


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
    raw_arguments = sys.argv[1:] if argv is None else argv
    console = Console(as_json="--json" in raw_arguments)
    try:
        arguments = parse(raw_arguments)
        command: Run = arguments.run
        return command(Context(arguments, console)) or 0
    except HelpAsked as asked:
        console.print_result(asked.as_dict(), *asked.text.splitlines())
        return 0
    except AstraError as error:
        console.print_error(error)
        return exit_code_of(error)
    except KeyboardInterrupt:
        console.note("interrupted")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:  # noqa: BLE001 - no traceback reaches a person
        console.print_error(_wrap_unexpected(error))
        return 1


def _wrap_unexpected(error: Exception) -> AstraError:
    """Name a trouble that nobody foresaw, and keep where it came from for whoever mends it."""
    if isinstance(error, OSError) and error.errno:
        file_suffix = f" ({error.filename})" if error.filename else ""
        return AstraError(
            f"the system refused: {error.strerror}{file_suffix}",
            next_step="astra doctor",
            code="system",
        )
    import tempfile
    import traceback

    traceback_text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="astra-fault-", suffix=".txt", delete=False
    ) as file:
        file.write(traceback_text)
    return AstraError(
        f"a fault in Astra: {type(error).__name__}: {error}",
        next_step=f"astra doctor; {file.name} says where it happened",
    )


def parse(words: list[str]) -> argparse.Namespace:
    """Read the words of a command; without one, `run` greets."""
    name = find_command(words)
    if name is not None and name not in COMMANDS:
        raise wrong_choice_error("command", name, list(COMMANDS), prefix="astra")
    return build_parser(name).parse_args(words)


def build_parser(name: str | None) -> Parser:
    """Make the parser of all commands; only the one that was asked for knows its own arguments."""
    parser = Parser(
        prog="astra", description="An agent's code, under a contract a human signed.", top=True
    )
    parser.add_argument("--version", action="version", version=f"astra {__version__}")
    groups = parser.add_subparsers(title="commands", metavar="COMMAND")
    commands = COMMANDS if name is None else {name: COMMANDS[name]}
    for command, (module, about) in commands.items():
        child = groups.add_parser(command, help=about, description=about)
        if command == name:
            configure(child, command, module)
    parser.set_defaults(run=_greet)
    return parser


def _greet(context: Context) -> None:
    from astra.interfaces.cli.greeting import greet

    greet(context)


def find_command(words: list[str]) -> str | None:
    """Give the first word that is neither an option nor the value of one.

    >>> find_command(["--data-root", "elsewhere", "status"])
    'status'
    """
    remaining_words = iter(words)
    for word in remaining_words:
        if not word.startswith("-"):
            return word
        if len(word) > len("--") and DATA_ROOT.startswith(word):
            _refuse_command_as_folder(next(remaining_words, ""))
    return None


def _refuse_command_as_folder(folder: str) -> None:
    """Tell who left the folder out; one that is named like a command can be given as a path."""
    if folder in COMMANDS and not Path(folder).is_dir():
        raise BadInput(
            f"{DATA_ROOT} needs a folder; {folder!r} is a command, and no folder here",
            code="bad_usage",
            next_step=f"astra {DATA_ROOT} FOLDER {folder}",
        )


def configure(parser: argparse.ArgumentParser, command: str, module: str) -> None:
    implementation = importlib.import_module(f"astra.interfaces.cli.{module}")
    implementation.configure(parser, command)


def find_data_root(data_root: str | None) -> Path:
    return Path(data_root or environment.read_data_root(os.environ)).absolute()


def load_settings(data_root: str | None) -> Settings:
    root = find_data_root(data_root)
    environ = {**os.environ, "AGENT_DATA_ROOT": str(root)}
    return environment.load(environ, environment.read_dotenv(root / ".env"))


if __name__ == "__main__":
    sys.exit(main())
