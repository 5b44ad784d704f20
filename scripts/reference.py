"""Write `docs/reference` from the code, so that it says what the code does.

`pages()` gives every generated page by file name; running the file writes them. A test compares
the two, so a change to a command, setting, event, error or route needs `make docs`.
"""

import argparse
import ast
import dataclasses
import importlib
import importlib.util
import pkgutil
import sys
import types
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import astra
from astra.bootstrap.events import EVENTS
from astra.interfaces.cli import main as cli
from astra.interfaces.cli.client import ReportedError
from astra.operations import caps as all_caps
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import caps
from astra.trusted.settings import configuration, environment
from astra.trusted.settings.typed_tables import Variables

sys.path.insert(0, str(Path(__file__).resolve().parent))
from setting_meanings import ENVIRONMENT, MEANINGS

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
_NOTE = "<!-- Made by `make docs` from the code. Change the code, not this page. -->"
_COMMON = frozenset({"--help", "--data-root", "--json"})


def main() -> None:
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)
        print(f"docs/reference/{name}")


def pages() -> dict[str, str]:
    return {
        "cli.md": _page("Commands", _cli()),
        "settings.md": _page("Settings", _settings()),
        "events.md": _page("Events", _events()),
        "errors.md": _page("Errors", _errors()),
        "http.md": _page("HTTP", _http()),
        "tools.md": _page("Tools", _tools()),
    }


# Commands


def _cli() -> Iterator[str]:
    yield (
        "Every command takes `--data-root FOLDER` (otherwise `AGENT_DATA_ROOT`, otherwise"
        " `./agent-data`), `--json` and `--help`. With `--json` a command prints one JSON document"
        " on standard output and nothing else there; what comes as a stream (`ledger export`,"
        " `ledger tail --follow`) is one document a line."
    )
    yield "Exit codes: 0 done, 1 refused or failed, 2 bad usage, 3 needs approval."
    for command, (module, about) in cli.COMMANDS.items():
        parser = cli.Parser(prog=f"astra {command}", description=about)
        if importlib.util.find_spec(f"astra.interfaces.cli.{module}"):
            cli.configure(parser, command, module)
        yield from _command(f"astra {command}", about, parser, level=2)


def _command(
    name: str, about: str, parser: argparse.ArgumentParser, *, level: int
) -> Iterator[str]:
    yield f"{'#' * level} `{name}`"
    yield _sentence(about)
    own = [action for action in _actions(parser) if not _COMMON & {*action.option_strings}]
    groups = [action for action in own if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001 - argparse has no public way to list its parts
    rows = [_argument(action) for action in own if action not in groups]
    if rows:
        yield _table(("argument", "meaning"), rows)
    for group in groups:
        helps = {choice.dest: choice.help or "" for choice in group._choices_actions}  # noqa: SLF001 - as above
        for action, child in group.choices.items():
            yield from _command(f"{name} {action}", helps[action], child, level=level + 1)


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001 - as above


def _argument(action: argparse.Action) -> tuple[str, str]:
    choices = "|".join(map(str, action.choices or ()))
    named = action.metavar
    value = " ".join(named) if isinstance(named, tuple) else str(named or choices)
    value = value or action.dest.upper()
    shown = " ".join(action.option_strings)
    if not shown:
        shown = f"[{value}]" if action.nargs == "?" else value
    elif action.nargs != 0:
        shown += f" {value}"
    meaning = (action.help or "").replace("%%", "%")
    default = _argument_default(action)
    if default and default not in meaning:
        meaning = f"{meaning} (default {default})".strip()
    return f"`{shown}`", meaning


def _argument_default(action: argparse.Action) -> str:
    """Write a default as it would be typed; an empty one is none."""
    if action.default in (None, "", False, argparse.SUPPRESS):
        return ""
    if isinstance(action.default, list | tuple):
        return ",".join(map(str, action.default))
    return f"{action.default:g}" if isinstance(action.default, float) else str(action.default)


# Settings


def _settings() -> Iterator[str]:
    yield (
        "From the environment and from `.env` in the data root (one `NAME=value` a line). The"
        " environment wins over `.env`, except for flags, where off wins. `${NAME}` expands to"
        " another setting or variable. A name that starts with `ASTRA_` and is not listed here is"
        " an error."
    )
    yield "## Flags"
    yield (
        "Switches accept on, off, true, false, yes, no, 1, 0. The environment can only turn a flag"
        " off; turning one on takes the operator's signature: `astra flags set NAME on`."
    )
    yield _table(
        ("name", "default", "what it switches"),
        [
            (f"`{name}`", "on" if default else "off", meaning)
            for name, (default, meaning) in environment.FLAGS.items()
        ],
    )
    yield "## Environment"
    yield _table(
        ("name", "accepted", "default", "meaning"),
        [
            (
                f"`{setting.name}`",
                setting.kind,
                f"`{setting.default}`" if setting.default else "empty",
                ENVIRONMENT[setting.name],
            )
            for setting in environment.SETTINGS
            if setting.name not in environment.FLAGS
        ],
    )
    yield "## astra.toml"
    yield (
        "In the data root. It counts once it is signed with `astra config sign`; what counts is"
        " the signed text in the ledger, not the file. Unknown keys and wrong types are errors."
    )
    yield from _configuration_tables("", configuration.Configuration())
    yield "## Caps"
    yield (
        "What an actor may do or keep without anybody's approval has a cap; what is beyond is"
        " refused with the code. An actor is an OS user, a token, a session,"
        " a plan or a schedule. Where a key of `[budgets]` is named, the operator sets the number."
    )
    yield _table(
        ("what", "at most", "counted for", "refused with", "set by"),
        [
            (
                what,
                f"{cap.most:,}",
                cap.counted_for,
                f"`{cap.code}`",
                f"`{cap.setting}`" if cap.setting else "",
            )
            for what, cap in all_caps.CAPS.items()
        ],
    )
    yield (
        f"One actor may make {caps.CALL_BURST:,} calls at once and {caps.CALLS_PER_SECOND:,} a"
        " second in the long run (`too_many_calls`), besides the budgets of a day"
        " (`budgets.tool_per_day`, `budgets.actor_per_day`). Of its refusals"
        f" {caps.REFUSALS_A_MINUTE} a minute have a record of their own, and the others are counted"
        f" in one (`tool_refusals_counted`). Of a call's arguments a record keeps"
        f" {caps.STORED_ARGUMENTS:,} bytes and the digest of all of them."
    )


def _configuration_tables(where: str, table: Any) -> Iterator[str]:
    fields = [
        (f"{where}{field.name}", getattr(table, field.name), field.type)
        for field in dataclasses.fields(table)
    ]
    plain = [entry for entry in fields if not dataclasses.is_dataclass(entry[1])]
    if plain:
        yield f"### `[{where.rstrip('.')}]`" if where else "### Lists of tables"
        yield _table(
            ("key", "accepted", "default", "meaning"),
            [
                (
                    f"`{key.removeprefix(where)}`",
                    _kind(hint),
                    _default(value),
                    MEANINGS.get(key, ""),
                )
                for key, value, hint in plain
            ],
        )
    for key, value, _ in fields:
        if dataclasses.is_dataclass(value):
            yield from _configuration_tables(f"{key}.", value)


def _kind(hint: Any) -> str:
    if isinstance(hint, types.UnionType):
        return " or ".join(_kind(option) for option in hint.__args__)
    if isinstance(hint, types.GenericAlias):
        return _kind_of_collection(hint)
    if get_origin(hint) is Literal:
        return " or ".join(f"`{option}`" if option else "nothing" for option in get_args(hint))
    names = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
    return "nothing" if hint is type(None) else names[hint]


def _kind_of_collection(hint: Any) -> str:
    if hint == Variables:
        return "a table of names and texts"
    if get_origin(hint) is dict:
        return "tables by name"
    names = {str: "a list of texts", int: "a list of whole numbers"}
    return names.get(get_args(hint)[0], "a list of tables")


def _default(value: Any) -> str:
    if value in ("", (), {}):
        return "empty"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{', '.join(value) if isinstance(value, tuple) else value}`"


# Events, errors, routes


def _events() -> Iterator[str]:
    yield (
        "Every record in the ledger has one of these types. How a record is written is in"
        " [the ledger's format](../explanation/ledger-format.md)."
    )
    yield _table(("type", "what happened"), [(f"`{name}`", text) for name, text in EVENTS.items()])


def _errors() -> Iterator[str]:
    yield (
        "Each error says what happened (`detail`), a stable reason (`code`) and what to do"
        " (`next_step`). On the command line it goes to standard error, with `--json` to standard"
        " output; over HTTP it is `application/problem+json`."
    )
    for module in pkgutil.walk_packages(astra.__path__, "astra."):
        importlib.import_module(module.name)
    tree = [(0, AstraError), *_children(AstraError, 1)]
    of_caps = {(cap.code, "Refused") for cap in all_caps.CAPS.values()}
    finer = sorted(_finer_codes({kind.__name__ for _, kind in tree}) | of_caps)
    yield _table(
        ("error", "code", "exit", "HTTP"),
        [
            (
                f"{'&emsp;' * depth}{kind.__name__}",
                f"`{kind.code}`",
                str(kind.exit_code),
                str(kind.http_status),
            )
            for depth, kind in tree
        ],
    )
    yield "## Finer codes"
    yield "Some places give an error a code of their own; exit and HTTP status stay the error's."
    yield _table(("code", "error"), [(f"`{code}`", kind) for code, kind in finer])
    yield "## Closed lists"
    yield "Where a reason comes from a closed list, these are all there are."
    yield _table(
        ("list", "codes"),
        [
            (f"`{kind.__name__}`", ", ".join(f"`{code}`" for code in kind))
            for kind in sorted(StrEnum.__subclasses__(), key=lambda kind: kind.__name__)
            if kind.__module__.startswith("astra.")
            and (kind.__name__ == "Reason" or kind.__name__.endswith("Problem"))
        ],
    )


def _children(parent: type[AstraError], depth: int) -> Iterator[tuple[int, type[AstraError]]]:
    for child in sorted(parent.__subclasses__(), key=lambda kind: kind.__name__):
        if child is not ReportedError and child.__module__.startswith("astra."):
            yield depth, child
            yield from _children(child, depth + 1)


def _finer_codes(kinds: set[str]) -> set[tuple[str, str]]:
    """Find `SomeError(…, code="…")` in the source."""
    return {
        (keyword.value.value, call.func.id)
        for path in (ROOT / "src").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in kinds
        for keyword in call.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
    }


def _tools() -> Iterator[str]:
    from astra.tools.catalogue import make_registry

    yield (
        "Every door calls these. They are advertised with underscores and understood with dots too."
        " Tier 0 reads; tier 1 writes locally, within a budget a day; tier 2 reaches outside and"
        " needs a one-time approval. A tool is absent from every list while one of its flags is"
        " off, and operator tools exist only where an operator speaks. A refusal answers `code`,"
        " `detail` and `next_step`, and `approval_id` where a signature would let the same call"
        " through."
    )
    rows = [
        (
            f"`{tool.name}`",
            str(int(tool.tier)),
            ", ".join(f"`{flag}`" for flag in tool.flags)
            + (" operators only" if tool.operator_only else ""),
            tool.description,
            ", ".join(f"`{name}`" for name in tool.input.model_fields),
            ", ".join(f"`{name}`" for name in tool.output.model_fields),
        )
        for tool in make_registry().list_all()
    ]
    yield _table(("tool", "tier", "there while", "what", "takes", "answers"), rows)


def _http() -> Iterator[str]:
    from astra.interfaces.daemon import app
    from astra.interfaces.daemon.activity import Activity
    from astra.trusted.door.rules import RULES

    runtime: Any = types.SimpleNamespace(ledger=None)
    nothing: Any = None
    document = app.build(runtime, Activity(), lambda: None, nothing).openapi()
    yield (
        "The daemon serves HTTP on the unix socket `var/run/astra.sock`, which only its OS user can"
        " open, and with `astra up` on the loopback port as well (`ASTRA_PORT`, on 127.0.0.1 and"
        " ::1). It describes itself at `/openapi.json`. Lists are"
        ' `{"items": […], "next": cursor or null}`; errors are [problem+json](errors.md).'
    )
    yield (
        "At the port a request says who sends it: `Authorization: Bearer SECRET`, with the secret"
        " of a session (`POST /api/session` exchanges the one-time code behind the `#` of a login"
        " link for one; its role is operator) or of a token (`astra tokens create`). Behind"
        " `ASTRA_PUBLIC_URL` a session is a cookie instead, and whatever is not a GET sends"
        " `X-CSRF-Token` as `GET /api/session` gives it. Requests by another Host, from another"
        " Origin, or for a route without a role are refused. No role loosens anything: that takes"
        " `authority` in the body."
    )
    rows: list[tuple[str, ...]] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            given = [_parameter(parameter) for parameter in operation.get("parameters", ())]
            rows.append(
                (
                    f"`{method.upper()} {path}`",
                    operation["summary"].lower(),
                    ", ".join(given + _body(document, operation)),
                    _roles(RULES[f"{method.upper()} {path}"]),
                )
            )
    yield _table(("route", "what", "takes", "at the port"), rows)
    yield (
        "`GET`, `POST` and `DELETE /mcp` speak MCP, at the port with an agent's token only."
        " `GET /api/events` is a stream of server-sent events, one a record; it resumes behind the"
        " sequence in `Last-Event-ID`, and ends with the session that opened it. Turning a flag on,"
        " signing a configuration, rotating the key, approving, starting again and making a token"
        " need `authority`: the operator's [signed statement]"
        "(../explanation/ledger-format.md#signed-statements)."
    )


def _roles(rule: Any) -> str:
    if rule.public:
        return "anybody"
    return ", ".join(sorted(rule.roles)) or "not served"


def _parameter(parameter: dict[str, Any]) -> str:
    return f"`{parameter['name']}` ({parameter['in']})"


def _body(document: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return []
    reference = content["schema"].get("$ref")
    if reference is None:
        return ["a JSON object (body)"]
    schema = document["components"]["schemas"][reference.rpartition("/")[2]]
    return [f"`{name}` (body)" for name in schema["properties"]]


# Markdown


def _page(title: str, blocks: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}", _NOTE, *blocks]) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


if __name__ == "__main__":
    main()
