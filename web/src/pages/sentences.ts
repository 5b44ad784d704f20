/** A record of the ledger as a sentence a person can read. Unknown types are named, not hidden. */

import type { LedgerRecord } from "../api/model";

type Data = Record<string, unknown>;
type Say = (data: Data, record: LedgerRecord) => string;

const text = (value: unknown, fallback = "something"): string =>
  typeof value === "string" && value ? value : fallback;
const inner = (value: unknown): Data => (value && typeof value === "object" ? (value as Data) : {});
const percent = (value: unknown): string =>
  typeof value === "number" ? `${Math.round(value * 100)} %` : "an unknown strength";
const because = (data: Data): string =>
  data.reason && data.reason !== "ok" ? `: ${text(data.reason).replaceAll("_", " ")}` : "";

const SAYINGS: Record<string, Say> = {
  data_root_created: () => "This data root was made, with its keys.",
  operator_key_rotated: () => "A new operator key came into force.",
  config_signed: () => "The operator signed the configuration.",
  flag_set: (data) => `${text(data.name)} was turned ${data.on ? "on, by signature" : "off"}.`,
  budget_spent: (data) => `A start counted against the budget of ${text(data.name)}.`,
  tool_called: (data) => `Read with ${text(data.tool)}.`,
  tool_started: (data) => `${text(data.tool)} was allowed and began.`,
  tool_finished: (data) => ended(text(data.tool), inner(data.outcome)),
  tool_interrupted: (data) => `${text(data.tool, "A call")} was cut off by a crash.`,
  tool_refused: (data) =>
    `${text(data.tool)} was not run: ${text(inner(data.decision).explanation)}.`,
  approval_requested: (data) => `Waits for a decision: ${text(data.summary)}.`,
  approval_granted: () => "The operator approved it, by signature, for this digest.",
  approval_rejected: (data) => `Rejected${because(data)}.`,
  approval_expired: () => "Nobody decided or used it in time.",
  approval_used: () => "The approval was used up.",
  approval_went_stale: (data) => `The approval was withdrawn${because(data)}.`,
  approval_token_exported: () => "The approval was written to its token file.",
  approval_token_refused: (data) => `A token file did not fit the ledger${because(data)}.`,
  approval_announced: () => "Somebody still waits; it was announced again.",
  schedule_created: (data) => `A schedule was made: ${text(data.name)}.`,
  schedule_modified: (data) => `The schedule ${text(data.name, "")} was changed.`,
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
  desire_promoted: () => "The operator made a goal of a desire.",
  desires_surveyed: () => "The idle policy noted what is wanted most.",
  goal_created: (data) => `A new goal: ${text(data.text)}`,
  egress_attempted: (data) =>
    `A box tried to reach ${text(data.host)}; it was ${data.allowed ? "let through" : "kept in"}.`,
  box_ended: (data) => `A box ended${because(data)}.`,
  work_stopped: () => "Everything the agent ran was ended.",
  work_started: () => "The operator let work start again, by signature.",
  session_opened: (data) => `Somebody came in through a ${text(data.by)}.`,
  session_closed: () => "Somebody logged out.",
  token_created: (data) => `A token was made for ${text(data.name)}, role ${text(data.role)}.`,
  token_revoked: () => "A token was taken back.",
  ledger_tail_set_aside: () => "A crash tore the end of a segment; it was set aside, whole.",
};

export function sentence(record: LedgerRecord): string {
  const say = SAYINGS[record.type];
  return say ? say(record.data, record) : `${record.type.replaceAll("_", " ")}.`;
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
]);

export const FAMILIES: [name: string, prefixes: string[]][] = [
  ["Decisions", ["approval_"]],
  ["Calls", ["tool_"]],
  ["Changes", ["change_"]],
  ["Plans", ["plan_", "agent_"]],
  ["Releases", ["release_", "deploy", "rollback"]],
  ["Schedules", ["schedule_"]],
  ["Desires and goals", ["desire", "goal_", "idle_"]],
  ["Sandbox", ["box_", "egress_"]],
  ["Safety", ["flag_", "config_", "operator_", "work_", "token_", "session_", "passkey_"]],
];

export function family(type: string): string {
  const found = FAMILIES.find(([, prefixes]) => prefixes.some((prefix) => type.startsWith(prefix)));
  return found?.[0] ?? "Other";
}
