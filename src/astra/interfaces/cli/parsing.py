"""Astra's argument parser: its errors are Astra's, and name what was probably meant."""

import argparse
from typing import Any, NoReturn, cast

from astra.trusted.kernel.errors import BadInput

DATA_ROOT = "--data-root"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are Astra's, and that takes the common options anywhere."""

    def __init__(self, *, top: bool = False, **options: Any) -> None:
        super().__init__(**options)
        unset: dict[str, Any] = {} if top else {"default": argparse.SUPPRESS}
        self.add_argument(DATA_ROOT, metavar="FOLDER", help="the data root", **unset)
        self.add_argument("--json", action="store_true", help="print one JSON document", **unset)

    def add_subparsers(self, **options: Any) -> Any:
        """Have each action keep its help as its description, so that it can be listed."""
        group = super().add_subparsers(**options)
        add_parser = group.add_parser

        def add_described(name: str, **more: Any) -> Any:
            more.setdefault("description", more.get("help"))
            return add_parser(name, **more)

        group.add_parser = add_described
        return group

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride] - it has overloads
        self, args: Any = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuse what is left over here, where the options of the command are known."""
        arguments, unknown = super().parse_known_args(args, namespace)
        if unknown:
            raise _unknown_argument_error(self, unknown[0])
        return arguments, unknown

    def error(self, message: str) -> NoReturn:
        raise BadInput(message, code="bad_usage", next_step=f"{self.prog} --help")

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002 - argparse names the file
        """Show the help through the console, so that it is paged and takes --json."""
        raise HelpAsked(self.prog, self.format_help())

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is none of the choices, and name the nearest of them."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        if is_action_group(action):
            raise wrong_choice_error("action", str(value), choices, prefix=self.prog)
        raise wrong_choice_error(_name_argument(action), str(value), choices, prefix="")


def list_arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Give the options and arguments of a parser; argparse has no public way to list them."""
    return parser._actions  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def is_action_group(argument: argparse.Action) -> bool:
    return isinstance(argument.choices, dict)


def list_actions(parser: argparse.ArgumentParser) -> list[tuple[str, str, argparse.ArgumentParser]]:
    """Give the actions below a command: name, help, parser."""
    groups = [argument for argument in list_arguments(parser) if is_action_group(argument)]
    return [
        (name, child.description or child.prog, child)
        for group in groups
        for name, child in cast("dict[str, argparse.ArgumentParser]", group.choices).items()
    ]


class HelpAsked(Exception):
    """Somebody asked for help; carries the text to whoever shows it."""

    def __init__(self, prog: str, text: str) -> None:
        super().__init__(prog)
        self.prog, self.text = prog, text

    def as_dict(self) -> dict[str, str]:
        return {"command": self.prog, "help": self.text}


def wrong_choice_error(kind: str, value: str, choices: list[str], *, prefix: str) -> BadInput:
    """Name the nearest choices, or else all of them where they are few."""
    import difflib

    close = difflib.get_close_matches(value, choices, n=3)
    alternatives = " or ".join(f"{prefix} {name}".strip() for name in close)
    if close:
        next_step = f"did you mean {alternatives}?"
    elif prefix:
        next_step = f"{prefix} --help"
    else:
        next_step = f"use one of {', '.join(choices)}"
    of_command = f"{prefix} has no" if kind == "action" else "invalid"
    return BadInput(f"{of_command} {kind} {value!r}", code="bad_usage", next_step=next_step)


def _unknown_argument_error(parser: argparse.ArgumentParser, argument: str) -> BadInput:
    import difflib

    name = argument.partition("=")[0]
    options = [name for action in list_arguments(parser) for name in action.option_strings]
    close = difflib.get_close_matches(name, options, n=1) if name.startswith("-") else []
    next_step = f"did you mean {close[0]}?" if close else f"{parser.prog} --help"
    kind = "option" if name.startswith("-") else "argument"
    return BadInput(
        f"{parser.prog} takes no {kind} {name!r}", code="bad_usage", next_step=next_step
    )


def _name_argument(action: argparse.Action) -> str:
    return "/".join(action.option_strings) or str(action.metavar or action.dest)
