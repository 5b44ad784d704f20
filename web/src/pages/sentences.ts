/** A record of the ledger as a sentence a person can read. Unknown types are named, not hidden. */

import type { LedgerRecord } from "../api/model";

type Data = Record<string, unknown>;
type Say = (data: Data, record: LedgerRecord) => string;

const text = (value: unknown, fallback = "something"): string =>
  typeof value === "string" && value ? value : fallback;
const inner = (value: unknown): Data => (value && typeof value === "object" ? (value as Data) : {});
const percent = (value: unknown): string =>
  typeof value === "number" ? `${Math.round(value * 100)} %` : "an unknown strength";
/** Quote what an earlier version wrote into its record; later texts are kept apart from it. */
const quoteOrCount = (data: Data): string =>
  text(data.text, `${typeof data.length === "number" ? data.length : "some"} characters`);
const because = (data: Data): string =>
  data.reason && data.reason !== "ok" ? `: ${text(data.reason).replaceAll("_", " ")}` : "";

/** How many tests passed of how many, in which time, for which code. */
function counted(data: Data): string {
  const report = inner(data.report);
  const count = (name: string) => (typeof report[name] === "number" ? Number(report[name]) : 0);
  const all = count("passed") + count("failed") + count("errors");
  const time = count("seconds") ? ` in ${count("seconds").toFixed(1)} s` : "";
  return `${count("passed")} of ${all}${time} (${text(data.label)})`;
}

const SAYINGS: Record<string, Say> = {
  data_root_created: () => "This data root was made, with its keys.",
  operator_key_rotated: () => "A new operator key came into force.",
  config_signed: () => "The operator signed the configuration.",
  flag_set: (data) => `${text(data.flag)} was turned ${data.on ? "on, by signature" : "off"}.`,
  budget_spent: (data) => `A start counted against the budget of ${text(data.name)}.`,
  budget_returned: (data) =>
    `A refused call gave its start back to the budget of ${text(data.name)}.`,
  standing_permission_added: (data) =>
    `Permitted by signature: ${text(data.tool)} ${text(data.method)} ${text(data.host)}, ${String(data.uses ?? "some")} calls.`,
  standing_permission_used: (data) =>
    `Covered by the standing permission ${text(data.permission)}, use ${String(data.use ?? "unknown")}.`,
  standing_permission_removed: (data) =>
    `The standing permission ${text(data.permission)} was taken back.`,
  merge_permission_added: (data) => `Permitted by signature: ${text(data.words)}`,
  merge_permission_used: (data) =>
    `A change was approved by the standing permission ${text(data.permission)}, use ${String(data.use ?? "unknown")}.`,
  merge_permission_removed: (data) =>
    `The standing permission ${text(data.permission)} was taken back.`,
  tool_called: (data) => `Read with ${text(data.tool)}.`,
  tool_started: (data) => `${text(data.tool)} was allowed and began.`,
  tool_finished: (data) => ended(text(data.tool), inner(data.outcome)),
  tool_interrupted: (data) => `${text(data.tool, "A call")} was cut off by a crash.`,
  tool_refused: (data) =>
    `${text(data.tool)} was not run: ${text(inner(data.decision).explanation)}.`,
  tool_refusals_counted: (data) =>
    `${text(data.tool, "A tool")} was refused ${String(data.count)} more times, as ${text(data.code)}.`,
  approval_requested: (data) => `Waits for a decision: ${text(data.summary)}.`,
  approval_granted: () => "The operator approved it, by signature, for this digest.",
  approval_rejected: (data) => `Rejected${because(data)}.`,
  approval_expired: () => "Nobody decided or used it in time.",
  approval_used: () => "The approval was used up.",
  approval_went_stale: (data) => `The approval was withdrawn${because(data)}.`,
  approval_token_exported: () => "The approval was written to its token file.",
  approval_token_refused: (data) => `A token file did not fit the ledger${because(data)}.`,
  approval_announced: () => "Somebody still waits; it was announced again.",
  chat_asked: (data) => `Somebody said to the persona: ${quoteOrCount(data)}`,
  chat_answered: (data) => `The persona answered: ${quoteOrCount(data)}`,
  chat_deleted: (data) =>
    `The conversation was deleted: ${text(String(data.messages ?? "some"))} messages are gone.`,
  chat_suggestions_silenced: () => "No project is suggested in that conversation any more.",
  schedule_created: (data) => `A schedule was made: ${text(data.name)}.`,
  schedule_modified: (data) => `The schedule ${text(data.name, "")} was changed.`,
  schedule_deleted: (data) => `The schedule ${text(data.name, "")} was deleted; its records stay.`,
  schedule_paused: () => "The schedule was paused.",
  schedule_resumed: () => "The schedule runs again.",
  schedule_firing_claimed: (data) => `A firing of ${text(data.tool)} began.`,
  schedule_firing_held: (data) => `A firing waits${because(data)}.`,
  schedule_firing_skipped: (data) => `A firing was skipped${because(data)}.`,
  schedule_firings_missed: (data) => `${String(data.count ?? "Some")} firings passed unseen.`,
  schedule_firing_retried: (data) => `A firing failed and is tried again${because(data)}.`,
  schedule_firing_closed: (data) => `A firing ended: ${text(data.outcome)}${because(data)}.`,
  schedule_gave_up: (data) => `The last attempt failed too${because(data)}.`,
  schedule_cadence_adjusted: (data) => `The schedule changed its pace${because(data)}.`,
  schedule_notice_raised: (data) => text(data.text),
  desire_recorded: (data) => `Wanted, at ${percent(data.strength)}: ${text(data.text)}`,
  desire_reinforced: (data) => `Wanted again; its strength rose to ${percent(data.strength)}.`,
  desires_pruned: (data) => `${String(data.count ?? "Faded")} desires were put away.`,
  desire_half_life_set: (data) => `Desires fade by half every ${String(data.days)} days.`,
  desire_closed: (data) =>
    data.outcome === "fulfilled"
      ? "The desire is fulfilled: its goal is satisfied."
      : "The desire was given up with its goal.",
  desire_reopened: () => "The desire is wanted again: its goal was reopened.",
  desire_promoted: () => "The operator made a goal of a desire.",
  desires_surveyed: () => "The idle policy noted what is wanted most.",
  research_started: (data) => `Research was asked: ${text(inner(data.request).question)}`,
  research_task_finished: (data) =>
    `Searched for ${text(inner(data.task).query)}: ${String(data.passages ?? 0)} passages.`,
  research_resumed: () => "The research goes on after a crash.",
  research_finished: (data) =>
    `The research ended with ${Array.isArray(data.order) ? data.order.length : 0} findings; ${String(data.unsupported ?? 0)} claims were unsupported.`,
  belief_proposed: (data) => `Somebody thinks, without weight: ${text(data.statement)}`,
  belief_shifted: (data) =>
    `“${text(data.statement)}” moved from ${text(data.from)} to ${text(data.to)}, at ${percent(data.mean)}.`,
  belief_deprecated: (data) => `A belief was put away${because(data)}.`,
  goal_created: (data) => `A new goal: ${text(data.text)}`,
  app_egress_recorded: (data) =>
    `The app connected outwards: ${String(data.sent ?? "an unknown number of")} bytes sent, ${String(data.received ?? "an unknown number")} received.`,
  egress_attempted: (data) =>
    `A box tried to reach ${text(data.host)}; it was ${data.allowed ? "let through" : "kept in"}.`,
  box_ended: (data) => `A box ended${because(data)}.`,
  work_stopped: () => "Everything the agent ran was ended.",
  work_started: () => "The operator let work start again, by signature.",
  session_opened: (data) => `Somebody came in through a ${text(data.by)}.`,
  session_closed: () => "Somebody logged out.",
  token_created: (data) => `A token was made for ${text(data.name)}, role ${text(data.role)}.`,
  token_revoked: () => "A token was taken back.",
  passkey_enrolled: (data) => `A passkey may decide from now on: ${text(data.name)}.`,
  passkey_revoked: () => "A passkey was silenced.",
  code_modification_scheduled: (data) =>
    `A change was proposed: ${text(inner(data.about).reason, "without a reason")}`,
  code_modification_approved: () => "The change was approved, with its evidence.",
  code_modification_rejected: (data) => `The change was rejected${because(data)}.`,
  code_modification_executed: () => "The change became part of the branch.",
  code_modification_rolled_back: (data) => `The change was taken back${because(data)}.`,
  tests_started: (data) => `Tests began: ${text(data.label)}.`,
  tests_passed: (data) => `Tests passed: ${counted(data)}.`,
  tests_failed: (data) => `Tests did not pass: ${counted(data)}.`,
  tests_completed: (data) => `The evidence is complete: ${text(data.words)}.`,
  change_scanned: (data) =>
    `The scan is done; ${Array.isArray(data.findings) ? data.findings.length : "some"} findings.`,
  change_rebased: () => "The branch moved; the change was put on top of it.",
  change_conflicted: (data) => `The change does not fit the branch any more: ${text(data.why)}.`,
  change_commented: (data) => `Somebody said: ${said(data)}`,
  change_returned: (data) => `Back to the agent by itself: ${text(data.reason)}.`,
  change_revision_requested: (data) => `Sent back to the agent: ${said(data)}`,
  change_superseded: () => "A revision took its place.",
  agent_plan_requested: (data) => `A plan was asked for: ${text(data.description)}`,
  agent_plan_questioned: () => "The description was not clear; it asked back.",
  agent_plan_drafted: () => "There is a plan to decide on.",
  agent_plan_revised: () => "The plan was edited; it needs a new approval.",
  agent_plan_approved: () => "The operator approved exactly this plan with these grants.",
  agent_plan_rejected: (data) => `The plan was rejected${because(data)}.`,
  agent_plan_failed: (data) => `No plan came of it${because(data)}.`,
  agent_started: () => "The plan began.",
  agent_checkpoint_started: (data) => `Began: ${text(data.title, "a checkpoint")}.`,
  agent_checkpoint_completed: (data) => `Done: ${text(data.title, "a checkpoint")}.`,
  agent_blocked_on_permission: () => "It wants what it was not granted, and waits.",
  agent_blocked_on_destructive: () => "A destructive step waits to be confirmed.",
  agent_blocked_on_budget: (data) => text(data.reason, "The steps of a checkpoint are used up."),
  spend_reserved: (data) =>
    `A call of ${text(data.model, "a model")} was counted before it was made.`,
  spend_settled: (data) =>
    data.certain
      ? "What the call took is known."
      : `What the call took is uncertain, so all that was reserved counts: ${text(data.why)}`,
  spend_cap_reached: (data) =>
    `A call would have passed ${text(data.cap, "a cap")}; it was not made.`,
  spend_cap_raised: (data) =>
    `The operator raised ${text(data.cap, "a cap")} of ${text(data.scope)}.`,
  agent_blocked_on_llm: () => "The model does not answer.",
  agent_message_sent: (data) => `The plan says: ${text(data.text)}`,
  agent_message_received: (data) => `Told the plan: ${text(data.text)}`,
  agent_paused: (data) => `The plan was paused${because(data)}.`,
  agent_resumed: () => "The plan goes on.",
  agent_completed: () => "The plan is done.",
  agent_aborted: (data) => `The plan was ended${because(data)}.`,
  agent_plan_answered: () => "The questions about the plan were answered.",
  agent_plan_drafting_retried: (data) => `Drafting is tried again${because(data)}.`,
  agent_step_started: (data) => `Step ${String(data.step)} asks the model.`,
  agent_step_decided: (data) => `Step ${String(data.step)}: the model decided what to do.`,
  agent_action_started: (data) => `Step ${String(data.step)} began to act.`,
  agent_step_finished: (data) =>
    `Step ${String(data.step)} ended: ${text(data.outcome).replaceAll("_", " ")}.`,
  agent_model_failed: (data) => `The model did not answer as it should${because(data)}.`,
  agent_usage_counted: () => "What the model spent besides was counted.",
  agent_coder_called: () => "The coder was handed instructions.",
  agent_permission_granted: (data) =>
    `The operator granted ${granted(data.items)}, ${data.once ? "for this step" : "until the plan ends"}, by signature.`,
  agent_action_confirmed: (data) =>
    `The operator confirmed a destructive step, ${text(data.tool)}, by signature.`,
  agent_action_skipped: (data) => `The operator skipped what it wanted${because(data)}.`,
  agent_budget_extended: (data) =>
    `The operator gave it ${String(data.steps ?? "more")} more steps, by signature.`,
  agent_step_retried: (data) =>
    `The operator let step ${String(data.step)} run once more, by signature.`,
  agent_overran: () => "It has run twice as long as it was estimated.",
  agent_notified: () => "What it said was announced.",
  agent_silenced: (data) =>
    data.on === false ? "It is announced again." : "It is not announced any more.",
  agent_files_exported: () => "The plan's files were written out.",
  agent_global_grant_added: (data) =>
    `Granted to every plan that asks, by signature: ${text(data.value)}.`,
  agent_global_grant_removed: (data) => `Taken back from every plan: ${text(data.value)}.`,
  agent_global_grants_exported: () => "The list of what every plan gets was written out.",
  agent_global_grants_tampered: () =>
    "Somebody changed the file of what every plan gets; it was written anew and granted nothing.",
  task_created: () => "A task was written down.",
  task_enabled: () => "An approval let the task run.",
  task_disabled: (data) => `The task waits for an approval again${because(data)}.`,
  task_finished: (data) => `The task is over: ${text(data.outcome).replaceAll("_", " ")}.`,
  change_evidence_renewed: () => "Somebody wants its evidence gathered again.",
  change_step_failed: (data) => `A step of the change failed and is tried again${because(data)}.`,
  change_withdrawn: (data) => `The change was turned down${because(data)}.`,
  dry_run_approved: () => "The operator rehearsed an approval, by signature.",
  dry_run_completed: () => "A rehearsal of the whole path is over.",
  readiness_signed_off: () => "The operator signed the readiness report off.",
  deployment_declined: (data) => `It was approved and not deployed${because(data)}.`,
  release_rehearsed: () => "The release ran well on its own before it was started.",
  app_state_saved: () => "The app's state was saved before the release may change it.",
  before_start_begun: (data) => `before_start of ${text(data.release, "the release")} began.`,
  before_start_finished: (data) =>
    data.ok === false ? `before_start failed${because(data)}.` : "before_start went well.",
  app_state_restored: () => "The app's state from before the release was put back.",
  clone_followed: (data) =>
    data.how === "forwarded" || data.how === "current"
      ? `The agent's clone is at ${text(data.commit, "").slice(0, 12)}.`
      : `The agent's clone got ${text(data.commit, "").slice(0, 12)}; its own work was left as it is.`,
  upstream_merged: (data) => `Commits of people came in from upstream: ${text(data.commit, "")}.`,
  goal_planned: () => "The goal was decomposed into a graph of tasks.",
  goal_planning_failed: (data) => `No method fits the goal${because(data)}.`,
  goal_decomposition_asked: () => "No method fits the goal; a model is asked to decompose it.",
  goal_adopted: () => "The operator adopted the goal with its graph and budgets, by signature.",
  goal_started: () => "Its tasks may run from here on.",
  goal_held: (data) => `Nothing of the goal begins until it is resumed${because(data)}.`,
  goal_resumed: () => "The goal goes on.",
  goal_retried: () => "Tasks of the goal begin anew.",
  goal_satisfied: (data) => `The goal is satisfied${because(data)}.`,
  goal_abandoned: (data) => `The goal was given up${because(data)}.`,
  goal_reopened: () => "The goal is proposed again and takes a new signature.",
  goal_task_claimed: (data) => `The task ${text(data.node, "")} began.`,
  goal_task_waited: (data) => `The task ${text(data.node, "")} waits for ${text(data.on, "it")}.`,
  goal_task_retried: (data) =>
    `The task ${text(data.node, "")} failed and is tried again${because(data)}.`,
  goal_task_finished: (data) =>
    `The task ${text(data.node, "")} is over: ${text(data.outcome, "ended")}.`,
  release_reload_begun: () => "The running app was asked to take the new code over.",
  release_removed: (data) => `${text(data.release, "An old release")} was removed.`,
  release_pushed: (data) =>
    data.pull_request
      ? `What settled was pushed to ${text(data.branch)}; the pull request is ${text(data.pull_request)}.`
      : `What settled was pushed to ${text(data.branch, "your remote")}.`,
  release_push_failed: (data) =>
    `It was not pushed${because(data)}. The deployment stands. Next: ${text(data.next_step, "look at the remote")}.`,
  app_restarted: () => "The app was not running and was started again.",
  app_not_serving: (data) => `The app cannot be started${because(data)}.`,
  code_edit_tried: (data) =>
    `An edit of ${text(data.model)} as ${text(data.format)} ${data.worked ? "could" : "could not"} be used.`,
  server_started: (data) => `The server ${text(data.server)} was started.`,
  server_failed: (data) => `The server ${text(data.server)} failed: ${text(data.why)}.`,
  server_tools_listed: (data) =>
    `The server ${text(data.server)} lists ${Object.keys(inner(data.tools)).length} tools.`,
  server_tools_accepted: (data) =>
    `The operator signed for ${Object.keys(inner(data.tools)).length} tools of ${text(data.server)}.`,
  server_tools_changed: (data) =>
    `Tools of ${text(data.server)} changed and rest: ${Object.keys(inner(data.tools)).join(", ")}.`,
  egress_secret_added: (data) =>
    `The secret ${text(data.secret)} was added to a request for ${text(data.host)}.`,
  stop_reached: (data) => `Machine ${text(data.machine)} carried the stop out.`,
  egress_opened: (data) => `A box is let through to ${text(data.host)}.`,
  clock_accepted: (data) =>
    `The operator accepted the clock by signature: time goes on from ${text(data.time)}.`,
  sandbox_off_allowed: () => "The operator allowed work without a sandbox, by signature.",
  sandbox_off_revoked: () => "Work without a sandbox is not allowed any more.",
  device_subscribed: () => "A browser is told by push from now on.",
  device_forgotten: (data) => `A device is not told any more${because(data)}.`,
  notification_sent: (data) => `Somebody was told through ${text(data.channel, "a channel")}.`,
  notification_failed: (data) =>
    `${text(data.channel, "A channel")} did not take a notification${because(data)}.`,
  deployment_ordered: () => "The operator ordered a deployment, by signature.",
  rollback_ordered: (data) => `The operator ordered ${text(data.release)} back, by signature.`,
  deployment_requested: (data) => `A ${text(data.kind, "deployment")} began.`,
  release_built: (data) => `${text(data.release)} was built and sealed.`,
  release_switched: (data) => `${text(data.release)} is live.`,
  release_retired: () => "A replaced release was drained and ended.",
  deployment_settled: () => "It stayed healthy for its whole watch.",
  deployment_failed: (data) => `It failed${because(data)}.`,
  deployment_rolled_back: (data) => `${text(data.release)} serves again.`,
  rollback_failed: (data) => `No good release could be brought back${because(data)}. Look at it.`,
  commit_quarantined: (data) => `The commit is not deployed again by itself${because(data)}.`,
  job_database_set_aside: (data) => `The job database was set aside and made anew${because(data)}.`,
  ledger_format_raised: (data) =>
    `This data root is written in format ${data.format ?? "?"} from here on.`,
  readiness_matrix_recorded: () => "The operator signed what a run of the test matrix said.",
  smoke_started: () => "A quick check of the running server began.",
  smoke_finished: (data) =>
    data.ok === false
      ? `The quick check failed: ${failing(data.items)}.`
      : "The quick check passed.",
  alert_raised: (data) => `Alert ${text(data.alert)}: ${text(data.text)}.`,
  alert_repeated: (data) => `Alert ${text(data.alert)} lasts: ${text(data.text)}.`,
  alert_resolved: (data) => `Alert ${text(data.alert)} is over: ${text(data.why)}.`,
  alert_silenced: (data) =>
    `The operator silenced ${text(data.alert)} until ${text(data.until)}${because(data)}.`,
  alert_unsilenced: (data) => `The silence of ${text(data.alert)} was ended.`,
  notification_tested: (data) =>
    `A test message was ${data.ok === false ? "NOT taken" : "taken"} by ${text(data.channel, "a channel")}.`,
  ledger_restored: () =>
    "The operator signed that this data root goes on from an older state; what was open is void.",
  ledger_tail_set_aside: () => "A crash tore the end of a segment; it was set aside, whole.",
};

export function sentence(record: LedgerRecord): string {
  const say = SAYINGS[record.type];
  return say ? say(record.data, record) : `${record.type.replaceAll("_", " ")}.`;
}

/** The parts of a quick check that did not answer well. */
function failing(items: unknown): string {
  const parts = Array.isArray(items) ? (items as unknown[]).map(inner) : [];
  const names = parts.filter((part) => part.ok === false).map((part) => text(part.name));
  return names.join(", ") || "some part";
}

/** What was granted, as a list of its values. */
function granted(items: unknown): string {
  const pairs = Array.isArray(items) ? (items as unknown[]) : [];
  const values = pairs.map((pair) => (Array.isArray(pair) ? text(pair[1]) : ""));
  return values.filter(Boolean).join(", ") || "more";
}

/** What a reviewer said: about the whole, or about lines. */
function said(data: Data): string {
  const count = Array.isArray(data.remarks) ? data.remarks.length : 0;
  const lines = count ? `${count} ${count === 1 ? "remark" : "remarks"} on lines` : "";
  return [text(data.text, ""), lines].filter(Boolean).join("; ") || "nothing";
}

function ended(tool: string, outcome: Data): string {
  if (outcome.ok !== false) return `${tool} finished.`;
  if (outcome.code === "needs_approval") return `${tool} waits for the operator.`;
  return `${tool} failed: ${text(outcome.code).replaceAll("_", " ")}.`;
}

/** Reading and counting, which most people want to skip. */
export const ROUTINE: ReadonlySet<string> = new Set([
  "tool_called",
  "budget_spent",
  "approval_announced",
  "agent_step_started",
  "agent_step_decided",
  "agent_action_started",
  "agent_usage_counted",
  "agent_files_exported",
  "agent_global_grants_exported",
  "agent_notified",
]);

export const FAMILIES: [name: string, prefixes: string[]][] = [
  ["Decisions", ["approval_"]],
  ["Calls", ["tool_"]],
  ["Changes", ["change_", "code_modification_", "tests_", "task_", "dry_run_", "readiness_"]],
  ["Plans", ["agent_"]],
  ["Releases", ["release_", "deployment_", "rollback_", "commit_", "app_"]],
  ["Schedules", ["schedule_"]],
  ["Desires and goals", ["desire", "goal_", "idle_"]],
  ["Sandbox", ["box_", "egress_", "sandbox_"]],
  ["Servers", ["server_"]],
  ["Notifications", ["notification_", "device_"]],
  ["Operation", ["alert_", "smoke_"]],
  ["Safety", ["flag_", "config_", "operator_", "work_", "token_", "session_", "passkey_", "data_"]],
];

export function family(type: string): string {
  const found = FAMILIES.find(([, prefixes]) => prefixes.some((prefix) => type.startsWith(prefix)));
  return found?.[0] ?? "Other";
}
