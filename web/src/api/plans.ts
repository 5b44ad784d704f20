/** Plans and releases: what the server says about them inside its open documents. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";

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
};
export type Step = {
  step: number;
  checkpoint: number;
  state: string;
  action: Record<string, unknown> | string | null;
  destructive: boolean | string | null;
  outcome: string | null;
  result: string | null;
  started_at: string;
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
  steps: number;
  created_at: string;
  updated_at: string | null;
};
export type Plan = PlanBrief & {
  plan: {
    goals: string[];
    checkpoints: Checkpoint[];
    manifest: Record<string, string[]>;
    estimated_duration_minutes: number;
    assumptions: string[];
  } | null;
  plan_hash: string | null;
  manifest: { items: ManifestItem[]; new: number; sandbox: string[] } | null;
  approval_id: string | null;
  questions: string[];
  round: number;
  block: Record<string, unknown> | null;
  usage: { calls?: number; tokens?: number };
  progress: {
    checkpoint: string | null;
    number: number;
    steps_spent: number;
    step_budget: number | null;
    twice_its_estimate: boolean;
  };
  steps_taken: Step[];
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
};
export type Order = {
  commit: string;
  digest: string;
  allowed: boolean;
  tests_passed: boolean;
  reason?: string;
  code: string;
  quarantined: string;
};
export type Grant = { kind: string; value: string; [name: string]: unknown };

const one = (identifier: string) => ({ params: { path: { identifier } } });
type Items<T> = { items: T[] };

export const plansQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: async () =>
    (await answer(
      api.GET("/api/agents", { params: { query: { limit: 100 } } }),
    )) as Items<PlanBrief>,
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
  more: { once?: boolean; steps?: number },
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
  queryFn: async () =>
    (await answer(api.GET("/api/agent_global_grants"))) as unknown as Items<Grant>,
});
export const releasesQuery = queryOptions({
  queryKey: ["releases"],
  queryFn: async () => (await answer(api.GET("/api/releases"))) as unknown as Items<Release>,
});
export const deploymentsQuery = queryOptions({
  queryKey: ["releases", "deployments"],
  queryFn: async () => (await answer(api.GET("/api/deployments"))) as unknown as Items<Deployment>,
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
