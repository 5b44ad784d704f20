"""P7, the grant half: one path against 1,000 grants, and what a plain scan of them costs.

Both sides answer the same questions and must agree. The same lookup with
more grants follows: a hash and an ancestor walk should not notice.
"""

import time
from collections.abc import Callable

import measuring
from astra.trusted.policy.globs import parse_glob
from astra.trusted.policy.grants import GrantKind, GrantPlaces, PathGrants, compile_grants
from astra.trusted.policy.paths import RelativePath, parse_relative
from astra.trusted.policy.protected import protected_places

TARGET = 20.0
ROUNDS = 7


def main() -> None:
    texts = grant_texts(1_000)
    grants = compiled(texts)
    asked = questions()
    scan = naive_scan(texts)
    agree = [grants.allows(path) for path in asked] == [scan(path.text) for path in asked]
    value = best_microseconds(lambda: [grants.allows(path) for path in asked], len(asked))
    reference = best_microseconds(lambda: [scan(path.text) for path in asked], len(asked))
    assert agree, "both sides answer the same questions"
    measuring.report(
        "P7 grant match, 1,000 grants (µs)", value, reference, measuring.times_faster(TARGET)
    )
    for count in measuring.sizes(quick=measuring.is_quick()):
        measuring.report(f"P7 grant match, {count:,} grants (µs)", grown(count))


def grant_texts(count: int) -> list[str]:
    """One grant in ten is a glob; a tenth of those share one folder."""
    texts: list[str] = []
    for number in range(count):
        if number % 100 == 0:
            texts.append(f"shared/*.x{number}")
        elif number % 10 == 0:
            texts.append(f"area{number}/docs/*.md")
        else:
            texts.append(f"area{number}/part{number % 7}")
    return texts


def questions() -> list[RelativePath]:
    asked = [f"area{number}/part{number % 7}/deep/er/file.py" for number in range(0, 1_000, 17)]
    asked += [f"area{number}/docs/guide.md" for number in range(10, 1_000, 70)]
    asked += [f"area{number}/docs/sub/guide.md" for number in range(10, 1_000, 70)]
    asked += [f"elsewhere{number}/a/b/c/d.py" for number in range(50)]
    asked += [f"shared/file.x{number}" for number in range(0, 1_000, 50)]
    return [parse_relative(text) for text in asked]


def compiled(texts: list[str]) -> PathGrants:
    places = GrantPlaces(
        home="/home/operator",
        protected=protected_places(data_root="/opt/agent-data", home="/home/operator"),
    )
    return compile_grants(GrantKind.READ_PATHS, texts, places=places)


def naive_scan(texts: list[str]) -> Callable[[str], bool]:
    plain = [text for text in texts if "*" not in text]
    written = [parse_glob(text) for text in texts if "*" in text]

    def allows(asked: str) -> bool:
        return any(asked == text or asked.startswith(f"{text}/") for text in plain) or any(
            glob.matches(asked) for glob in written
        )

    return allows


def grown(count: int) -> float:
    grants, asked = compiled(grant_texts(count)), questions()
    return best_microseconds(lambda: [grants.allows(path) for path in asked], len(asked))


def best_microseconds(work: Callable[[], object], operations: int) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best / operations * 1e6


if __name__ == "__main__":
    main()
