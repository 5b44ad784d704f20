"""How a text that cannot be read in its own language is reported."""

from astra.changes.findings.documents import Problem
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_SHOWN = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TypeScript",
    "json": "JSON",
    "toml": "TOML",
    "yaml": "YAML",
    "shell": "a shell script",
}


def syntax_finding(source: Source, problem: Problem, *, known: bool = False) -> Finding:
    """Say that a file does not parse; it weighs less when it did not before either."""
    language = _SHOWN.get(source.language, source.language)
    before = "; neither did it before" if known else ""
    message = f"cannot be read as {language}: {problem.message}{before}"
    severity = Severity.WARNING if known else Severity.DANGER
    return source.make_finding("syntax", severity, problem.line, message)
