"""Every rule over every changed file; and how many of their findings are shown.

A rule that fails on a file is itself a finding: what could not be looked at is said, not skipped.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from astra.changes.findings import (
    around_tests,
    lost_files,
    pretending,
    python_effects,
    python_helpers,
    python_stand_ins,
    python_test_setup,
    python_test_shape,
    python_tests,
    runner_settings,
    script_effects,
    script_tests,
    shadowing,
    supply,
    text_traps,
    thresholds,
)
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

MOST_FINDINGS = 300
MOST_OF_A_RULE_IN_A_FILE = 20
MORE = "more-findings"
_RANK = {Severity.DANGER: 0, Severity.WARNING: 1, Severity.INFO: 2}
_FOR_EACH = (
    text_traps.examine,
    supply.examine,
    python_effects.examine,
    script_effects.examine,
    pretending.examine,
    python_test_setup.examine,
    python_test_shape.examine,
    python_stand_ins.examine,
    script_tests.examine,
    thresholds.examine,
    runner_settings.examine,
    shadowing.examine,
    around_tests.examine,
)
_FOR_ALL = (python_tests.examine, python_helpers.examine, lost_files.examine)


def examine(sources: Sequence[Source]) -> list[Finding]:
    findings: list[Finding] = []
    for source in sources:
        for rule in _FOR_EACH:
            findings += _run_rule(source.path, lambda rule=rule, source=source: rule(source))
    for rule in _FOR_ALL:
        findings += _run_rule("", lambda rule=rule: rule(sources))
    return findings


def cap_findings(findings: Iterable[Finding], most: int = MOST_FINDINGS) -> tuple[Finding, ...]:
    """Order findings by weight and cut the list, saying how many are not in it.

    Within a severity the first finding of every rule comes before the second of any, so that many
    of one kind do not push out the only one of another.
    """
    ordered = sorted(findings, key=lambda f: (_RANK[f.severity], f.path, f.line, f.rule))
    turns: Counter[tuple[str, str]] = Counter()
    ranked: list[tuple[int, int, int, Finding]] = []
    for number, finding in enumerate(ordered):
        turn = turns[finding.rule, finding.path]
        turns[finding.rule, finding.path] += 1
        ranked.append((_RANK[finding.severity], turn, number, finding))
    ranked.sort(key=lambda item: item[:3])
    selected = [item for item in ranked if item[1] < MOST_OF_A_RULE_IN_A_FILE][:most]
    reported = [finding for _, _, _, finding in sorted(selected, key=lambda item: item[2])]
    omitted = len(ranked) - len(selected)
    return (
        (*reported, _summarize_omitted(omitted, ranked, selected)) if omitted else tuple(reported)
    )


def _summarize_omitted(
    rest: int,
    ranked: list[tuple[int, int, int, Finding]],
    shown: list[tuple[int, int, int, Finding]],
) -> Finding:
    omitted_counts = Counter(f.severity for *_, f in ranked) - Counter(
        f.severity for *_, f in shown
    )
    counts = ", ".join(f"{count} {severity}" for severity, count in sorted(omitted_counts.items()))
    worst = min(omitted_counts, key=lambda severity: _RANK[severity])
    message = f"and {rest} more findings that are not shown ({counts})"
    return Finding(rule=MORE, severity=worst, path="", message=message)


def _run_rule(path: str, rule: Callable[[], Iterator[Finding]]) -> list[Finding]:
    findings: list[Finding] = []
    try:
        for finding in rule():
            findings.append(finding)  # noqa: PERF402 - what came before a failure counts
    except Exception as error:  # noqa: BLE001 - hostile text must not silence the other rules
        findings.append(
            Finding(
                rule="not-examined",
                severity=Severity.DANGER,
                path=path,
                message=f"a rule failed on this text ({type(error).__name__}); read it yourself",
            )
        )
    return findings
