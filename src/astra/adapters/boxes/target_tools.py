"""The target's own interpreters: what the operator signed, usable in every box that works on it.

They are the programs that `[target] test_command` names by their whole path, and those listed in
`[target] toolchain`. A box gets the smallest installation around each, read-only.
"""

from pathlib import Path

from astra.adoption import target_command
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.sandbox import toolchain
from astra.trusted.settings.configuration import Target


def find_programs(target: Target) -> tuple[Path, ...]:
    return tuple(dict.fromkeys((*_of_tests(target.test_command), *read_toolchain(target))))


def read_toolchain(target: Target) -> tuple[Path, ...]:
    """Give the programs of `target.toolchain`; one that is not there is the operator's to mend."""
    program_paths = tuple(Path(text) for text in target.toolchain)
    for path in program_paths:
        if not path.is_absolute() or not path.is_file():
            raise BadSetting(
                f"target.toolchain names {str(path)!r}, which is no program of this machine",
                next_step="give the whole path of an interpreter, then `astra config sign`",
                key="target.toolchain",
            )
    return program_paths


def list_missing(test_command: str) -> list[str]:
    """Say which programs that the test command names by their whole path are not here."""
    command_parts = target_command.parse(test_command).parts if test_command else ()
    return [
        f"the test command names {word}, which is not on this machine"
        for word in command_parts[:1]
        if word.startswith("/") and not Path(word).is_file()
    ]


def describe_programs(found: tuple[Path, ...]) -> str:
    return f"can start: {', '.join(map(str, found))}\n" if found else ""


def _of_tests(command: str) -> tuple[Path, ...]:
    try:
        return toolchain.find_named_programs(target_command.parse(command).parts)
    except BadSetting:
        return ()  # the test run says what is wrong with it
