import { expect, it } from "vitest";
import { blockInWords, groupOf, withBudget, withoutGrant } from "./words";

it("puts what only a person can move on first", () => {
  for (const state of ["awaiting_approval", "paused", "blocked_on_permission", "blocked_on_llm"]) {
    expect(groupOf(state)).toBe("Waiting for you");
  }
  expect(groupOf("running")).toBe("Under way");
  expect(groupOf("aborted")).toBe("Over");
  expect(groupOf("something new")).toBe("Waiting for you");
});

it("says in words why a plan stands still", () => {
  expect(blockInWords("blocked_on_budget")).toContain("used up");
  expect(blockInWords("running")).toBeUndefined();
});

it("words edits as the server takes them", () => {
  expect(withoutGrant("network_domains", "a.org")).toEqual({
    op: "remove",
    path: "manifest.network_domains",
    value: "a.org",
  });
  expect(withBudget(2, 10)).toEqual({ op: "set", path: "checkpoints.2.step_budget", value: 10 });
});
