"""Sentences for the records that no other page of words tells: keys, flags, boxes, goals, alerts.

Each says what happened this time; a member that an older record lacks is left out.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from astra.trusted.kernel.text import one_line, quote_text

Data = dict[str, Any]
_SHORT = 12
_MOST_QUOTED = 160

CONSTANT_SENTENCES: Mapping[str, str] = {
    "data_root_created": "the data root was created, with its keys",
    "operator_key_rotated": "a new operator key came into force",
    "operator_rules_set": "operators signed how many signatures something takes",
    "ledger_restored": (
        "the operator signed that this data root goes on from an older state;"
        " open approvals, tokens and sessions are void"
    ),
    "config_signed": "the operator signed astra.toml",
    "session_closed": "the session was ended",
    "token_revoked": "the token was revoked",
    "passkey_revoked": "the passkey was revoked",
    "approval_used": "the approval was used up",
    "approval_announced": "the request still waits; it was announced again",
    "approval_token_exported": "the approval was written to its token file",
    "chat_suggestions_silenced": "no project is suggested in that conversation any more",
    "schedule_paused": "the schedule was paused",
    "schedule_resumed": "the schedule was resumed",
    "schedule_deleted": "the schedule was deleted; its records stay",
    "desires_surveyed": "the idle policy noted what is wanted most",
    "goal_decomposition_asked": "no method fits the goal; a model is asked to decompose it",
    "goal_retried": "tasks of the goal begin anew",
    "goal_reopened": "the goal is proposed again and takes a new signature",
    "task_enabled": "the approval enabled the task",
    "change_evidence_renewed": "its evidence is gathered again",
    "change_superseded": "a revision took its place",
    "code_modification_approved": "the approval holds for exactly this change, and was used up",
    "agent_files_exported": "the plan's files were written",
    "agent_global_grants_exported": "the file of what every plan gets was written",
    "agent_global_grants_tampered": (
        "somebody changed the file of what every plan gets; it was written anew, granting nothing"
    ),
    "agent_action_started": "an action with an effect began",
    "agent_notified": "the messages of a minute were announced together",
    "deployment_ordered": "the operator ordered a deployment, by signature",
    "release_rehearsed": "the release ran well in staging",
    "app_state_saved": "the app's state was saved before the release may change it",
    "app_state_restored": "the app's state from before the release was put back",
    "release_reload_begun": "the running app was asked to reload its code",
    "app_restarted": "the app was not running and was started again",
    "readiness_matrix_recorded": "the operator signed the results of the test matrix",
    "readiness_signed_off": "the operator signed the readiness report off",
    "dry_run_approved": "the operator rehearsed an approval, by signature",
    "sandbox_off_allowed": "the operator allowed agent code without a sandbox, by signature",
    "sandbox_off_revoked": "agent code without a sandbox is not allowed any more",
    "smoke_started": "a quick check of the running server began",
    "work_started": "the operator let work start again, by signature",
    "ledger_tail_set_aside": "a crash tore the end of a segment; it was set aside, whole",
}


def _name(data: Data, member: str, fallback: str) -> str:
    return one_line(str(data[member]), 80) if data.get(member) else fallback


def _list_months(data: Data) -> str:
    months = cast("list[Data]", data.get("months") or [])
    return ", ".join(_name(month, "month", "?") for month in months[-12:]) or "none"


def _count_tokens(data: Data, member: str) -> str:
    return f"{data.get(member, {}).get('tokens', 0):,} tokens"


def _quote(data: Data, member: str) -> str:
    return quote_text(str(data.get(member, "")), _MOST_QUOTED)


def _quote_or_count(data: Data) -> str:
    """Quote what an earlier version wrote into its record; later texts are kept apart."""
    return _quote(data, "text") if "text" in data else f"{data.get('length', '?')} characters"


def _why(data: Data, *members: str) -> str:
    reasons = (data[name] for name in members or ("reason", "why") if data.get(name))
    reason = next(reasons, "")
    return f": {one_line(str(reason), _MOST_QUOTED)}" if reason else ""


def _describe_box(data: Data) -> str:
    seconds = f" after {data['seconds']:.1f} s" if data.get("seconds") is not None else ""
    egress = _read_member(data, "egress")
    traffic = f", {egress['sent']} bytes sent" if egress.get("sent") else ""
    return f"a box with {_name(data, 'program', 'a program')} ended{seconds}{traffic}{_why(data)}"


def _read_member(data: Data, member: str) -> Data:
    value = data.get(member)
    return cast("Data", value) if isinstance(value, dict) else {}


def _describe_refusal(data: Data) -> str:
    decision = _read_member(data, "decision")
    how = "waits for the operator" if decision.get("code") == "needs_approval" else "was refused"
    return f"{_name(data, 'tool', 'a call')} {how}{_why(decision, 'explanation', 'reason')}"


def _describe_counted_refusals(data: Data) -> str:
    count = data.get("count", "some")
    return f"{_name(data, 'tool', 'a tool')} was refused {count} more times ({data.get('code')})"


def _describe_stop(data: Data) -> str:
    survivors = _read_member(data, "report").get("survivors") or ()
    return "all work was stopped" + (f"; {len(survivors)} SURVIVED" if survivors else "")


def _describe_smoke(data: Data) -> str:
    failing = [str(item.get("name")) for item in data.get("items", ()) if item.get("ok") is False]
    return f"the quick check failed: {', '.join(failing)}" if failing else "the quick check passed"


def _describe_push(data: Data) -> str:
    link = f"; pull request {data['pull_request']}" if data.get("pull_request") else ""
    return f"pushed to {_name(data, 'branch', 'the remote')}{link}"


def _describe_clone(data: Data) -> str:
    commit = str(data.get("commit", ""))[:_SHORT]
    if data.get("how") in {"forwarded", "current"}:
        return f"the agent's clone is at {commit}"
    return f"the agent's clone got {commit}; its own work was left as it is"


def _describe_before_start(data: Data) -> str:
    return f"before_start {'failed' if data.get('ok') is False else 'went well'}{_why(data)}"


def _describe_remark(data: Data) -> str:
    remarks = len(data.get("remarks") or ())
    lines = f"; {remarks} on lines" if remarks else ""
    return f"{_quote(data, 'text')}{lines}"


def _describe_app_egress(data: Data) -> str:
    return f"the app sent {data.get('sent', '?')} bytes and received {data.get('received', '?')}"


SAYINGS: Mapping[str, Callable[[Data], str]] = {
    "ledger_format_raised": lambda data: f"the root is written in format {data.get('format', '?')}",
    "flag_set": lambda data: (
        f"{_name(data, 'flag', 'a flag')} was turned"
        f" {'on, by signature' if data.get('on') else 'off'}"
    ),
    "ledger_archived": lambda data: (
        f"months of the chain are in an archive, by signature: {_list_months(data)}"
    ),
    "clock_accepted": lambda data: f"the clock was accepted: {_name(data, 'time', 'as it is')}",
    "session_opened": lambda data: f"a session was opened by {_name(data, 'by', 'a link')}",
    "token_created": lambda data: (
        f"a token for {_name(data, 'name', 'a program')}, role {_name(data, 'role', '?')}"
    ),
    "operator_enrolled": lambda data: f"{_name(data, 'name', 'somebody')} became an operator",
    "operator_removed": lambda data: f"{_name(data, 'name', 'somebody')} is an operator no longer",
    "operator_role_set": lambda data: (
        f"what {_name(data, 'name', 'an operator')} may sign was changed"
    ),
    "operator_users_set": lambda data: (
        f"which OS users are {_name(data, 'name', 'an operator')} at a terminal was signed"
    ),
    "signature_given": lambda data: (
        f"one signature was given for {_name(data, 'action', 'a decision')}, which takes more"
    ),
    "passkey_enrolled": lambda data: f"the passkey {_name(data, 'name', '')} may decide",
    "agent_usage_counted": lambda data: (
        "the call of the model was cancelled, because its plan had ended"
        if data.get("cancelled")
        else "a model's answer beside a step was counted"
    ),
    "budget_spent": lambda data: f"counted against the budget {_name(data, 'name', '')}",
    "spend_reserved": lambda data: (
        f"{_count_tokens(data, 'reserved')} were reserved for a call of"
        f" {_name(data, 'model', 'a model')}"
    ),
    "spend_settled": lambda data: (
        f"{_count_tokens(data, 'counted')} count for a call of {_name(data, 'model', 'a model')}"
        + ("" if data.get("certain", True) else f", which is uncertain{_why(data, 'why')}")
    ),
    "spend_cap_reached": lambda data: (
        f"{_name(data, 'waiter', 'a call')} waits: {_name(data, 'cap', 'a cap')} is reached, so"
        f" {_name(data, 'model', 'the model')} was not called"
    ),
    "spend_cap_raised": lambda data: (
        f"{_name(data, 'cap', 'a cap')} of {_name(data, 'scope', 'a scope')} was raised, by"
        " signature"
    ),
    "budget_returned": lambda data: f"given back to the budget {_name(data, 'name', '')}",
    "tool_called": lambda data: f"read with {_name(data, 'tool', 'a tool')}",
    "tool_refused": _describe_refusal,
    "tool_refusals_counted": _describe_counted_refusals,
    "tool_interrupted": lambda data: (
        f"{_name(data, 'tool', 'a call')} was cut off by a crash; how far it came is unknown"
    ),
    "chat_asked": lambda data: f"asked the persona: {_quote_or_count(data)}",
    "chat_answered": lambda data: f"the persona answered: {_quote_or_count(data)}",
    "chat_deleted": lambda data: (
        f"the conversation was deleted: {data.get('messages', '?')} messages are gone"
        + (f", {data['in_ledger']} stay in the ledger" if data.get("in_ledger") else "")
    ),
    "schedule_created": lambda data: f"the schedule {_quote(data, 'name')} was created",
    "schedule_modified": lambda data: f"the schedule {_quote(data, 'name')} was changed",
    "schedule_firing_held": lambda data: f"a firing waits{_why(data)}",
    "schedule_firing_skipped": lambda data: f"a firing was skipped{_why(data)}",
    "schedule_firings_missed": lambda data: f"{data.get('count', 'some')} firings were missed",
    "schedule_firing_retried": lambda data: f"a firing failed and is tried again{_why(data)}",
    "schedule_gave_up": lambda data: f"the last attempt failed too{_why(data)}",
    "schedule_cadence_adjusted": lambda data: f"the schedule changed its pace{_why(data)}",
    "job_database_set_aside": lambda data: f"the job database was made anew{_why(data)}",
    "notification_sent": lambda data: f"notified through {_name(data, 'channel', 'a channel')}",
    "notification_failed": lambda data: (
        f"{_name(data, 'channel', 'a channel')} took no notification{_why(data)}"
    ),
    "notification_tested": lambda data: (
        f"a test message was {'NOT ' if data.get('ok') is False else ''}taken by"
        f" {_name(data, 'channel', 'a channel')}"
    ),
    "device_subscribed": lambda data: f"push to {_name(data, 'name', 'a browser')} is on",
    "device_forgotten": lambda data: f"push to a device is off{_why(data)}",
    "approval_token_refused": lambda data: f"a token file did not fit the ledger{_why(data)}",
    "desires_pruned": lambda data: f"{data.get('count', 'faded')} desires were put away",
    "desire_half_life_set": lambda data: f"desires fade by half every {data.get('days')} days",
    "task_disabled": lambda data: f"the task waits for an approval again{_why(data)}",
    "task_finished": lambda data: f"the task is over: {_name(data, 'outcome', 'ended')}",
    "change_rebased": lambda data: (
        f"carried over to {str(_read_member(data, 'facts').get('base', 'a new base'))[:_SHORT]};"
        " a new round began"
    ),
    "change_conflicted": lambda data: f"the change does not fit the base any more{_why(data)}",
    "change_commented": lambda data: f"commented: {_describe_remark(data)}",
    "change_revision_requested": lambda data: f"sent back: {_describe_remark(data)}",
    "change_withdrawn": lambda data: f"the change was withdrawn{_why(data)}",
    "change_step_failed": lambda data: f"a step failed and is tried again{_why(data)}",
    "agent_global_grant_added": lambda data: f"every plan may have {_name(data, 'value', 'it')}",
    "agent_global_grant_removed": lambda data: (
        f"no plan gets {_name(data, 'value', 'it')} any more"
    ),
    "code_edit_tried": lambda data: (
        f"an edit of {_name(data, 'model', 'the model')} as {_name(data, 'format', 'code')}"
        f" {'could' if data.get('worked') else 'could not'} be used"
    ),
    "server_started": lambda data: f"the server {_name(data, 'server', '')} was started",
    "server_failed": lambda data: f"the server {_name(data, 'server', '')} failed{_why(data)}",
    "server_tools_listed": lambda data: (
        f"the server {_name(data, 'server', '')} lists {len(_read_member(data, 'tools'))} tools"
    ),
    "server_tools_accepted": lambda data: (
        f"the operator signed for {len(_read_member(data, 'tools'))} tools"
        f" of {_name(data, 'server', 'a server')}"
    ),
    "server_tools_changed": lambda data: (
        f"tools of {_name(data, 'server', 'a server')} CHANGED and rest:"
        f" {one_line(', '.join(_read_member(data, 'tools')), _MOST_QUOTED)}"
    ),
    "egress_secret_added": lambda data: (
        f"the secret {_name(data, 'secret', '')} was added to a request"
        f" for {_name(data, 'host', 'its host')}"
    ),
    "worker_joined": lambda data: f"worker {_name(data, 'name', '')} joined",
    "worker_checked": lambda data: (
        f"the preflight of worker {_name(data, 'worker', '')} found"
        f" {len(data.get('problems', ())) or 'no'} problems"
    ),
    "worker_draining": lambda data: f"worker {_name(data, 'worker', '')} takes no more jobs",
    "worker_left": lambda data: f"worker {_name(data, 'worker', '')} left",
    "job_offered": lambda data: (
        f"{_name(data, 'kind', 'a job')} of {_name(data, 'label', 'it')} offered to the workers"
    ),
    "job_claimed": lambda data: f"worker {_name(data, 'worker', '')} took the job",
    "job_moved": lambda data: f"the job is offered again: {_name(data, 'why', '')}",
    "job_ended": lambda data: (
        f"the job ended on worker {_name(data, 'worker', '')}: {_name(data, 'ending', '')}"
    ),
    "job_withdrawn": lambda data: f"the job was taken back: {_name(data, 'why', '')}",
    "fleet_rollout_begun": lambda data: (
        f"{_name(data, 'release', 'a release')} goes out to the fleet"
        f" in {len(data.get('waves', ()))} waves"
    ),
    "fleet_wave_begun": lambda data: (
        f"wave {int(data.get('wave', 0)) + 1} began:"
        f" {one_line(', '.join(map(str, data.get('instances', ()))), 200)}"
    ),
    "fleet_wave_finished": lambda data: f"wave {int(data.get('wave', 0)) + 1} is watched",
    "fleet_instance_ordered": lambda data: (
        f"{_name(data, 'instance', 'an instance')} is to bring it up, try {data.get('attempt')}"
    ),
    "fleet_instance_passed_over": lambda data: (
        f"{_name(data, 'instance', 'an instance')} was away and follows later"
    ),
    "fleet_instance_released": lambda data: (
        f"{_name(data, 'instance', 'an instance')} proved {_name(data, 'release', 'it')}"
    ),
    "fleet_instance_failed": lambda data: (
        f"it failed on {_name(data, 'instance', 'an instance')}{_why(data)}"
    ),
    "stop_reached": lambda data: f"machine {_name(data, 'machine', '')} carried the stop out",
    "egress_opened": lambda data: f"a box is let through to {_name(data, 'host', 'a host')}",
    "app_egress_recorded": _describe_app_egress,
    "rollback_ordered": lambda data: (
        f"the operator ordered {_name(data, 'release', 'a release')} back, by signature"
    ),
    "before_start_begun": lambda data: f"before_start of {_name(data, 'release', 'it')} began",
    "before_start_finished": _describe_before_start,
    "release_retired": lambda data: (
        f"the replaced release {_name(data, 'release', '')} was drained and ended"
    ),
    "rollback_failed": lambda data: f"NO good release could be brought back{_why(data)}",
    "commit_quarantined": lambda data: (
        f"commit {str(data.get('commit', ''))[:_SHORT]} is quarantined{_why(data)}"
    ),
    "app_not_serving": lambda data: f"the app cannot be started{_why(data)}",
    "upstream_merged": lambda data: (
        f"commits of the upstream came in: {str(data.get('commit', ''))[:_SHORT]}"
    ),
    "clone_followed": _describe_clone,
    "release_pushed": _describe_push,
    "release_push_failed": lambda data: f"it was not pushed{_why(data)}; the deployment stands",
    "release_removed": lambda data: f"{_name(data, 'release', 'an old release')} was removed",
    "environment_removed": lambda data: (
        f"environment {_name(data, 'name', 'that nothing used')} was removed"
    ),
    "dry_run_completed": lambda data: (
        f"the dry run {'went well' if data.get('ok') else 'did not go well'}:"
        f" tests {_name(data, 'tests', 'unknown')}"
    ),
    "box_ended": _describe_box,
    "alert_raised": lambda data: f"ALERT {_name(data, 'alert', '')}{_why(data, 'text')}",
    "alert_repeated": lambda data: f"alert {_name(data, 'alert', '')} lasts{_why(data, 'text')}",
    "alert_resolved": lambda data: f"alert {_name(data, 'alert', '')} is over{_why(data)}",
    "alert_silenced": lambda data: (
        f"alert {_name(data, 'alert', '')} is silent until {_name(data, 'until', '?')}{_why(data)}"
    ),
    "alert_unsilenced": lambda data: f"alert {_name(data, 'alert', '')} is told again",
    "smoke_finished": _describe_smoke,
    "work_stopped": _describe_stop,
}
