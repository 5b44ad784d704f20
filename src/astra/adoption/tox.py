r"""The command that tox would run, where it is a single one of Python's and needs no shell.

>>> text = "[testenv]\nchangedir = tests\ncommands = {envpython} runtests.py {posargs}"
>>> read_tox_command(RepositoryFiles(paths=frozenset({"tox.ini"}), texts={"tox.ini": text}))
'env --chdir=tests python runtests.py'
"""

import configparser
import re

from astra.adoption.repository_files import RepositoryFiles

_POSARGS = re.compile(r"\{posargs(?::[^{}]*)?\}")
_COMMAND = re.compile(r"(?:\{envpython\}|python3?) ((?:-m unittest|[\w./-]+\.py)(?: [\w./=:-]+)*)")
_FOLDER = re.compile(r"(?:\{toxinidir\}/)?(\w[\w-]*(?:/\w[\w-]*)*)")


def read_tox_command(files: RepositoryFiles) -> str:
    """Read the command of `[testenv]`; nothing where it is not plain enough to be taken over."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(files.read_text("tox.ini"))
    except configparser.Error:
        return ""
    command = _POSARGS.sub("", parser.get("testenv", "commands", fallback="")).strip()
    match = _COMMAND.fullmatch(command)
    folder = parser.get("testenv", "changedir", fallback="").strip()
    place = _FOLDER.fullmatch(folder)
    if match is None or (folder and place is None):
        return ""
    return f"env --chdir={place[1]} python {match[1]}" if place else f"python {match[1]}"
