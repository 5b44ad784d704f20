"""What an attempt is, and the endings that many of them share.

An attempt's lines see `arena` (what the host prepared), `read`, `write`, `call` (a system call by
name) and `got`, which they call with their evidence when they reached something. `expected` lists
the endings that mean the box held, as `referee` spells them.
"""

from dataclasses import dataclass

ABSENT = ("ENOENT",)
NOT_ALLOWED = ("EPERM",)
READ_ONLY = ("EROFS",)


@dataclass(frozen=True, kw_only=True)
class Attack:
    name: str
    category: str
    script: str
    expected: tuple[str, ...]


def make_attacks(
    category: str, expected: tuple[str, ...], scripts: dict[str, str]
) -> tuple[Attack, ...]:
    return tuple(
        Attack(name=name, category=category, script=script, expected=expected)
        for name, script in scripts.items()
    )
