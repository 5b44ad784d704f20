import { expect, it } from "vitest";
import type { Approval } from "../api/model";
import type { PlanBrief } from "../api/plans";
import { ageing, byUrgency, inbox } from "./waiting";

const approval = (id: string, requested_at: string, expires_at: string): Approval => ({
  id,
  kind: "tool_call",
  subject_id: "fetch_url",
  digest: "d",
  state: "pending",
  requested_at,
  expires_at,
  summary: "s",
  reason: "",
});
const NOW = Date.parse("2026-01-02T00:00:00Z");

it("puts what ends first on top", () => {
  const late = approval("late", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z");
  const soon = approval("soon", "2026-01-01T12:00:00Z", "2026-01-02T01:00:00Z");
  expect(byUrgency([late, soon]).map((each) => each.id)).toEqual(["soon", "late"]);
});

it("says how long it waits and how long is left", () => {
  const found = ageing(approval("a", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"), NOW);
  expect(found).toEqual({ waited: "1 day", left: "1 day", share: 0.5, urgent: false, over: false });
});

it("becomes urgent in its last two hours, and is over at the end", () => {
  expect(ageing(approval("a", "2026-01-01T00:00:00Z", "2026-01-02T01:00:00Z"), NOW).urgent).toBe(
    true,
  );
  expect(ageing(approval("a", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"), NOW).over).toBe(
    true,
  );
});

it("shows plans that stand still before requests that have time", () => {
  const late = approval("late", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z");
  const soon = approval("soon", "2026-01-01T12:00:00Z", "2026-01-02T01:00:00Z");
  const plan = (id: string, state: string, asks = false) =>
    ({
      id,
      state,
      asks,
      goals: [id],
      created_at: "2026-01-01T00:00:00Z",
      updated_at: null,
    }) as unknown as PlanBrief;
  const plans = [
    plan("blocked", "blocked_on_permission"),
    plan("asking", "draft_pending", true),
    plan("drafting", "draft_pending"),
    plan("asked for", "awaiting_approval"),
    plan("running", "running"),
    plan("over", "completed"),
  ];
  const found = inbox([late, soon], plans, NOW);
  expect(found.map((each) => each.id)).toEqual(["soon", "blocked", "asking", "late"]);
  expect(found[1]).toMatchObject({
    place: "/plans/blocked",
    title: "blocked: It wants something that it was not granted.",
  });
});
