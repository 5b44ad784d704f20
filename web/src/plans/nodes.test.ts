import { expect, it } from "vitest";
import type { Plan, Step } from "../api/plans";
import { nodesOf, roomOf } from "./nodes";

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
    costs: [
      { checkpoint: 0, steps: 2, tokens: 200, milliseconds: 5_000, outcomes: { ok: 1, failed: 1 } },
      { checkpoint: 1, steps: 1, tokens: 100, milliseconds: 0, outcomes: { acting: 1 } },
    ],
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

it("shows what a checkpoint cost as the server added it up, and a bar a step", () => {
  const [first, second] = nodesOf(plan("running"));
  expect(first).toMatchObject({ spent: 2, budget: 4, tokens: 200, milliseconds: 5_000 });
  expect(second).toMatchObject({ spent: 1, budget: 9, tokens: 100, milliseconds: 0 });
  expect(first?.ticks.map(({ tone }) => tone)).toEqual(["good", "bad"]);
});

it("joins the steps that are not listed any more, before those that are", () => {
  const outcomes = { ok: 41, failed: 30 };
  const costs = [{ checkpoint: 0, steps: 71, tokens: 7_100, milliseconds: 90_000, outcomes }];
  const [first] = nodesOf(plan("running", { costs }));
  expect(first).toMatchObject({ spent: 71, tokens: 7_100, milliseconds: 90_000 });
  expect(first?.ticks.map(({ tone, share }) => [tone, share])).toEqual([
    ["good", 40],
    ["bad", 29],
    ["good", 1],
    ["bad", 1],
  ]);
  expect(first && roomOf({ ...first, budget: 200 })).toEqual([129]);
});

it("draws the room that is left, however large", () => {
  const [first] = nodesOf(plan("running"));
  expect(first && roomOf(first)).toEqual([1, 1]);
  expect(first && roomOf({ ...first, budget: 200 })).toEqual([198]);
  expect(first && roomOf({ ...first, budget: 1 })).toEqual([]);
});

it("has begun nothing while it waits for its approval", () => {
  const more = { checkpoints_done: 0, progress: { number: 0 } as Plan["progress"] };
  const words = nodesOf(plan("awaiting_approval", more)).map((node) => node.words);
  expect(new Set(words)).toEqual(new Set(["not begun"]));
});
