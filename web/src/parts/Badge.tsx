import type { ReactNode } from "react";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

const TONES: Record<Tone, string> = {
  plain: "bg-raised text-soft",
  accent: "bg-accent-wash text-accent",
  good: "bg-good-wash text-good",
  warn: "bg-warn-wash text-warn",
  bad: "bg-bad-wash text-bad",
};

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex shrink-0 items-center gap-1 rounded-md px-1.5 py-0.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

const STATES: Record<string, Tone> = {
  pending: "accent",
  proposed: "accent",
  executing: "accent",
  blocked: "warn",
  satisfied: "good",
  awaiting_approval: "accent",
  gathering_evidence: "plain",
  changes_requested: "warn",
  conflict: "warn",
  tests_failed: "bad",
  rolled_back: "warn",
  executed: "good",
  granted: "good",
  approved: "good",
  used: "good",
  succeeded: "good",
  live: "good",
  active: "good",
  passed: "good",
  ok: "good",
  rejected: "plain",
  expired: "plain",
  stale: "warn",
  paused: "warn",
  blocked_on_permission: "warn",
  blocked_on_destructive: "bad",
  blocked_on_budget: "warn",
  blocked_on_llm: "warn",
  completed: "good",
  settled: "good",
  running: "accent",
  checkpoint_completed: "accent",
  aborted: "plain",
  plan_failed: "bad",
  rolling_back: "warn",
  rolling_out: "accent",
  ordered: "accent",
  released: "good",
  back: "good",
  retry: "warn",
  returning: "warn",
  passed_over: "warn",
  rollback_failed: "bad",
  flaky: "warn",
  no_tests: "warn",
  timed_out: "bad",
  killed_by_limit: "bad",
  never_ran: "bad",
  skipped: "warn",
  missed: "warn",
  failed: "bad",
  interrupted: "bad",
};

export const toneOf = (state: string): Tone => STATES[state] ?? "plain";

export function StateBadge({ state }: { state: string }) {
  return <Badge tone={toneOf(state)}>{state.replaceAll("_", " ")}</Badge>;
}

const TIERS = ["reads only", "writes here", "reaches outside"];

export function TierBadge({ tier }: { tier: number }) {
  const tone = (["plain", "accent", "warn"] as const)[tier] ?? "warn";
  return (
    <Badge tone={tone}>
      tier {tier} · {TIERS[tier] ?? "unknown"}
    </Badge>
  );
}
