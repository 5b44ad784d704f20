r"""One changed file as the rules see it: decoded text, its language, and which lines are new.

Lines end where Python, git and a terminal agree that they do: at `\n`, `\r\n` and a lone `\r`.

>>> old, new = "a = 1\nb = 2\n", "a = 1\nb = 3\nc = 4\n"
>>> sorted(Source(path="a.py", old=old, new=new).added_numbers)
[2, 3]
"""

import ast
import difflib
from dataclasses import dataclass
from functools import cached_property

from astra.trusted.changes import places
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line

LONGEST_EXCERPT = 160
_MOST_COMPARED = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Source:
    """A side that does not exist, or that is no text, is None."""

    path: str
    old: str | None = None
    new: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    is_test: bool = False
    problem: str = ""

    @cached_property
    def language(self) -> str:
        return places.language_of(self.path, self.new if self.new is not None else self.old or "")

    @cached_property
    def old_lines(self) -> list[str]:
        return lines_of(self.old)

    @cached_property
    def new_lines(self) -> list[str]:
        return lines_of(self.new)

    @cached_property
    def added_numbers(self) -> frozenset[int]:
        return added_lines(self.old_lines, self.new_lines)

    @cached_property
    def removed_numbers(self) -> frozenset[int]:
        return added_lines(self.new_lines, self.old_lines)

    @cached_property
    def old_tree(self) -> ast.Module | None:
        return parse_module(self.old)

    @cached_property
    def new_tree(self) -> ast.Module | None:
        return parse_module(self.new)

    @cached_property
    def old_nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.old_tree)) if self.old_tree else []

    @cached_property
    def new_nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.new_tree)) if self.new_tree else []

    def is_added(self, node: ast.AST) -> bool:
        first = getattr(node, "lineno", 0)
        last = getattr(node, "end_lineno", None) or first
        return not self.added_numbers.isdisjoint(range(first, last + 1))

    def make_finding(self, rule: str, severity: Severity, line: int, message: str) -> Finding:
        """Make a finding about a line of the new text; 0 means the whole file."""
        excerpt = self.new_lines[line - 1] if 0 < line <= len(self.new_lines) else ""
        return self.make_file_finding(rule, severity, line, message, excerpt)

    def make_lost_finding(self, rule: str, severity: Severity, line: int, message: str) -> Finding:
        """Make a finding about a line that only the old text has; it has no line any more."""
        excerpt = self.old_lines[line - 1] if 0 < line <= len(self.old_lines) else ""
        return self.make_file_finding(rule, severity, 0, f"{message} (line {line} before)", excerpt)

    def make_file_finding(
        self, rule: str, severity: Severity, line: int, message: str, shown: str = ""
    ) -> Finding:
        return Finding(
            rule=rule,
            severity=severity,
            path=self.path,
            line=line,
            message=one_line(mask(message), 300),
            excerpt=one_line(mask(shown[:2000]).strip(), LONGEST_EXCERPT),
        )


def lines_of(text: str | None) -> list[str]:
    if not text:
        return []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def added_lines(old: list[str], new: list[str]) -> frozenset[int]:
    """Find the lines of `new`, by number, that no line of `old` accounts for in its order.

    Where comparing would take long, every line between the common start and the common end counts
    as new: too many lines are looked at rather than too few.
    """
    start = _count_common_start(old, new)
    end = _count_common_start(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if not before or len(before) * len(after) > _MOST_COMPARED:
        return frozenset(range(start + 1, start + len(after) + 1))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    unchanged = {
        block.b + offset for block in matcher.get_matching_blocks() for offset in range(block.size)
    }
    return frozenset(start + n + 1 for n in range(len(after)) if n not in unchanged)


def parse_module(text: str | None) -> ast.Module | None:
    if text is None:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _count_common_start(old: list[str], new: list[str]) -> int:
    count = 0
    for one, new_line in zip(old, new, strict=False):
        if one != new_line:
            break
        count += 1
    return count
