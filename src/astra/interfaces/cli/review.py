"""One screen with everything a reviewer decides on; what should worry them comes in red.

Text is broken to the width of the terminal and stays in its column; where the output is no
terminal, every line stays whole.
"""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from astra.trusted.changes.verdicts import PROOF_RUN, could_not_collect
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.text import one_line, printable

Paint = Callable[[str, str], str]
_COLOURS = {"danger": "red", "warning": "yellow", "info": "dim"}
_MOST_FILES, _MOST_FINDINGS, _MOST_FAILURES, _MOST_CITED = 40, 40, 10, 6
_ORDER = ("danger", "warning", "info")
_NARROWEST = 40
Line = tuple[str, str, str]
"""What stands at the left, the text beside it, and its colour."""


def render_screen(found: dict[str, Any], paint: Paint, width: int = 0) -> Iterator[str]:
    """Draw a change: why, what, what was found, how the tests went, what is to be decided."""
    yield f"{paint(found['id'], 'bold')}  {found['state']}  round {found['round']}"
    for part in (
        _render_reason,
        _render_files,
        _render_findings,
        _render_evidence,
        _render_comments,
        _render_decision,
    ):
        for line in part(found, paint):
            yield from [line] if isinstance(line, str) else _wrap_line(line, paint, width)


def _wrap_line(line: Line, paint: Paint, width: int) -> Iterator[str]:
    """Break a text to the width; what follows its first line is set in as far as the text."""
    prefix, text, colour = line
    room = max(width - len(prefix), _NARROWEST) if width else 0
    rows = (textwrap.wrap(text, room) if room else [text]) or [""]
    for number, row in enumerate(rows):
        painted_row = paint(row, colour) if colour else row
        yield f"{' ' * len(prefix) if number else prefix}{painted_row}".rstrip()


def _label_line(label: str, text: str, colour: str = "") -> Line:
    return f"  {label:12} ", text, colour


def _render_reason(found: dict[str, Any], _paint: Paint) -> Iterator[Line]:
    yield _label_line("agent says", one_line(found["reason"], 300))
    for name, about in (
        ("goal", one_line(found.get("goal_text") or "", 100)),
        ("desire", ""),
        ("research", ""),
    ):
        if found.get(name):
            yield _label_line(name, f"{printable(found[name])}  {about}".rstrip())
    yield from _render_cited(found)
    yield from _render_plan(found.get("plan"))
    proposed = f"{printable(found['proposed_by'])} at {show_time(found['created_at'])}"
    yield _label_line("proposed by", proposed)
    yield _label_line("commit", found["commit"])
    yield _label_line("branch", f"{found['branch']}, for {found['target_branch']}")
    yield _label_line("base", found["base"])
    if found["supersedes"]:
        yield _label_line("revises", found["supersedes"])


def _render_cited(found: dict[str, Any]) -> Iterator[Line]:
    """Show claim and quote of the research that a change names, one below the other."""
    session: dict[str, Any] | None = found.get("research_session")
    if session is None:
        if found.get("research"):
            yield _label_line("  cited", "this session is not in the ledger", "red")
        return
    yield _label_line("  asked", one_line(session["question"], 200))
    for finding in session["findings"][:_MOST_CITED]:
        yield _label_line("  claim", one_line(finding["claim"], 300))
        for citation in finding["citations"]:
            text = f"{citation['place']}: {citation['quote']}"
            yield _label_line("  quote", one_line(text, 300), "dim")
            if not citation["found"]:
                yield _label_line("  NOT THERE", one_line(citation["problem"], 300), "red")
    left_out = len(session["findings"]) + session["more"] - _MOST_CITED
    if left_out > 0:
        yield _label_line("", f"… and {left_out} more: astra research show {session['id']}")
    yield _label_line("", f"({session['remark']})", "dim")


def _render_plan(plan: dict[str, Any] | None) -> Iterator[Line]:
    """Say which plan a change comes from, and what that plan was granted."""
    if plan is None:
        return
    goals = one_line("; ".join(plan["goals"]), 200)
    yield _label_line("plan", f"{plan['id']} ({plan['state']})  {goals}".rstrip())
    for kind, values in plan["grants"].items():
        text = f"{kind.replace('_', ' ')}: {one_line(', '.join(values), 200)}"
        yield _label_line("  granted", text)


def _render_files(found: dict[str, Any], paint: Paint) -> Iterator[Line | str]:
    stats = found["diff"]
    yield _label_line("files", f"{stats['files']}, +{stats['added']} -{stats['removed']}")
    special = {
        "protected": ("PROTECTED", "red"),
        "tests_touched": ("tests", "yellow"),
        "dependencies": ("dependencies", "yellow"),
    }
    for item in found["files"][:_MOST_FILES]:
        marks = [
            paint(word, colour)
            for name, (word, colour) in special.items()
            if item["path"] in found[name]
        ]
        mode = [paint(item["mode"], "yellow")] if item.get("mode") else []
        origin = [f"from {printable(item['renamed_from'])}"] if item.get("renamed_from") else []
        details = "  ".join([printable(item["path"]), *origin, *mode, *marks])
        yield f"    {item['how']:9} {details}"
    if len(found["files"]) > _MOST_FILES:
        more = len(found["files"]) - _MOST_FILES
        yield f"    … and {more} more: astra changes diff {found['id']}"


def _render_findings(found: dict[str, Any], _paint: Paint) -> Iterator[Line]:
    findings = found["findings"]
    if findings is None:
        yield _label_line("findings", "not scanned yet")
        return
    counts = Counter(item["severity"] for item in findings)
    summary = ", ".join(f"{counts[severity]} {severity}" for severity in _ORDER if counts[severity])
    yield _label_line("findings", summary or "none", "red" if counts["danger"] else "")
    ranked = sorted(findings, key=lambda item: _ORDER.index(item["severity"]))
    for item in ranked[:_MOST_FINDINGS]:
        location = f"{item['path']}:{item['line']}" if item["line"] else item["path"]
        text = one_line(f"{location}  {item['message']} [{item['rule']}]", 240)
        yield f"    {item['severity']:8} ", text, _COLOURS[item["severity"]]
        if item["excerpt"]:
            yield " " * 15, one_line(item["excerpt"], 160), "dim"
    if len(findings) > _MOST_FINDINGS:
        yield "    ", f"… and {len(findings) - _MOST_FINDINGS} more (--json shows all)", ""


def _render_evidence(found: dict[str, Any], paint: Paint) -> Iterator[Line | str]:
    evidence: dict[str, Any] = found["evidence"]
    runs: list[dict[str, Any]] = evidence["runs"]
    reports: list[dict[str, Any]] = [test_run["report"] for test_run in runs if test_run["report"]]
    colour = "green" if evidence["verdict"] == "passed" else "red"
    ran = any(report["verdict"] != "never_ran" for report in reports)
    prefix = "in the sandbox: " if ran else ""
    yield _label_line("evidence", f"{prefix}{one_line(evidence['words'], 300)}", colour)
    for warning in evidence.get("warnings", ()):
        yield _label_line("", one_line(warning, 200), "red")
    if mutation := evidence.get("mutation"):
        yield from _render_mutants(mutation)
    for test_run in runs:
        yield from _render_run(test_run, paint)
    if any(report["passed"] is not None for report in reports):
        yield "    ", "counts are reported by the code under test", "dim"
    if withheld := sorted({path for report in reports for path in report.get("withheld", ())}):
        shown_paths = one_line(", ".join(withheld), 160)
        yield "    ", f"these secret files were empty for the tests: {shown_paths}", "dim"
        yield "    ", "a test that reads one fails here: leave it out in test_command", "dim"


def _render_mutants(mutation: dict[str, Any]) -> Iterator[Line]:
    """Say how many faults the tests let pass, and name those that they noticed before."""
    text = mutation["words"].removeprefix("mutants: ")
    yield _label_line("mutants", one_line(text, 300), "red" if mutation["lost"] else "")
    for fault in mutation["lost"][:_MOST_FAILURES]:
        kind = fault["kind"].replace("_", " ")
        location = f"{fault['path']}:{fault['line']}"
        yield "      ", one_line(f"no longer noticed: {location} {kind}", 200), "red"


def _render_run(run: dict[str, Any], paint: Paint) -> Iterator[Line | str]:
    report, is_proof = run["report"], run["label"] == PROOF_RUN
    if report is None:
        yield f"    {run['label']:22} not run yet"
        return
    verdict = report["verdict"]
    padding = " " * max(10 - len(verdict), 1)
    yield (
        f"    {run['label']:22} {paint(verdict, _pick_colour(report, is_proof=is_proof))}{padding}"
        + (_render_counts(report))
    )
    if is_proof and could_not_collect(report):
        yield "      ", "they cannot even start there, which proves nothing", "yellow"
    elif is_proof and verdict == "failed":
        yield "      ", "as it should be: the new tests notice what was changed", ""
    elif verdict != "passed":
        yield "      ", one_line(report["reason"], 200), ""
    for failure in report["failures"][:_MOST_FAILURES]:
        text = one_line(f"{failure['name']}: {failure['message']}", 200)
        yield "      ", text, "dim" if is_proof else "red"


def _pick_colour(report: dict[str, Any], *, is_proof: bool) -> str:
    """Colour a verdict; new tests are meant to fail on the old code, and prove little otherwise."""
    verdict = report["verdict"]
    if is_proof and could_not_collect(report):
        return "yellow"
    if is_proof:
        return {"failed": "green", "passed": "yellow"}.get(verdict, "red")
    return "green" if verdict == "passed" else "red"


def _render_counts(report: dict[str, Any]) -> str:
    always, seldom = ("passed", "failed"), ("errors", "skipped")
    counts = [
        f"{report[name]} {name}"
        for name in (*always, *seldom)
        if report[name] is not None and (name in always or report[name])
    ]
    flaky = f", flaky: {one_line(', '.join(report['flaky']), 100)}" if report["flaky"] else ""
    return f"{', '.join(counts) or 'no counts'}, {report['seconds']:.1f} s{flaky}"


def _render_comments(found: dict[str, Any], _paint: Paint) -> Iterator[Line]:
    for comment in found["comments"]:
        yield _label_line("comment", f"{printable(comment['by'])}: {_summarise_comment(comment)}")
        for remark in comment["remarks"]:
            text = f"{_locate_remark(remark, comment, found)}  {one_line(remark['text'], 300)}"
            yield "    ", text, ""
    for commit in found.get("contains_quarantined", ()):
        yield _label_line(
            "contains", f"{commit[:12]}, which failed in service, in quarantine", "red"
        )
    if found["conflict"]:
        paths = one_line(", ".join(found["conflict"]["paths"]), 200)
        why = one_line(found["conflict"]["why"], 200)
        yield _label_line("conflict", f"{why}: {paths}" if paths else why)


def _summarise_comment(comment: dict[str, Any]) -> str:
    count = len(comment["remarks"])
    return one_line(comment["text"], 300) or f"{count} remark{'s' if count > 1 else ''} on lines"


def _locate_remark(remark: dict[str, Any], comment: dict[str, Any], found: dict[str, Any]) -> str:
    """Name a line, and the commit as well where the change has moved on since."""
    before = " (before)" if remark["side"] == "old" else ""
    commit_note = f" at {comment['commit'][:12]}" if comment["commit"] != found["commit"] else ""
    return f"{one_line(remark['path'], 160)}:{remark['line']}{before}{commit_note}"


def _render_decision(found: dict[str, Any], paint: Paint) -> Iterator[Line | str]:
    last_reason, conflict = found["decision"]["reason"], found["conflict"]
    if last_reason and not (conflict and last_reason == conflict["why"]):
        yield _label_line("said last", one_line(last_reason, 300))
    if found["state"] == "awaiting_approval":
        consent = "".join(f" --consent {printable(path)}" for path in found["protected"])
        command = f"astra changes approve {found['id']}{consent}"
        yield f"  decide       {paint(command, 'bold')}"
        yield f"               astra changes reject {found['id']} --reason …"
        yield f"               astra changes request-changes {found['id']} …"
    else:
        yield _label_line("next", printable(found["next"]))
    if found["state"] == "tests_failed":
        yield _label_line("or", f"astra approve {found['id']} --despite-tests")
