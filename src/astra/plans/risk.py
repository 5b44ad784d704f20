"""Which actions destroy something, decided by the server from the tool and its arguments.

What the model says can only add to it. Commands are judged by the words in them, in every spelling
of a shell one-liner; a program that deletes without saying so is not found here, and does not have
to be: it can touch nothing but the plan's own write paths, and only what the kernel lets it.
"""

import re
from collections.abc import Iterable
from typing import Any

from astra.trusted.policy.call import Call

_PROGRAMS = (
    *("rm", "rmdir", "unlink", "shred", "dd", "mkfs", "truncate", "wipe", "srm", "fdisk"),
    *("dropdb", "dropuser", "userdel", "killall", "pkill", "shutdown", "reboot"),
)
_PHRASES = (
    r"git\s+(?:\S+\s+)*?(?:push|clean|reset\s+--hard|branch\s+-D|filter-branch|gc\s+--prune)\b",
    r"find\b.*\s-delete\b",
    r"\bdrop\s+(?:table|database|schema)\b",
    r"\bdelete\s+from\b",
    r"\btruncate\s+table\b",
    r"shutil\.rmtree|os\.(?:remove|unlink|rmdir)|\.unlink\(|fs\.(?:rm|unlink|rmdir)\w*\(",
)
_WORD = re.compile(rf"(?<![\w.-])(?:\S*/)?(?:{'|'.join(_PROGRAMS)})(?:\.\w+)?(?![\w-])")
_PHRASE = re.compile("|".join(_PHRASES), re.IGNORECASE | re.DOTALL)


def is_destructive(call: Call, *, said: bool, declared: Iterable[str]) -> bool:
    """Tell whether a call needs a fresh confirmation; nobody's word makes it harmless."""
    return (
        said
        or call.footprint.destructive
        or call.tool in set(declared)
        or _is_destructive_command(call.arguments.get("command"))
    )


def _is_destructive_command(command: Any) -> bool:
    r"""Look for words that destroy, in a command given as a list of words.

    >>> _is_destructive_command(["sh", "-c", "ls; /bin/rm -rf x"])
    True
    >>> _is_destructive_command(["python", "-m", "pytest"])
    False
    """
    if not isinstance(command, list | tuple):
        return False
    text = " ".join(str(word) for word in command)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    plain = re.sub(r"[\"'\\]", "", text)
    return any(
        pattern.search(spelling) for pattern in (_WORD, _PHRASE) for spelling in (text, plain)
    )
