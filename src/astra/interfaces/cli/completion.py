"""`astra completion bash|zsh|fish`: a script made from the parsers, so that it knows every command.

The script itself asks nobody. Only for an ID it calls `astra completion ids`, which asks a daemon
that runs, starts none, and prints nothing where there is none.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from astra.interfaces.cli.main import COMMANDS, Context
from astra.interfaces.cli.main import configure as configure_command
from astra.interfaces.cli.parsing import Parser, is_action_group, list_actions, list_arguments
from astra.trusted.kernel.errors import AstraError

_ID_LISTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/api/approvals", {"state": "pending"}),
    ("/api/changes", {"limit": 30}),
    ("/api/agents", {"limit": 30}),
    ("/api/schedules", {"limit": 30}),
    ("/api/releases", {}),
)


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What may follow some words: further words with what they do, options, choices, an ID."""

    path: tuple[str, ...]
    actions: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]
    choices: tuple[str, ...]
    takes_id: bool

    @property
    def words(self) -> list[str]:
        """Give everything that can be typed here, but IDs."""
        return [
            *(name for name, _ in self.actions),
            *self.choices,
            *(name for name, _ in self.options),
        ]


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    shells = ["bash", "zsh", "fish", "ids"]
    parser.add_argument("shell", choices=shells, metavar="bash|zsh|fish", help="which shell")
    parser.set_defaults(run=complete)


def complete(context: Context) -> None:
    shell = context.arguments.shell
    if shell == "ids":
        identifiers = list_identifiers(context)
        context.console.print_result({"items": identifiers, "next": None}, *identifiers)
        return
    script = {"bash": write_bash, "zsh": write_zsh, "fish": write_fish}[shell](
        list(read_completions())
    )
    context.console.print_result({"shell": shell, "script": script}, *script.splitlines())


def list_identifiers(context: Context) -> list[str]:
    """Name what an ID may be, as far as a daemon that runs can say at once."""
    client = context.client(without_settings=True)
    if not client.is_running():
        return []
    identifiers: list[str] = []
    for path, query in _ID_LISTS:
        try:
            page: dict[str, Any] = client.get(path, **query)
        except AstraError:
            continue  # a shell that completes has no place for an error
        identifiers += [str(item["id"]) for item in page["items"]]
    return identifiers


def read_completions() -> Iterator[Completion]:
    """Walk all parsers, the words of each before it."""
    commands = tuple((name, about) for name, (_, about) in COMMANDS.items())
    yield Completion(path=(), actions=commands, options=_COMMON_OPTIONS, choices=(), takes_id=False)
    for name, (module, about) in COMMANDS.items():
        parser = Parser(prog=f"astra {name}", description=about)
        configure_command(parser, name, module)
        yield from _read_parser((name,), parser)


def _read_parser(path: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Completion]:
    arguments, actions = list_arguments(parser), list_actions(parser)
    options = [argument for argument in arguments if argument.option_strings]
    positional = [
        argument
        for argument in arguments
        if not argument.option_strings and not is_action_group(argument)
    ]
    yield Completion(
        path=path,
        actions=tuple((name, about) for name, about, _ in actions),
        options=tuple((option.option_strings[-1], option.help or "") for option in options),
        choices=tuple(str(word) for argument in positional for word in argument.choices or ()),
        takes_id=any(argument.metavar == "ID" for argument in positional),
    )
    for name, _, child in actions:
        yield from _read_parser((*path, name), child)


_COMMON_OPTIONS = (
    ("--help", "show this help message and exit"),
    ("--version", "show the version"),
    ("--data-root", "the data root"),
    ("--json", "print one JSON document"),
)


def write_bash(completions: list[Completion]) -> str:
    lines = [
        "# astra completion bash: source it, or put it into bash-completion's folder",
        "_astra() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} path= candidates= part",
        '  for part in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        '    case $part in -*) ;; *) path="${path:+$path }$part" ;; esac',
        "  done",
        "  case $path in",
    ]
    for one in sorted(completions, key=lambda completion: -len(completion.path)):
        pattern = f"'{' '.join(one.path)}'" + (
            "|" + f"'{' '.join(one.path)} '*" if one.path else ""
        )
        ids = " $(astra completion ids 2>/dev/null)" if one.takes_id else ""
        lines.append(f'    {pattern}) candidates="{" ".join(one.words)}{ids}" ;;')
    lines += [
        "  esac",
        '  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")',
        "}",
        "complete -o default -F _astra astra",
    ]
    return "\n".join(lines)


def write_zsh(completions: list[Completion]) -> str:
    lines = [
        "#compdef astra",
        "# astra completion zsh > a folder of $fpath, as _astra; or source it after compinit",
        "_astra() {",
        '  local path_words="" part',
        "  local -a candidates",
        "  for part in ${words[2,CURRENT-1]}; do",
        '    [[ $part == -* ]] || path_words="${path_words:+$path_words }$part"',
        "  done",
        "  case $path_words in",
    ]
    for one in sorted(completions, key=lambda completion: -len(completion.path)):
        pattern = f"'{' '.join(one.path)}'" + (
            "|" + f"'{' '.join(one.path)} '*" if one.path else ""
        )
        described = [*one.actions, *((choice, "") for choice in one.choices), *one.options]
        items = " ".join(_quote_for_zsh(name, about) for name, about in described)
        ids = ' ${(f)"$(astra completion ids 2>/dev/null)"}' if one.takes_id else ""
        lines.append(f"    {pattern}) candidates=({items}{ids}) ;;")
    lines += [
        "  esac",
        "  _describe 'astra' candidates || _files",
        "}",
        'if [[ ${funcstack[1]} == _astra ]]; then _astra "$@"; else compdef _astra astra; fi',
    ]
    return "\n".join(lines)


def write_fish(completions: list[Completion]) -> str:
    lines = [
        "# astra completion fish > ~/.config/fish/completions/astra.fish",
        "function __astra_at",
        "  set -l typed (string match -v -- '-*' (commandline -opc))[2..-1]",
        '  test "$typed" = "$argv[1]"',
        '  or begin; test -n "$argv[2]"; and string match -q -- "$argv[1] *" "$typed"; end',
        "end",
    ]
    for one in completions:
        path = " ".join(one.path)
        is_leaf = "leaf" if one.path and not one.actions else ""
        condition = f"-n '__astra_at \"{path}\" {is_leaf}'"
        for name, about in one.actions:
            lines.append(f"complete -c astra -f {condition} -a {name} -d {_quote_for_fish(about)}")
        lines += [f"complete -c astra -f {condition} -a {choice}" for choice in one.choices]
        for name, about in one.options:
            option = f"-l {name.removeprefix('--')}" if name.startswith("--") else f"-s {name[1:]}"
            lines.append(f"complete -c astra {condition} {option} -d {_quote_for_fish(about)}")
        if one.takes_id:
            lines.append(
                f"complete -c astra -f {condition} -a '(astra completion ids 2>/dev/null)'"
            )
    return "\n".join(lines)


def _quote_for_zsh(name: str, about: str) -> str:
    text = f"{name}:{about}" if about else name
    return "'" + text.replace("'", "'\\''") + "'"


def _quote_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
