import { expect, it } from "vitest";
import type { Approval, InboxItem } from "../api/model";
import { ageing, inbox } from "./waiting";

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

const item = (id: string, kind: string, expires_at: string | null = null): InboxItem => ({
  id,
  kind,
  title: `title of ${id}`,
  why: "because",
  waiting_since: "2026-01-01T00:00:00Z",
  command: "astra inbox",
  subject_id: `about-${id}`,
  expires_at,
});

it("lists what the server lists, in its order", () => {
  const items = [item("b", "alert"), item("a", "tool_call", "2026-01-03T00:00:00Z")];
  expect(inbox(items).map((each) => each.id)).toEqual(["b", "a"]);
});

it("leads to where each thing is decided", () => {
  const places = (kind: string) => inbox([item("x", kind)])[0]?.place;
  expect(places("tool_call")).toBe("/approvals/x");
  expect(places("change")).toBe("/changes/about-x");
  expect(places("waiting_plan")).toBe("/plans/x");
  expect(places("held_goal")).toBe("/goals/x");
  expect(places("resting_change")).toBe("/changes/x");
  expect(places("failed_deployment")).toBe("/releases");
  expect(places("waiting_signature")).toBe("/safety");
  expect(places("alert")).toBe("/status");
});
