import { expect, test } from "vitest";
import type { LedgerRecord } from "../api/model";
import { storyTitle } from "./storyTitle";

const record = (subject: string, data: Record<string, unknown>): LedgerRecord =>
  ({ subject, data }) as unknown as LedgerRecord;

test("a story is named by the record about its subject", () => {
  const records = [
    record("cor_1", { text: "something else" }),
    record("apr_1", { summary: "fetch_url https://example.com" }),
  ];
  expect(storyTitle(records, "apr_1")).toBe("fetch_url https://example.com");
});

test("a change is named by its reason, a plan by its first goal, research by its question", () => {
  expect(storyTitle([record("chg_1", { about: { reason: "greet" } })], "chg_1")).toBe("greet");
  const plan = record("plan_1", { plan: { goals: ["tidy up", "more"] } });
  expect(storyTitle([plan], "plan_1")).toBe("tidy up");
  const asked = record("res_1", { request: { question: "why?" } });
  expect(storyTitle([asked], "res_1")).toBe("why?");
});

test("a story whose records name nothing has no title", () => {
  expect(storyTitle([record("x", { count: 3, about: ["list"], plan: null })], "x")).toBeUndefined();
});
