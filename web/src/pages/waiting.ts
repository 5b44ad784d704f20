/** How requests are put before a person: the most urgent first, with their age in words. */

import type { Approval } from "../api/model";
import type { PlanBrief } from "../api/plans";
import { span } from "../parts/time";
import { blockInWords, groupOf, titleOf } from "../plans/words";

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

/** Something that only a person can move on, whatever it is. */
export type Waits = {
  id: string;
  kind: string;
  title: string;
  place: string;
  from: string;
  ages: Approval | null;
};

/** Everything that waits: what ends soon, then work that stands still, then the other requests. */
export function inbox(approvals: Approval[], plans: PlanBrief[], now: number): Waits[] {
  const asked = byUrgency(approvals).map((ages) => ({
    id: ages.id,
    kind: kindInWords(ages.kind),
    title: ages.summary,
    place: placeOf(ages),
    from: ages.requested_at,
    ages,
  }));
  const soon = asked.filter(({ ages }) => ageing(ages, now).urgent);
  return [...soon, ...stuck(plans), ...asked.filter((each) => !soon.includes(each))];
}

/** Plans that stand still until somebody answers; one that awaits approval has a request. */
function stuck(plans: PlanBrief[]): Waits[] {
  return plans
    .filter((plan) => plan.state !== "awaiting_approval")
    .filter((plan) => groupOf(plan.state, plan.asks) === "Waiting for you")
    .map((plan) => ({
      id: plan.id,
      kind: "a plan that stands still",
      title: `${titleOf(plan)}: ${blockInWords(plan.state) ?? plan.state}`,
      place: `/plans/${plan.id}`,
      from: plan.updated_at ?? plan.created_at,
      ages: null,
    }))
    .toSorted((a, b) => a.from.localeCompare(b.from));
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
