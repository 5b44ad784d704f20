"""Test files that vanish, leave collection, or change what is expected."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_SNAPSHOT = re.compile(
    r"(?:.*/)?(?:__snapshots__|snapshots?|golden|goldens|expected|approved|cassettes|baselines?)/.+"
    r"|.+\.(?:snap|ambr|golden|expected|approved\..+|baseline)"
)
_COLLECTED = re.compile(
    r"test_.+\.py|.+_test\.py|tests?\.py|.+\.(?:test|spec)\.[cm]?[jt]sx?|.+_test\.go"
)
_CODE = frozenset({"python", "javascript", "typescript", "tsx"})


def examine(sources: Sequence[Source]) -> Iterator[Finding]:
    moved_texts = Counter(
        (s.language, s.new or "") for s in sources if s.old is None and s.new and _is_collected(s)
    )
    anywhere = {s.new: s.path for s in sources if s.old is None and s.new}
    for source in sources:
        if not source.is_test:
            continue
        if source.new is None and source.old is not None:
            yield from _classify_deletion(source, source.old, moved_texts, anywhere)
        elif source.old is not None and _SNAPSHOT.fullmatch(source.path.lower()):
            message = "what tests expect was changed, not what they test"
            line = min(source.added_numbers, default=0)
            yield source.make_finding("expectation-file-changed", Severity.DANGER, line, message)
        elif source.old is not None and source.language not in _CODE:
            yield source.make_file_finding(
                "test-data-changed", Severity.INFO, 0, "data of tests was changed"
            )


def _classify_deletion(
    source: Source, old: str, moved: "Counter[tuple[str, str]]", anywhere: dict[str, str]
) -> Iterator[Finding]:
    if moved[source.language, old] > 0:
        moved[source.language, old] -= 1
        message = f"moved unchanged to {anywhere[old]}"
        yield source.make_file_finding("test-file-moved", Severity.INFO, 0, message)
    elif old in anywhere:
        message = f"is called {anywhere[old]} now and is no longer collected"
        yield source.make_file_finding("test-not-collected", Severity.DANGER, 0, message)
    else:
        yield source.make_file_finding(
            "test-file-deleted", Severity.DANGER, 0, "a file of the tests is gone"
        )


def _is_collected(source: Source) -> bool:
    if source.language not in _CODE:
        return source.is_test
    return source.is_test and _COLLECTED.fullmatch(source.path.rpartition("/")[2]) is not None
