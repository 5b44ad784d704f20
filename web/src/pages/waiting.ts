/** How requests are put before a person: the most urgent first, with their age in words. */

import type { Approval, InboxItem } from "../api/model";
import { span } from "../parts/time";

const URGENT_MS = 2 * 3_600_000;

export type Ageing = {
  waited: string;
  left: string;
  share: number;
  urgent: boolean;
  over: boolean;
};

type Times = Pick<Approval, "requested_at" | "expires_at">;

export function ageing(approval: Times, now: number): Ageing {
  const from = Date.parse(approval.requested_at);
  const until = Date.parse(approval.expires_at);
  const left = until - now;
  return {
    waited: span(Math.max(now - from, 0)),
    left: span(Math.max(left, 0)),
    share: Math.min(Math.max((now - from) / Math.max(until - from, 1), 0), 1),
    urgent: left < URGENT_MS,
    over: left <= 0,
  };
}

/** Something that only a person can move on, whatever it is. */
export type Waits = {
  id: string;
  kind: string;
  title: string;
  why: string;
  place: string;
  from: string;
  grave: boolean;
  ages: Times | null;
};

/** Everything that waits, in the order of the server: every door lists and counts the same. */
export function inbox(items: InboxItem[]): Waits[] {
  return items.map((item) => ({
    id: item.id,
    kind: kindInWords(item.kind),
    title: item.title,
    why: item.why,
    place: placeOfItem(item),
    from: item.waiting_since,
    grave: item.kind === "alert" || item.kind === "failed_deployment",
    ages: item.expires_at
      ? { requested_at: item.waiting_since, expires_at: item.expires_at }
      : null,
  }));
}

const PLACES: Record<string, string> = {
  alert: "/status",
  failed_deployment: "/releases",
  waiting_signature: "/safety",
};

function placeOfItem(item: InboxItem): string {
  if (item.kind === "waiting_plan") return `/plans/${item.id}`;
  if (item.kind === "held_goal") return `/goals/${item.id}`;
  if (item.kind === "resting_change") return `/changes/${item.id}`;
  return PLACES[item.kind] ?? placeOf(item);
}

const PAGES: Record<string, string> = { change: "changes", goal: "goals", plan: "plans" };

/** Where a request is decided: a change, a goal and a plan have pages of their own. */
export function placeOf(approval: Pick<Approval, "id" | "kind" | "subject_id">): string {
  const page = PAGES[approval.kind];
  return page ? `/${page}/${approval.subject_id}` : `/approvals/${approval.id}`;
}

const KINDS: Record<string, string> = {
  tool_call: "one call",
  goal: "a goal",
  promotion: "a goal",
  goal_of_desire: "a goal with its plan",
  desire_promotion: "a goal",
  schedule_firing: "a scheduled run",
  scheduled_call: "a scheduled run",
  change: "a code change",
  deployment: "a deployment",
  deploy: "a deployment",
  plan: "a plan",
  schedule: "a scheduled run",
  waiting_plan: "a plan that stands still",
  resting_change: "a change that rests",
  held_goal: "a goal that stands still",
  failed_deployment: "a deployment that failed",
  waiting_signature: "a decision that takes another signature",
  alert: "something is wrong",
};

export const kindInWords = (kind: string): string => KINDS[kind] ?? kind.replaceAll("_", " ");
