/** What a goal and its tasks are, in words for a page. */

import type { Goal, GoalBrief, GoalTask } from "../api/goals";
import type { Tone } from "../parts/Badge";

export const GROUPS = ["Waiting for you", "Under way", "Over"] as const;
const OVER = new Set(["satisfied", "abandoned"]);
const WAITING = new Set(["proposed", "blocked"]);

export function groupOf(state: string): (typeof GROUPS)[number] {
  if (OVER.has(state)) return "Over";
  return WAITING.has(state) ? "Waiting for you" : "Under way";
}

const HELD: Record<string, string> = {
  paused: "It is paused: nothing of it begins.",
  task_failed: "A task failed for good. Retry it, from there or from a task before it.",
  budget_spent: "Its budget is used up. Your signature gives it the same budget once more.",
  deadline_passed: "Its deadline is over. Abandon it, and propose it anew.",
  no_criteria: "Its tasks are over, and it has no success criteria: you say whether it is reached.",
  criteria_failed: "Its tasks are over, and a success criterion does not hold.",
  over_cap: "A cap on what models may use has no room now. It goes on by itself when there is.",
  not_signed: "Its graph is not the one that was signed. Abandon it.",
};

/** Why a goal stands still, or nothing. */
export function standstill(goal: Goal): string {
  if (goal.held) return HELD[goal.held] ?? goal.held.replaceAll("_", " ");
  if (goal.state === "blocked") return "A task of it waits for somebody.";
  if (goal.state === "proposed" && goal.tasks.length === 0) {
    return "It has no graph yet.";
  }
  return goal.state === "proposed" ? "It waits for your signature." : "";
}

/** What going on does, where it does something: any other hold would come back at once. */
const RESUMED: Record<string, string> = {
  paused: "its tasks may begin again",
  criteria_failed: "its success criteria are checked again",
};

export type Move = { move: "run" | "pause" | "close" | "reopen"; name: string; about: string };

/** What can be done with a goal without a signature. */
export function movesOf(goal: Goal): Move[] {
  const pause = { move: "pause" as const, name: "Pause", about: "nothing of it begins" };
  const close = { move: "close" as const, name: "It is reached", about: "by your own judgement" };
  const reopen = { move: "reopen" as const, name: "Reopen", about: "planned and signed anew" };
  if (OVER.has(goal.state)) return [reopen];
  if (goal.state === "executing") return [pause];
  if (goal.state !== "blocked") return [];
  const done = goal.tasks.every(({ state }) => ENDED.has(state));
  const about = RESUMED[goal.held];
  const run = about ? [{ move: "run" as const, name: "Go on", about }] : [];
  return [...run, ...(goal.held ? [] : [pause]), ...(done ? [close] : [])];
}

const ENDED = new Set(["succeeded", "failed", "skipped"]);

export const canRetry = (goal: Goal, task: GoalTask): boolean =>
  ["executing", "blocked"].includes(goal.state) &&
  !["budget_spent", "deadline_passed"].includes(goal.held) &&
  ENDED.has(task.state);

export const adoptable = (goal: Goal): boolean =>
  (goal.state === "proposed" && goal.tasks.length > 0) || goal.held === "budget_spent";

const TONES: Record<string, Tone> = {
  pending: "plain",
  running: "accent",
  waiting: "warn",
  succeeded: "good",
  failed: "bad",
  skipped: "plain",
};

export const toneOfTask = (state: string): Tone => TONES[state] ?? "plain";

const ORIGINS: Record<string, string> = {
  agent: "by an agent",
  operator: "by the operator",
  desire: "because of a desire",
  rollback: "after a rollback",
};

/** Whose proposal a goal is, behind the word “proposed”. */
export const originOf = (source: string): string => ORIGINS[source] ?? `by ${source}`;

/** How long something took, in a few characters. */
export function brief(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** What a task took and used, as far as it went. */
export function costOf(task: GoalTask): string {
  if (!task.started_at) return "";
  const since = `since ${task.started_at.slice(11, 19)}Z`;
  const parts = [task.state === "running" ? since : brief(task.milliseconds)];
  if (task.tokens) parts.push(`${task.tokens.toLocaleString("en")} tokens`);
  if (task.model_calls) {
    parts.push(`${task.model_calls} model ${task.model_calls === 1 ? "call" : "calls"}`);
  }
  if (task.begun > 1) parts.push(`begun ${task.begun} times`);
  return parts.join(" · ");
}

export const nameOf = (task: Pick<GoalTask, "path">): string => task.path.split("/").at(-1) ?? "";

export type Gauged = { name: string; value: number; max: number };

/** What a goal has used of what it may. */
export function budgetsOf(goal: GoalBrief): Gauged[] {
  const { budget, usage } = goal;
  const minutes = Math.round((usage.milliseconds ?? 0) / 6_000) / 10;
  const counts = [
    { name: "model calls", value: usage.model_calls ?? 0, max: Number(budget.model_calls ?? 0) },
    { name: "tokens", value: usage.tokens ?? 0, max: Number(budget.tokens ?? 0) },
    { name: "minutes", value: minutes, max: Number(budget.minutes ?? 0) },
  ];
  if (goal.money_limit === null) return counts;
  const currency = String(budget.money).split(" ")[1] ?? "";
  return [...counts, { name: currency, value: usage.money ?? 0, max: goal.money_limit }];
}

const CRITERIA: Record<string, (value: string) => string> = {
  file: (value) => `${value} is in the target`,
  outcome: () => "what came of it is in service, and nothing was taken back",
  metric: (value) => value.replaceAll("_", " "),
};

export type Criterion = { text: string; holds: boolean | null; detail: string };

/** The success criteria with how each went when they were last run. */
export function criteriaOf(goal: GoalBrief): Criterion[] {
  return goal.criteria.flatMap((criterion) =>
    Object.entries(criterion).map(([kind, value]) => {
      const check = goal.checks.find((each) => each.criterion === `${kind} ${value}`);
      const text = CRITERIA[kind]?.(value) ?? `“${value}” passes in the sandbox`;
      return { text, holds: check?.holds ?? null, detail: check?.detail ?? "" };
    }),
  );
}

/** The changes that tasks of a goal brought about, in the order of its graph. */
export function changesOf(tasks: GoalTask[]): string[] {
  const ids = tasks.flatMap((task) => [String(task.outputs.change ?? ""), task.waits_on]);
  return [...new Set(ids.filter((id) => /^chg_[0-9a-f]+$/.test(id)))];
}
