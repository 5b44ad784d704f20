/** A plan as nodes: how each checkpoint stands, which steps it took, what they cost. */

import type { Plan, Step } from "../api/plans";
import { type Tone, toneOf } from "../parts/Badge";

export type Tick = { step: number; tone: Tone; title: string };
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
const NOT_BEGUN = new Set(["draft_pending", "awaiting_approval", "approved"]);

export function nodesOf(plan: Plan): Node[] {
  return (plan.plan?.checkpoints ?? []).map((checkpoint, index) => {
    const steps = plan.steps_taken.filter((step) => step.checkpoint === index);
    const now = index === plan.progress.number;
    return {
      id: checkpoint.id,
      title: checkpoint.title,
      ...standing(plan, index),
      spent: now ? plan.progress.steps_spent : steps.length,
      budget: (now ? plan.progress.step_budget : null) ?? checkpoint.step_budget,
      tokens: steps.reduce((sum, step) => sum + step.tokens, 0),
      milliseconds: steps.reduce((sum, step) => sum + took(step), 0),
      ticks: steps.map((step) => ({
        step: step.step,
        tone: toneOf(step.outcome ?? step.state),
        title: `step ${step.step}: ${step.outcome ?? step.state}`,
      })),
    };
  });
}

/** How long a step took, from the call of the model to its end; one under way has no length yet. */
export const took = (step: Step): number =>
  step.ended_at ? Math.max(Date.parse(step.ended_at) - Date.parse(step.started_at), 0) : 0;

/** The steps that are left, as keys for bars; many are drawn as a few. */
export const shareOf = (node: Node): number[] =>
  Array.from(
    { length: Math.max(Math.min(node.budget, MOST_BARS) - node.ticks.length, 0) },
    (_, room) => room,
  );

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
