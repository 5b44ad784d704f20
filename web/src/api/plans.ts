/** Plans and releases: what the server says about them inside its open documents. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";

export type Checkpoint = {
  id: string;
  title: string;
  description: string;
  skills_needed: string[];
  expected_output: string;
  step_budget: number;
};
export type ManifestItem = {
  kind: string;
  value: string;
  auto_approved: boolean;
  new: boolean;
  in_words: string;
  /** What is known of it now: "exists", why not, or nothing where there is nothing to look at. */
  preflight: string;
};
export type Step = {
  step: number;
  checkpoint: number;
  state: string;
  action: NonNullable<Blocked["action"]> | null;
  destructive: boolean | string | null;
  outcome: string | null;
  result: string | null;
  started_at: string;
  ended_at: string | null;
  tokens: number;
};
/** What a plan stands before. Which parts there are depends on what it waits for. */
export type Blocked = {
  in_words?: string;
  step?: number;
  items?: [kind: string, value: string][];
  action?: {
    kind?: string;
    tool?: string;
    arguments?: unknown;
    text?: string;
    output?: string;
  } | null;
  tool?: string;
  arguments?: unknown;
  ran?: { outcome: string; result: string };
  [name: string]: unknown;
};
export type Message = { time: string; text: string; [name: string]: unknown };
export type PlanBrief = {
  id: string;
  state: string;
  reason: string;
  description: string;
  goals: string[];
  checkpoints: number;
  checkpoints_done: number;
  asks: boolean;
  steps: number;
  created_at: string;
  updated_at: string | null;
};
export type CheckpointCost = components["schemas"]["CheckpointCost"];
export type Plan = PlanBrief & {
  plan: {
    goals: string[];
    checkpoints: Checkpoint[];
    manifest: Record<string, string[]>;
    estimated_duration_minutes: number;
    assumptions: string[];
  } | null;
  plan_hash: string | null;
  manifest: {
    items: ManifestItem[];
    new: number;
    sandbox: string[];
    model: { ok: boolean; detail: string };
  } | null;
  approval_id: string | null;
  questions: string[];
  round: number;
  block: Blocked | null;
  usage: { calls?: number; tokens?: number };
  progress: {
    checkpoint: string | null;
    number: number;
    step: number;
    steps_spent: number;
    step_budget: number | null;
    twice_its_estimate: boolean;
    /** The step that may run once more, if it is signed for. */
    retry: number | null;
  };
  /** The last fifty; what all of them cost is in `costs`. */
  steps_taken: Step[];
  costs: CheckpointCost[];
  messages: Message[];
  silenced: boolean;
  correlation: string;
  next: string;
};
export type Release = {
  id: string;
  commit: string;
  digest: string;
  state: string;
  good: boolean;
  live: boolean;
  built_at: string;
  files: number;
  size: number;
  about: string;
  quarantined: boolean;
};
export type Deployment = {
  id: string;
  kind: string;
  state: string;
  release: string;
  commit: string;
  reason: string;
  rollback_to: string | null;
  requested_by: string;
  requested_at: string;
  changed_at: string;
  correlation: string;
  open: boolean;
  about: string;
  rollback_about: string;
};
export type Order = {
  commit: string;
  digest: string;
  allowed: boolean;
  tests_passed: boolean;
  reason?: string;
  code: string;
  quarantined: string;
  contains: string[];
  despite: string[];
};
export type Grant = { kind: string; value: string; [name: string]: unknown };

const one = (identifier: string) => ({ params: { path: { identifier } } });
type Items<T> = { items: T[] };

const PAGE = 200;

/** Every plan, the newest first; the server gives them in pages, the oldest first. */
export const plansQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: async () => {
    const items: PlanBrief[] = [];
    let cursor: number | null = null;
    do {
      const query: { limit: number; cursor?: number } = { limit: PAGE };
      if (cursor !== null) query.cursor = cursor;
      const page = await answer(api.GET("/api/agents", { params: { query } }));
      items.push(...page.items);
      cursor = typeof page.next === "number" ? page.next : null;
    } while (cursor !== null);
    return { items: items.toReversed() };
  },
});
export const planQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["agents", "one", identifier],
    queryFn: async () =>
      (await answer(api.GET("/api/agents/{identifier}", one(identifier)))) as unknown as Plan,
  });
export const decisionQuery = (
  identifier: string,
  action: string,
  more: { once?: boolean; steps?: number; step?: number },
) =>
  queryOptions({
    queryKey: ["agents", "decision", identifier, action, more],
    queryFn: async () => {
      const query = { action, ...more };
      return (await answer(
        api.GET("/api/agents/{identifier}/decision", { params: { path: { identifier }, query } }),
      )) as unknown as { type: string; content: Record<string, unknown> };
    },
  });
export const grantsQuery = queryOptions({
  queryKey: ["grants"],
  queryFn: () => answer(api.GET("/api/agent_global_grants")),
});
export const releasesQuery = queryOptions({
  queryKey: ["releases"],
  queryFn: async () => (await answer(api.GET("/api/releases"))) as unknown as Items<Release>,
});
export const deploymentsQuery = queryOptions({
  queryKey: ["releases", "deployments"],
  queryFn: async () => (await answer(api.GET("/api/deployments"))) as unknown as Items<Deployment>,
});
export const deploymentQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["releases", "deployments", identifier],
    queryFn: () => answer(api.GET("/api/deployments/{identifier}", one(identifier))),
  });
export type FleetInstance = components["schemas"]["FleetInstance"];
export type FleetRollout = components["schemas"]["FleetRollout"];
export const fleetQuery = queryOptions({
  queryKey: ["releases", "fleet"],
  queryFn: () => answer(api.GET("/api/fleet")),
});
export const orderQuery = queryOptions({
  queryKey: ["releases", "order"],
  queryFn: async () => (await answer(api.GET("/api/deployments/order"))) as unknown as Order,
  retry: false,
});
export const rollbackQuery = (release: string) =>
  queryOptions({
    queryKey: ["releases", "rollback", release],
    queryFn: async () =>
      (await answer(
        api.GET("/api/rollback", { params: { query: { release } } }),
      )) as unknown as Record<string, unknown>,
    retry: false,
  });
