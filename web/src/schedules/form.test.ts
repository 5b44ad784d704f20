import { expect, it } from "vitest";
import type { Schedule } from "../api/model";
import { bodyOf, differences, formOf, moved, needsNewApproval, onTopOf, parsed } from "./form";

const SCHEDULE = {
  id: "sch_1",
  name: "Look",
  cron_expression: "0 7 * * *",
  timezone: "UTC",
  target_tool: "astra.desires.list",
  payload: { limit: 3 },
  safety_tier: 0,
  per_day_budget: 4,
  attempts: 1,
  after: [],
  state: "active",
  etag: "one",
} as unknown as Schedule;
const with_ = (changes: Partial<Schedule>): Schedule => ({ ...SCHEDULE, ...changes });

it("finds nothing different in what nobody touched, and sends nothing", () => {
  const form = formOf(SCHEDULE);
  expect(differences(SCHEDULE, form, 0)).toEqual([]);
  expect(bodyOf([], form, 0)).toEqual({});
});

it("says what changes and sends only that", () => {
  const form = { ...formOf(SCHEDULE), cron_expression: "0 8 * * *", per_day_budget: "6" };
  const found = differences(SCHEDULE, form, 0);
  expect(found.map(({ label, before, after }) => [label, before, after])).toEqual([
    ["Firings a day, at most", "4", "6"],
    ["Cron expression", "0 7 * * *", "0 8 * * *"],
  ]);
  expect(bodyOf(found, form, 0)).toEqual({ cron_expression: "0 8 * * *", per_day_budget: 6 });
  expect(needsNewApproval(found)).toBe(false);
});

it("raises the tier with a riskier tool, shows it, and never lowers it", () => {
  const form = { ...formOf(SCHEDULE), target_tool: "fetch_url", payload: '{"url": "x"}' };
  const found = differences(SCHEDULE, form, 2);
  expect(found.map(({ field }) => field)).toEqual(["target_tool", "payload", "safety_tier"]);
  expect(bodyOf(found, form, 2)).toEqual({
    target_tool: "fetch_url",
    payload: { url: "x" },
    safety_tier: 2,
  });
  expect(needsNewApproval(found)).toBe(true);
  const stricter = with_({ safety_tier: 2 });
  expect(differences(stricter, formOf(stricter), 0)).toEqual([]);
});

it("tells what somebody else did, also what the form does not show", () => {
  const theirs = { timezone: "Europe/Berlin", attempts: 3, after: ["sch_2"], state: "paused" };
  const now = with_({ ...theirs, etag: "two" });
  expect(moved(SCHEDULE, now).map(({ field, after }) => [field, after])).toEqual([
    ["timezone", "Europe/Berlin"],
    ["attempts", "3"],
    ["after", "sch_2"],
    ["state", "paused"],
  ]);
});

it("puts edits on top of what somebody else did, without undoing it", () => {
  const now = with_({ timezone: "Europe/Berlin", cron_expression: "0 9 * * *", etag: "two" });
  const form = { ...formOf(SCHEDULE), cron_expression: "0 8 * * *" };
  const both = onTopOf(now, SCHEDULE, form);
  expect(both).toEqual({ ...formOf(now), cron_expression: "0 8 * * *" });
  expect(differences(now, both, 0).map(({ field }) => field)).toEqual(["cron_expression"]);
});

it("reads arguments only where they are an object", () => {
  expect(parsed("")).toEqual({});
  expect([parsed("[1]"), parsed("1"), parsed("null"), parsed("{")]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});
