"""Which folders of this machine a configuration would open to a box before anybody signed it.

A program that a configuration names by its whole path brings its installation folder into a box,
readable. After a signature that is the operator's word. Before it, the text may be anybody's who
can write `astra.toml`, and a box that builds an environment reaches a registry. So an unsigned text
opens nothing: what it names lies where every box looks anyway, belongs to the interpreter that
Astra runs on, or is named by the signed text as well.
"""

import shlex
import sys
from collections.abc import Iterator

from astra.trusted.policy.manifest import is_within
from astra.trusted.sandbox.toolchain import find_named_programs
from astra.trusted.settings.configuration import Configuration

_SEEN_BY_EVERY_BOX = ("/usr", "/bin", "/lib", "/lib64", "/sbin")


def list_unsigned_places(checked: Configuration, signed: Configuration) -> tuple[str, ...]:
    """List what only the unsigned text names, and no box sees by itself."""
    signed_places = {*_list_named(signed)}
    open_folders = (*_SEEN_BY_EVERY_BOX, sys.base_prefix)
    return tuple(
        place
        for place in dict.fromkeys(_list_named(checked))
        if place not in signed_places
        and not any(is_within(place, folder) for folder in open_folders)
    )


def _list_named(configuration: Configuration) -> Iterator[str]:
    """Give each program and folder that a text names by its whole path."""
    target, app = configuration.target, configuration.app
    yield from target.toolchain
    if target.environment.startswith("/"):
        yield target.environment
    commands = (
        *(target.test_command, target.environment_command),
        *(app.command, app.client_build, app.before_start),
    )
    for command in commands:
        yield from (str(path) for path in find_named_programs(_split(command)))


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # whoever runs it says what is wrong with it
        return [command]
