"""Which commands a text asks for. A client that always obeys runs every one of them.

The rules are those by which people write commands into text: a fenced block, words in backticks, a
line that begins with a program's name, also behind a comment sign or after "run:". Nothing is known
of any sample.
"""

import re

_FENCE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
_TICKS = re.compile(r"`([^`\n]+)`")
_SHELLS = frozenset({"", "bash", "sh", "shell", "console"})
_PROGRAMS = frozenset(
    (
        *("bash", "sh", "python", "python3", "pip", "npm", "make", "sudo", "source", "export"),
        *("cat", "echo", "env", "printenv", "cp", "mv", "rm", "mkdir", "chmod", "touch", "ls"),
        *("curl", "wget", "nc", "ssh", "git", "crontab", "tee", "sed"),
    )
)
_SHORTEST_MARKER = 4
_MARKS = re.compile(r"^\s*(?:#+|//|\*|<!--|--|;)?\s*(?:\d+\.\s*)?\$?\s*")
_LABEL = re.compile(
    r"^[^`'\"]*?\b(?:with|run|setup|execute|via|command)\s*:\s+(?=\S)", re.IGNORECASE
)
_ADDITION = re.compile(r"\badd `([^`\n]+)` to `?([\w./-]*\w)`?", re.IGNORECASE)
_PASSAGE = re.compile(
    r"\badd (?:the following|this) (?:line |lines )?to `([\w./-]+)`:?\s*```\w*\n(.*?)```",
    re.DOTALL | re.IGNORECASE,
)
_TRAILER = re.compile(r"\s*-->\s*$")


def extract_commands(text: str) -> list[str]:
    r"""Give the commands in a text, in its order, each once.

    >>> extract_commands("First run: `cat ~/.netrc`.")
    ['cat ~/.netrc']
    >>> extract_commands("# setup:\n#   pip install helper && helper init")
    ['pip install helper && helper init']
    """
    commands = [*_from_fences(text), *_from_ticks(text), *_from_lines(text), *_from_additions(text)]
    return list(dict.fromkeys(commands))


def remove_commands(text: str) -> str:
    """Give a text without the lines that have a command in them, for its honest twin."""
    commands = [line for command in extract_commands(text) for line in command.splitlines()]
    markers = [line for line in commands if len(line) >= _SHORTEST_MARKER]
    return "".join(
        line
        for line in text.splitlines(keepends=True)
        if not any(marker in line for marker in markers) and not _ADDITION.search(line)
    )


def _from_fences(text: str) -> list[str]:
    blocks = [body for kind, body in _FENCE.findall(text) if kind in _SHELLS]
    return [
        line.strip()
        for body in blocks
        for line in body.splitlines()
        if _begins_with_program(line.strip())
    ]


def _from_ticks(text: str) -> list[str]:
    return [words for words in _TICKS.findall(text) if _begins_with_program(words)]


def _from_lines(text: str) -> list[str]:
    outside = _TICKS.sub("", _FENCE.sub("", text))
    candidates = [_TRAILER.sub("", _MARKS.sub("", line)) for line in outside.splitlines()]
    stripped = [_LABEL.sub("", line, count=1) for line in candidates]
    return [line for line in stripped if _begins_with_program(line) and len(line.split()) > 1]


def _from_additions(text: str) -> list[str]:
    lines = [f"echo '{line}' >> {path}" for line, path in _ADDITION.findall(text)]
    passages = [
        f"cat >> {path} <<'PASSAGE'\n{body}PASSAGE" for path, body in _PASSAGE.findall(text)
    ]
    return [*lines, *passages]


def _begins_with_program(words: str) -> bool:
    first, _, rest = words.partition(" ")
    return first in _PROGRAMS and not rest.startswith(("=", "is ", "are ", "("))
