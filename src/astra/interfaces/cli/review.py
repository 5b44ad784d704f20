"""One screen with everything a reviewer decides on; what should worry them comes in red."""

from collections.abc import Callable, Iterator
from typing import Any

from astra.kernel.text import one_line, printable

Paint = Callable[[str, str], str]
_COLOURS = {"danger": "red", "warning": "yellow", "info": "dim"}
_MOST_FILES, _MOST_FINDINGS, _MOST_FAILURES = 40, 40, 10
_ORDER = ("danger", "warning", "info")


def screen(found: dict[str, Any], paint: Paint) -> Iterator[str]:
    """Draw a change: why, what, what was found, how the tests went, what is to be decided."""
    yield f"{paint(found['id'], 'bold')}  {found['state']}  round {found['round']}"
    yield from _why(found)
    yield from _what(found, paint)
    yield from _findings(found, paint)
    yield from _tests(found, paint)
    yield from _talk(found)
    yield from _decision(found, paint)


def _why(found: dict[str, Any]) -> Iterator[str]:
    yield f"  agent says   {one_line(found['reason'], 300)}"
    for name, label in (("goal", "goal"), ("desire", "desire"), ("research", "research")):
        if found.get(name):
            text = (found.get("goal_text") if name == "goal" else None) or ""
            yield f"  {label:12} {printable(found[name])}  {one_line(text, 100)}".rstrip()
    yield f"  proposed by  {printable(found['proposed_by'])} at {found['created_at'][:19]}Z"
    yield f"  commit       {found['commit']} on {found['branch']}"
    yield f"  base         {found['base']} of {found['target_branch']}"
    if found["supersedes"]:
        yield f"  revises      {found['supersedes']}"


def _what(found: dict[str, Any], paint: Paint) -> Iterator[str]:
    stats = found["diff"]
    yield f"  files        {stats['files']}, +{stats['added']} -{stats['removed']}"
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
        yield f"    {item['how']:9} {'  '.join([printable(item['path']), *mode, *marks])}"
    if len(found["files"]) > _MOST_FILES:
        more = len(found["files"]) - _MOST_FILES
        yield f"    … and {more} more: astra changes diff {found['id']}"


def _findings(found: dict[str, Any], paint: Paint) -> Iterator[str]:
    findings = found["findings"]
    if findings is None:
        yield "  findings     not scanned yet"
        return
    yield f"  findings     {len(findings) or 'none'}"
    ranked = sorted(findings, key=lambda item: _ORDER.index(item["severity"]))
    for item in ranked[:_MOST_FINDINGS]:
        where = f"{item['path']}:{item['line']}" if item["line"] else item["path"]
        text = f"{item['severity']:8} {where}  {item['message']} [{item['rule']}]"
        yield f"    {paint(one_line(text, 240), _COLOURS[item['severity']])}"
        if item["excerpt"]:
            yield f"             {paint(one_line(item['excerpt'], 160), 'dim')}"
    if len(findings) > _MOST_FINDINGS:
        yield f"    … and {len(findings) - _MOST_FINDINGS} more (--json shows all)"


def _tests(found: dict[str, Any], paint: Paint) -> Iterator[str]:
    evidence = found["evidence"]
    colour = "green" if evidence["verdict"] == "passed" else "red"
    yield f"  evidence     {paint(one_line(evidence['words'], 300), colour)}"
    for run in evidence["runs"]:
        report = run["report"]
        if report is None:
            yield f"    {run['label']:22} not run yet"
            continue
        colour = "green" if report["verdict"] == "passed" else "red"
        yield f"    {run['label']:22} {paint(report['verdict'], colour):10} {_counts(report)}"
        if report["verdict"] != "passed":
            yield f"      {one_line(report['reason'], 200)}"
        for failure in report["failures"][:_MOST_FAILURES]:
            text = f"{failure['name']}: {failure['message']}"
            yield f"      {paint(one_line(text, 200), 'red')}"


def _counts(report: dict[str, Any]) -> str:
    names = ("passed", "failed", "errors", "skipped")
    counts = [f"{report[name]} {name}" for name in names if report[name] is not None]
    said = f"{', '.join(counts)} (reported by the code under test)" if counts else "no counts"
    flaky = f", flaky: {one_line(', '.join(report['flaky']), 100)}" if report["flaky"] else ""
    return f"{said}, {report['seconds']:.1f} s{flaky}"


def _talk(found: dict[str, Any]) -> Iterator[str]:
    for comment in found["comments"]:
        yield f"  comment      {printable(comment['by'])}: {_said(comment)}"
        for remark in comment["remarks"]:
            yield f"    {_place(remark, comment, found)}  {one_line(remark['text'], 300)}"
    if found["conflict"]:
        paths = ", ".join(found["conflict"]["paths"])
        yield f"  conflict     {one_line(found['conflict']['why'], 200)}: {one_line(paths, 200)}"


def _said(comment: dict[str, Any]) -> str:
    count = len(comment["remarks"])
    return one_line(comment["text"], 300) or f"{count} remark{'s' if count > 1 else ''} on lines"


def _place(remark: dict[str, Any], comment: dict[str, Any], found: dict[str, Any]) -> str:
    """Name a line, and the commit as well where the change has moved on since."""
    before = " (before)" if remark["side"] == "old" else ""
    then = f" at {comment['commit'][:12]}" if comment["commit"] != found["commit"] else ""
    return f"{one_line(remark['path'], 160)}:{remark['line']}{before}{then}"


def _decision(found: dict[str, Any], paint: Paint) -> Iterator[str]:
    if found["decision"]["reason"]:
        yield f"  said last    {one_line(found['decision']['reason'], 300)}"
    if found["state"] == "awaiting_approval":
        consent = "".join(f" --consent {printable(path)}" for path in found["protected"])
        command = f"astra changes approve {found['id']}{consent}"
        yield f"  decide       {paint(command, 'bold')}"
        yield f"               astra changes reject {found['id']} --reason …"
        yield f"               astra changes request-changes {found['id']} …"
    else:
        yield f"  next         {printable(found['next'])}"
