import { expect, test } from "vitest";
import type { Goal, GoalTask } from "../api/goals";
import {
  adoptable,
  brief,
  budgetsOf,
  canRetry,
  changesOf,
  costOf,
  criteriaOf,
  movesOf,
  originOf,
} from "./words";

const task = (more: Partial<GoalTask>): GoalTask =>
  ({
    ...{ id: "node_1", state: "succeeded", path: "top/a", outputs: {}, waits_on: "" },
    ...{ started_at: "2026-03-01T12:00:00Z", milliseconds: 1200, tokens: 0, model_calls: 0 },
    begun: 1,
    ...more,
  }) as GoalTask;
const goal = (more: Partial<Goal>): Goal =>
  ({
    ...{ id: "goal_1", state: "executing", held: "", criteria: [], checks: [], tasks: [task({})] },
    budget: { model_calls: 20, tokens: 100, minutes: 10 },
    usage: { model_calls: 2, tokens: 50, milliseconds: 90_000, money: 0 },
    money_limit: null,
    ...more,
  }) as Goal;
const names = (it: Goal) => movesOf(it).map(({ move }) => move);

test("what can be done with a goal follows from its state", () => {
  expect(names(goal({}))).toEqual(["pause"]);
  expect(names(goal({ state: "blocked", held: "paused" }))).toEqual(["run", "close"]);
  expect(
    names(goal({ state: "blocked", held: "task_failed", tasks: [task({ state: "pending" })] })),
  ).toEqual([]);
  expect(names(goal({ state: "blocked", held: "criteria_failed" }))).toEqual(["run", "close"]);
  for (const held of ["deadline_passed", "no_criteria", "not_signed", "over_cap"]) {
    expect(names(goal({ state: "blocked", held }))).toEqual(["close"]);
  }
  expect(names(goal({ state: "satisfied" }))).toEqual(["reopen"]);
  expect(names(goal({ state: "proposed" }))).toEqual([]);
});

test("a proposed goal with a graph and one that spent its budget take a signature", () => {
  expect(adoptable(goal({ state: "proposed" }))).toBe(true);
  expect(adoptable(goal({ state: "proposed", tasks: [] }))).toBe(false);
  expect(adoptable(goal({ state: "blocked", held: "budget_spent" }))).toBe(true);
  expect(adoptable(goal({}))).toBe(false);
});

test("only a task that is over is retried, and only while its goal is under way", () => {
  expect(canRetry(goal({}), task({}))).toBe(true);
  expect(canRetry(goal({}), task({ state: "running" }))).toBe(false);
  expect(canRetry(goal({ state: "satisfied" }), task({}))).toBe(false);
  expect(canRetry(goal({ state: "blocked", held: "deadline_passed" }), task({}))).toBe(false);
});

test("time and cost of a task are told in short", () => {
  expect([brief(12), brief(1200), brief(125_000)]).toEqual(["12 ms", "1.2 s", "2 min 5 s"]);
  expect(costOf(task({ tokens: 1500, model_calls: 1, begun: 2 }))).toBe(
    "1.2 s · 1,500 tokens · 1 model call · begun 2 times",
  );
  expect(costOf(task({ started_at: null }))).toBe("");
  expect(costOf(task({ state: "running", milliseconds: 0 }))).toBe("since 12:00:00Z");
});

test("budgets say what was used of what", () => {
  expect(budgetsOf(goal({}))).toEqual([
    { name: "model calls", value: 2, max: 20 },
    { name: "tokens", value: 50, max: 100 },
    { name: "minutes", value: 1.5, max: 10 },
  ]);
});

test("a budget of money counts as often as it was signed for, in its currency", () => {
  const budget = { model_calls: 20, tokens: 100, minutes: 10, money: "0.50 EUR" };
  const usage = { model_calls: 2, tokens: 50, milliseconds: 0, money: 0.7 };
  const last = budgetsOf(goal({ budget, usage, money_limit: 1 })).at(-1);
  expect(last).toEqual({ name: "EUR", value: 0.7, max: 1 });
});

test("a criterion has the result of its own check", () => {
  const criteria = [{ command: "make test" }, { file: "a.py" }];
  const checks = [{ criterion: "file a.py", holds: false, detail: "not there" }];
  expect(criteriaOf(goal({ criteria, checks })).map(({ holds }) => holds)).toEqual([null, false]);
});

test("changes are found in what tasks gave and wait for, each once", () => {
  const tasks = [
    task({ waits_on: "chg_0a" }),
    task({ outputs: { change: "chg_0a" } }),
    task({ outputs: { change: "../evil" }, waits_on: "apr_1" }),
  ];
  expect(changesOf(tasks)).toEqual(["chg_0a"]);
});

test("a goal says whose proposal it is", () => {
  expect(["agent", "rollback", "schedule"].map(originOf)).toEqual([
    "by an agent",
    "after a rollback",
    "by schedule",
  ]);
});
