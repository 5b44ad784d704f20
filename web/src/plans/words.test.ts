import { expect, it } from "vitest";
import {
  answersTo,
  blockInWords,
  groupOf,
  resultInWords,
  wantedInWords,
  withBudget,
  withoutGrant,
} from "./words";

it("puts what only a person can move on first", () => {
  for (const state of ["awaiting_approval", "paused", "blocked_on_permission", "blocked_on_llm"]) {
    expect(groupOf(state)).toBe("Waiting for you");
  }
  expect(groupOf("running")).toBe("Under way");
  expect(groupOf("draft_pending")).toBe("Under way");
  expect(groupOf("draft_pending", true)).toBe("Waiting for you");
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

const HOST = {
  step: 3,
  items: [["network_domains", "packages.example.com"]] as [string, string][],
  action: {
    kind: "tool",
    tool: "run_in_sandbox",
    arguments: { command: ["sh", "-c", "fetch it"] },
  },
};

it("says what a step wanted, and keeps to the letter what has to be read exactly", () => {
  expect(wantedInWords(HOST)).toEqual({
    what: "run a command in its sandbox:",
    exactly: "sh -c fetch it",
  });
  const read = { tool: "delete_file", arguments: { path: "a.md" } };
  expect(wantedInWords(read)).toEqual({ what: "call delete_file with:", exactly: "a.md" });
  expect(wantedInWords({ budget: 3 })).toBeNull();
});

it("shows of a command what it printed, and of anything else all of it", () => {
  const ran = JSON.stringify({ reason: "exit code 1", stdout: "", stderr: "no such host" });
  expect(resultInWords(ran)).toBe("exit code 1\nno such host");
  expect(resultInWords(`refused while it ran: a.b\n${ran}`)).toBe(
    "refused while it ran: a.b\nexit code 1\nno such host",
  );
  for (const text of ["sent", '{"items": []}', '{"cut off', "[1]", "null"]) {
    expect(resultInWords(text)).toBe(text);
  }
});

it("says of every answer what it does, also that a step which ran would run again", () => {
  const words = (block: Parameters<typeof answersTo>[1]) =>
    Object.fromEntries(
      answersTo("blocked_on_permission", block).map(({ answer, means }) => [answer, means]),
    );
  expect(Object.keys(words(HOST))).toEqual(["Grant once", "Grant to this plan", "Skip", "Abort"]);
  expect(words(HOST)["Grant once"]).toContain("the step runs, with exactly this");
  const ran = words({ ...HOST, ran: { outcome: "ok", result: "" } });
  expect(ran["Grant once"]).toContain("the step runs once more");
  expect(ran.Skip).toContain("does not ask for it again");
  expect(answersTo("blocked_on_budget", { budget: 3 })).toEqual([]);
});
