"""Records of changes, requests, deployments, schedules and calls as sentences about this event.

Each says what happened this time, with its numbers. Older records may lack a member; a sentence
leaves out what is not there.
"""

from collections.abc import Callable, Mapping
from typing import Any

from astra.trusted.changes import verdicts
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.text import one_line, printable, quote_text

Data = dict[str, Any]
_SHORT = 12


def _count(number: Any, noun: str) -> str:
    """Say how many there are, in the singular where it is one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _describe_tests(data: Data) -> str:
    report: Data = data.get("report", {})
    passes = report.get("passed") or 0
    failed = (report.get("failed") or 0) + (report.get("errors") or 0)
    seconds = f" in {report['seconds']:.1f} s" if report.get("seconds") else ""
    label = f" ({one_line(str(data['label']), 40)})" if data.get("label") else ""
    if report.get("verdict") == "failed" and verdicts.is_expected_failure(data):
        share = f"{failed} of {passes + failed}{seconds}"
        return f"the new tests fail on the code before the change, as they should: {share}"
    if report.get("verdict") == "passed":
        return f"tests passed: {passes} of {passes + failed}{seconds}{label}"
    return f"tests did not pass: {failed} of {passes + failed} failed{seconds}{label}{_why(report)}"


def _describe_proposal(data: Data) -> str:
    about, diff = data.get("about", {}), data.get("facts", {}).get("diff", {})
    size = (
        f": {_count(diff['files'], 'file')}, +{diff['added']} -{diff['removed']}"
        if "files" in diff
        else ""
    )
    return f"a change was proposed, {quote_text(str(about.get('reason', '')), 160)}{size}"


def _describe_scan(data: Data) -> str:
    findings = data.get("findings", [])
    dangers = sum(finding.get("severity") == "danger" for finding in findings)
    danger = f", {dangers} of them dangerous" if dangers else ""
    return f"scanned: {_count(len(findings) or 'no', 'finding')}{danger}"


def _describe_merge(data: Data) -> str:
    commit = str(data.get("commit", ""))[:_SHORT]
    return f"merged: {one_line(str(data.get('target_branch', 'the branch')), 60)} is at {commit}"


def _describe_live_changes(data: Data) -> str:
    parts = [
        f"{_count(len(data[name]), 'change')} {outcome}"
        for name, outcome in (("taken_out", "out of service"), ("restored", "in service again"))
        if data.get(name)
    ]
    release = one_line(str(data.get("release", "")), 60)
    return f"{release} is live: {' and '.join(parts) or 'no change went out or came back'}"


def _describe_failure(data: Data) -> str:
    stage = f" ({one_line(str(data['stage']), 40)})" if data.get("stage") else ""
    return f"the release {data.get('release', '')} failed{stage}{_why(data)}"


def _describe_firing(data: Data) -> str:
    milliseconds = data.get("milliseconds")
    span = f" after {milliseconds / 1000:.1f} s" if milliseconds else ""
    detail = f": {one_line(str(data['detail']), 160)}" if data.get("detail") else ""
    return f"the firing {data.get('outcome', 'ended')}{span}{detail}"


def _describe_call_end(data: Data) -> str:
    outcome: Data = data.get("outcome", {})
    if outcome.get("code") == "needs_approval":
        return f"{data.get('tool', 'the call')} waits for the operator"
    how = "succeeded" if outcome.get("ok") else f"failed ({outcome.get('code', 'unknown')})"
    span = f" after {outcome['milliseconds'] / 1000:.1f} s" if outcome.get("milliseconds") else ""
    return f"{data.get('tool', 'the call')} {how}{span}"


def _describe_permission(data: Data) -> str:
    scope = f"{data.get('tool')} {data.get('method')} {data.get('host')}"
    until = show_time(str(data.get("until", "")))
    return f"permitted by signature: {scope}, {data.get('uses')} calls until {until}"


def _describe_search(data: Data) -> str:
    task: Data = data.get("task", {})
    sources = " and ".join(str(name) for name in task.get("sources", []))
    findings, passages = len(data.get("findings", [])), data.get("passages", 0)
    trouble = f"; {one_line(str(data['trouble']), 120)}" if data.get("trouble") else ""
    query = quote_text(str(task.get("query", "")), 80)
    outcome = f"{_count(passages, 'passage')}, {_count(findings, 'finding')}"
    return f"searched {sources} for {query}: {outcome}{trouble}"


def _describe_shift(data: Data) -> str:
    numbers = ", ".join(
        f"{name} {data[name]:.2f}" for name in ("mean", "lower", "upper") if name in data
    )
    statement = quote_text(str(data.get("statement", "")), 160)
    return f"{statement} moved from {data.get('from', '?')} to {data.get('to', '?')}: {numbers}"


def _why(data: Data) -> str:
    return f": {one_line(str(data['reason']), 160)}" if data.get("reason") else ""


def _name_release(data: Data) -> str:
    commit = f" of commit {str(data['commit'])[:_SHORT]}" if data.get("commit") else ""
    return f"the release {data.get('release', '')}{commit}"


def _describe_graph(data: Data) -> str:
    graph: Data = data.get("graph", {})
    kinds = ", ".join(str(node.get("kind", "")) for node in graph.get("nodes", [])[:_MOST_KINDS])
    origin = "a model" if graph.get("proposed_by") == "model" else "methods"
    size = _count(len(graph.get("nodes", [])), "task")
    return f"planned by {origin} into {size}: {one_line(kinds, 120)}"


def _name_task(data: Data) -> str:
    """Name a task by what it does; its id stands behind."""
    kind = one_line(str(data.get("kind", "")), 40).lower().replace("_", " ")
    return f"the task {kind} ({data.get('node')})" if kind else f"the task {data.get('node')}"


def _describe_task_end(data: Data) -> str:
    results = [str(data.get("outputs", {}).get(name, "")) for name in _RESULTS]
    result = ", ".join(one_line(text, 40) for text in results if text)
    reason = "" if data.get("outcome") == "succeeded" else f": {one_line(_join(data), 200)}"
    gave = f", gave {result}" if result else ""
    return f"{_name_task(data)} {data.get('outcome', 'ended')}{gave}{reason}"


def _join(data: Data) -> str:
    return ": ".join(str(data[name]) for name in ("reason", "detail") if data.get(name))


def _describe_satisfaction(data: Data) -> str:
    checks = [str(check.get("criterion", "")) for check in data.get("checks", [])]
    if not checks:
        return f"the goal is satisfied, as {data.get('by', 'somebody')} says"
    return f"the goal is satisfied; checked: {one_line(', '.join(checks), 200)}"


def _describe_claim(data: Data) -> str:
    return (
        f"the schedule {data.get('schedule', '')} fires"
        f" ({str(data.get('kind', '')).replace('_', ' ')}): {data.get('tool', 'its tool')}"
    )


_MOST_KINDS = 12
_RESULTS = ("change", "deployment", "session", "plan", "answer")
SAYINGS: Mapping[str, Callable[[Data], str]] = {
    "desire_recorded": lambda data: f"wants: {quote_text(str(data.get('text', '')), 200)}",
    "desire_reinforced": lambda data: (
        f"wants it again: its strength is {data.get('strength', 0):.2f} now"
    ),
    "desire_promoted": lambda data: f"the desire became the goal {data.get('goal', '')}",
    "desire_closed": lambda data: (
        f"the desire is {str(data.get('outcome', 'closed')).replace('_', ' ')}"
        f" by {data.get('goal', 'its goal')}"
    ),
    "desire_reopened": lambda data: f"the desire is wanted again, with {data.get('goal', '')}",
    "goal_created": lambda data: f"a goal: {quote_text(str(data.get('text', '')), 200)}",
    "goal_planned": _describe_graph,
    "goal_planning_failed": lambda data: f"there is no graph yet{_why(data)}",
    "goal_adopted": lambda _data: "adopted goal, graph, manifest and budgets",
    "goal_started": lambda _data: "its tasks may run from here on",
    "goal_held": lambda data: f"the goal is held: {one_line(_join(data), 240)}",
    "goal_resumed": lambda _data: "the goal goes on",
    "goal_satisfied": _describe_satisfaction,
    "goal_abandoned": lambda data: f"the goal was given up{_why(data)}",
    "goal_task_claimed": lambda data: f"{_name_task(data)} begins, attempt {data.get('attempt')}",
    "goal_task_waited": lambda data: (
        f"{_name_task(data)} WAITS: {one_line(str(data.get('why', '')), 160)}"
    ),
    "goal_task_retried": lambda data: (
        f"{_name_task(data)} is tried again: {one_line(_join(data), 160)}"
    ),
    "goal_task_finished": _describe_task_end,
    "schedule_firing_claimed": _describe_claim,
    "schedule_notice_raised": lambda data: (
        f"people were told: {one_line(str(data.get('text', '')), 200)}"
    ),
    "task_created": lambda _data: "its task is recorded; an approval enables it",
    "code_modification_scheduled": _describe_proposal,
    "change_scanned": _describe_scan,
    "tests_started": lambda data: f"tests began ({one_line(str(data.get('label', '')), 40)})",
    "tests_passed": _describe_tests,
    "tests_failed": _describe_tests,
    "tests_completed": lambda data: f"the evidence is complete: {data.get('words', '')}",
    "code_modification_executed": _describe_merge,
    "code_modification_rejected": lambda data: f"the change was rejected{_why(data)}",
    "code_modification_rolled_back": lambda data: f"the change was taken back{_why(data)}",
    "change_restored": lambda data: (
        f"the change serves again: {data.get('release', 'a release')} has it"
    ),
    "live_changes_recorded": _describe_live_changes,
    "change_returned": lambda data: f"the change went back to the agent{_why(data)}",
    "approval_requested": lambda data: f"WAITS for a signature: {data.get('summary', '')}",
    "approval_granted": lambda data: (
        f"approved by signature, for exactly {str(data.get('digest', ''))[:_SHORT]}…"
    ),
    "approval_rejected": lambda data: f"rejected{_why(data)}",
    "approval_expired": lambda _data: "the request ended: nobody decided or used it in time",
    "approval_went_stale": lambda data: f"the request was withdrawn{_why(data)}",
    "deployment_requested": lambda data: f"{_name_release(data)} is to go into service",
    "release_built": lambda data: (
        f"{_name_release(data)} was built: {_count(data.get('files', '?'), 'file')}"
    ),
    "release_switched": lambda data: f"{_name_release(data)} serves now, and is watched",
    "deployment_settled": lambda data: f"{_name_release(data)} stayed healthy",
    "deployment_failed": _describe_failure,
    "deployment_rolled_back": lambda data: (
        f"went back from {data.get('from', 'it')} to {data.get('release', 'the last good one')}"
    ),
    "deployment_declined": lambda data: f"it was not deployed{_why(data)}",
    "belief_shifted": _describe_shift,
    "belief_proposed": lambda data: (
        f"said, without weight: {quote_text(str(data.get('statement', '')), 160)}"
    ),
    "belief_deprecated": lambda data: f"the belief was put away{_why(data)}",
    "schedule_firing_closed": _describe_firing,
    "tool_started": lambda data: f"{data.get('tool', 'a tool')} began",
    "tool_finished": _describe_call_end,
    "research_started": lambda data: (
        f"research was asked: {quote_text(str(data.get('request', {}).get('question', '')), 200)}"
    ),
    "research_task_finished": _describe_search,
    "research_resumed": lambda data: f"{data.get('session')} goes on after a crash",
    "research_finished": lambda data: (
        f"research ended with {_count(len(data.get('order', [])), 'finding')};"
        f" {_count(data.get('unsupported', 0), 'claim')} had no quote that was found"
    ),
    "standing_permission_added": _describe_permission,
    "standing_permission_used": lambda data: (
        f"covered by the standing permission {data.get('permission')}, use {data.get('use')}"
    ),
    "merge_permission_added": lambda data: (
        f"the operator signed the standing permission {data.get('permission')}:"
        f" {printable(str(data.get('words', '')))}"
    ),
    "merge_permission_used": lambda data: (
        f"approved by the standing permission {data.get('permission')}, use {data.get('use')}"
        f"{', with its deployment' if data.get('deploy') else ''}"
    ),
    "merge_permission_removed": lambda data: (
        f"the standing permission {data.get('permission')} was taken back"
    ),
    "standing_permission_removed": lambda data: (
        f"the standing permission {data.get('permission')} was taken back"
    ),
}
