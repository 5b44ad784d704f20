r"""Code that can tell whether it is being tested, and so can behave well only then.

>>> cheat = Source(path="src/a.py", old="", new="if 'PYTEST_CURRENT_TEST' in env:\n    pass\n")
>>> [finding.line for finding in examine(cheat)]
[1]
"""

import re
from collections.abc import Iterator

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_NOTICES = re.compile(
    r"PYTEST_\w+|_called_from_test|_pytest\b"
    r"|\b(?:pytest|unittest|nose|hypothesis)[\"'] (?:not )?in\b"
    r"|\bin sys\.argv\b.*test|JEST_WORKER_ID|VITEST\w*|NODE_ENV\W{1,6}test\b|import\.meta\.vitest"
    r"|^\s*(?:import|from)\s+(?:pytest|_pytest|unittest|nose|hypothesis)\b|(?i:junit)|/proc/self\b"
    r"|/workspace\b|GITHUB_ACTIONS|\bCONTINUOUS_INTEGRATION\b|[\"']CI[\"']|process\.env\.CI\b"
)
_CODE = frozenset({"python", "javascript", "typescript", "tsx", "shell"})


def examine(source: Source) -> Iterator[Finding]:
    if source.is_test or source.language not in _CODE:
        return
    for number in sorted(source.added):
        if match := _NOTICES.search(source.new_lines[number - 1][:2000]):
            message = f"{match[0].strip()} lets code notice that it is being tested"
            yield source.finding("notices-tests", Severity.DANGER, number, message)
