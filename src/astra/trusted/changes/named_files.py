"""Which files of the target a test command runs or is told what to do by: they are tests, too."""

import re

_WORD = re.compile(r"[\w./+-]+")
_FILE = re.compile(r"(?:[\w.+-]+/)*[\w+-]+\.(?:[A-Za-z]\w{0,7})|(?:scripts?|bin|tools|ci)/[\w+-]+")
_NODE = ("package.json",)
_DIRECTED_BY = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    **dict.fromkeys(("npm", "npx", "yarn", "pnpm", "bun"), _NODE),
    "just": ("justfile", "Justfile"),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "task": ("Taskfile.yml",),
    "rake": ("Rakefile",),
    "invoke": ("tasks.py",),
}


def list_named_files(text: str) -> tuple[str, ...]:
    """Name the files of the target that a test command runs or is told what to do by.

    Whoever may change them decides what the tests are, as surely as with the tests themselves.

    >>> list_named_files("env CI=1 make check")
    ('GNUmakefile', 'makefile', 'Makefile')
    >>> list_named_files("sh -c './scripts/test.sh --cov=src'")
    ('scripts/test.sh',)
    """
    command_words = [word.removeprefix("./") for word in _WORD.findall(text)]
    file_names = [
        word for word in command_words if not word.startswith(("/", "-")) and _is_file(word)
    ]
    file_names += [
        name for word in command_words for name in _DIRECTED_BY.get(word.rpartition("/")[2], ())
    ]
    return tuple(dict.fromkeys(file_names))


def _is_file(word: str) -> bool:
    """Tell whether a word is a file by its looks: folders are named for other reasons."""
    return _FILE.fullmatch(word) is not None
