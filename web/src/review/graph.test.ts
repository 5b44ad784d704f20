import { expect, test } from "vitest";
import type { Change } from "../api/changes";
import type { GoalTask } from "../api/goals";
import { graphOf } from "./graph";
import type { Journey } from "./journey";

const change = (more: Partial<Change>): Change =>
  ({
    id: "chg_1",
    state: "executed",
    reason: "greet kindly",
    diff: { sha256: "", files: 1, added: 2, removed: 0 },
    desire: "des_1",
    goal: "goal_1",
    goal_text: "be kind",
    plan: null,
    supersedes: null,
    evidence: { verdict: "passed", words: "", complete: true, runs: [] },
    ...more,
  }) as Change;
const done = (name: string) => ({ name, progress: "done" as const, words: "" });

test("the graph goes from the desire to the rollback, and the last arrow goes back", () => {
  const steps = [done("Approved"), done("Merged"), done("Built"), done("Taken back")];
  const nodes = graphOf(change({}), { steps, ending: "taken back" });
  expect(nodes.map(({ kind }) => kind)).toEqual([
    "desire",
    "goal",
    "change",
    "tests",
    "approved",
    "merged",
    "built",
    "rollback",
  ]);
  expect(nodes.filter(({ back }) => back).map(({ kind }) => kind)).toEqual(["rollback"]);
});

test("a way back undoes the service, and neither the approval nor the merge", () => {
  const out = { ...done("Taken back"), progress: "failed" as const };
  const steps = [done("Merged"), done("Built"), done("In service"), done("Watched"), out];
  const texts = (ending: Journey["ending"]) =>
    graphOf(change({}), { steps, ending })
      .slice(-5)
      .map(({ text }) => text);
  const undone = "done, then undone";
  expect(texts("taken back")).toEqual(["done", "done", undone, undone, "serves no more"]);
  expect(texts("failed").at(-1)).toBe("failed");
});

test("a change that waits ends with the review, whatever its journey says", () => {
  const journey: Journey = { steps: [done("Approved")], ending: "under way" };
  const kinds = graphOf(change({ state: "awaiting_approval", desire: null }), journey);
  expect(kinds.at(-1)).toMatchObject({ kind: "review", tone: "accent" });
});

test("tasks of the goal stand between it and the change, up to the one that made it", () => {
  const task = (id: string, change = "") =>
    ({
      id,
      state: "succeeded",
      path: `top/${id}`,
      outputs: { change },
      waits_on: "",
    }) as unknown as GoalTask;
  const tasks = [task("look"), task("write", "chg_1"), task("deploy")];
  const nodes = graphOf(change({}), { steps: [], ending: "under way" }, tasks);
  expect(nodes.map(({ text, kind }) => (kind === "task" ? text : kind))).toEqual([
    ...["desire", "goal", "look: succeeded", "write: succeeded", "change", "tests"],
  ]);
});
