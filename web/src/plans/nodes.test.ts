import { expect, it } from "vitest";
import type { Plan, Step } from "../api/plans";
import { nodesOf, shareOf } from "./nodes";

const step = (number: number, checkpoint: number, outcome: string | null, seconds = 2): Step => ({
  step: number,
  checkpoint,
  state: outcome ? "finished" : "acting",
  action: null,
  destructive: false,
  outcome,
  result: null,
  started_at: "2026-01-01T00:00:00Z",
  ended_at: outcome ? `2026-01-01T00:00:0${seconds}Z` : null,
  tokens: 100,
});

const checkpoint = (title: string) => ({
  id: title,
  title,
  description: "",
  skills_needed: [],
  expected_output: "",
  step_budget: 4,
});

const plan = (state: string, more: Partial<Plan> = {}): Plan =>
  ({
    state,
    checkpoints_done: 1,
    plan: { checkpoints: ["Read", "Write", "Send"].map(checkpoint) },
    progress: { number: 1, step: 3, steps_spent: 1, step_budget: 9 },
    steps_taken: [step(1, 0, "ok"), step(2, 0, "failed", 3), step(3, 1, null)],
    ...more,
  }) as Plan;

it("colours every checkpoint by how it stands", () => {
  const words = nodesOf(plan("blocked_on_permission")).map(({ tone, words }) => [tone, words]);
  expect(words).toEqual([
    ["good", "done"],
    ["warn", "blocked on permission"],
    ["plain", "not begun"],
  ]);
  expect(nodesOf(plan("running"))[1]?.tone).toBe("accent");
  expect(nodesOf(plan("aborted"))[1]).toMatchObject({ tone: "bad", words: "ended here: aborted" });
});

it("adds up what the steps of a checkpoint cost", () => {
  const [first, second] = nodesOf(plan("running"));
  expect(first).toMatchObject({ spent: 2, budget: 4, tokens: 200, milliseconds: 5_000 });
  expect(second).toMatchObject({ spent: 1, budget: 9, tokens: 100, milliseconds: 0 });
  expect(first?.ticks.map(({ tone }) => tone)).toEqual(["good", "bad"]);
});

it("draws the room that is left, however large", () => {
  const [first] = nodesOf(plan("running"));
  expect(first && shareOf(first)).toHaveLength(2);
  expect(first && shareOf({ ...first, budget: 200 })).toHaveLength(58);
});

it("has begun nothing while it waits for its approval", () => {
  const more = { checkpoints_done: 0, progress: { number: 0 } as Plan["progress"] };
  const words = nodesOf(plan("awaiting_approval", more)).map((node) => node.words);
  expect(new Set(words)).toEqual(new Set(["not begun"]));
});
