/** A plan as nodes: how each checkpoint stands, which steps it took, what they cost. */

import type { CheckpointCost, Plan, Step } from "../api/plans";
import { type Tone, toneOf } from "../parts/Badge";

/** A bar: one step, or as many as `share` of those that are not listed any more. */
export type Tick = { key: string; tone: Tone; title: string; share: number };
export type Node = {
  id: string;
  title: string;
  tone: Tone;
  words: string;
  spent: number;
  budget: number;
  tokens: number;
  milliseconds: number;
  ticks: Tick[];
};

const MOST_BARS = 60;
const NOTHING = { steps: 0, tokens: 0, milliseconds: 0, outcomes: {} };
const NOT_BEGUN = new Set(["draft_pending", "awaiting_approval", "approved"]);

export function nodesOf(plan: Plan): Node[] {
  return (plan.plan?.checkpoints ?? []).map((checkpoint, index) => {
    const steps = plan.steps_taken.filter((step) => step.checkpoint === index);
    const cost = plan.costs.find((each) => each.checkpoint === index) ?? NOTHING;
    const now = index === plan.progress.number;
    return {
      id: checkpoint.id,
      title: checkpoint.title,
      ...standing(plan, index),
      spent: now ? plan.progress.steps_spent : cost.steps,
      budget: (now ? plan.progress.step_budget : null) ?? checkpoint.step_budget,
      tokens: cost.tokens,
      milliseconds: cost.milliseconds,
      ticks: [...earlier(cost.outcomes, steps), ...steps.map(tick)],
    };
  });
}

const wentHow = (step: Step): string => step.outcome ?? step.state;

const tick = (step: Step): Tick => ({
  key: String(step.step),
  tone: toneOf(wentHow(step)),
  title: `step ${step.step}: ${wentHow(step)}`,
  share: 1,
});

/** The steps before those that are listed, joined by how they ended. */
function earlier(outcomes: CheckpointCost["outcomes"], listed: Step[]): Tick[] {
  return Object.entries(outcomes).flatMap(([outcome, count]) => {
    const share = count - listed.filter((step) => wentHow(step) === outcome).length;
    const title = `${share} earlier: ${outcome}`;
    return share > 0 ? [{ key: outcome, tone: toneOf(outcome), title, share }] : [];
  });
}

/** How long a step took, from the call of the model to its end; one under way has no length yet. */
export const took = (step: Step): number =>
  step.ended_at ? Math.max(Date.parse(step.ended_at) - Date.parse(step.started_at), 0) : 0;

/** The steps that are left, as shares of the bar: one for each, or all in one where they are many. */
export function roomOf(node: Node): number[] {
  const left = Math.max(node.budget - drawn(node), 0);
  if (node.budget > MOST_BARS) return left ? [left] : [];
  return Array.from({ length: left }, () => 1);
}

const drawn = (node: Node): number => node.ticks.reduce((sum, each) => sum + each.share, 0);

function standing(plan: Plan, index: number): { tone: Tone; words: string } {
  if (index < plan.checkpoints_done) return { tone: "good", words: "done" };
  if (index !== plan.progress.number || NOT_BEGUN.has(plan.state)) {
    return { tone: "plain", words: "not begun" };
  }
  if (plan.state.startsWith("blocked_") || plan.state === "paused") {
    return { tone: toneOf(plan.state), words: plan.state.replaceAll("_", " ") };
  }
  if (plan.state === "running" || plan.state === "checkpoint_completed") {
    return { tone: "accent", words: "under way" };
  }
  return { tone: "bad", words: `ended here: ${plan.state.replaceAll("_", " ")}` };
}
