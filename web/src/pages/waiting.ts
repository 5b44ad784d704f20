/** How requests are put before a person: the most urgent first, with their age in words. */

import type { Approval } from "../api/model";
import { span } from "../parts/time";

const URGENT_MS = 2 * 3_600_000;

export type Ageing = {
  waited: string;
  left: string;
  share: number;
  urgent: boolean;
  over: boolean;
};

export function ageing(approval: Approval, now: number): Ageing {
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

export function byUrgency(approvals: Approval[]): Approval[] {
  return approvals.toSorted((a, b) => a.expires_at.localeCompare(b.expires_at));
}

const PAGES: Record<string, string> = { change: "changes", plan: "plans" };

/** Where a request is decided: a change and a plan have pages of their own. */
export function placeOf(approval: Approval): string {
  const page = PAGES[approval.kind];
  return page ? `/${page}/${approval.subject_id}` : `/approvals/${approval.id}`;
}

const KINDS: Record<string, string> = {
  tool_call: "one call",
  goal: "a goal",
  promotion: "a goal",
  desire_promotion: "a goal",
  schedule_firing: "a scheduled run",
  scheduled_call: "a scheduled run",
  change: "a code change",
  deployment: "a deployment",
  deploy: "a deployment",
  plan: "a plan",
};

export const kindInWords = (kind: string): string => KINDS[kind] ?? kind.replaceAll("_", " ");
