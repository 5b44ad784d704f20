import type { PlanBrief } from "../api/plans";

const OVER = new Set(["rejected", "plan_failed", "aborted", "completed"]);
const WORKING = new Set(["approved", "running", "checkpoint_completed", "draft_pending"]);

export function groupOf(state: string): "Waiting for you" | "Under way" | "Over" {
  if (OVER.has(state)) return "Over";
  return WORKING.has(state) ? "Under way" : "Waiting for you";
}

export function titleOf(plan: PlanBrief): string {
  return plan.goals[0] ?? plan.description;
}

const BLOCKS: Record<string, string> = {
  blocked_on_permission: "It wants something that it was not granted.",
  blocked_on_destructive: "The next step takes something away for good, and waits to be confirmed.",
  blocked_on_budget: "The steps of this checkpoint are used up.",
  blocked_on_llm: "The model does not answer.",
  paused: "It is paused.",
};

export const blockInWords = (state: string): string | undefined => BLOCKS[state];

/** An edit as the server takes it: the plan's document, one place at a time. */
export type Edit = { op: "set" | "add" | "remove"; path: string; value?: unknown };

export const withoutGrant = (kind: string, value: string): Edit => ({
  op: "remove",
  path: `manifest.${kind}`,
  value,
});

export const withBudget = (checkpoint: number, steps: number): Edit => ({
  op: "set",
  path: `checkpoints.${checkpoint}.step_budget`,
  value: steps,
});
