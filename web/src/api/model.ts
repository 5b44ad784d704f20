/** What the pages show, as the server describes it. */

export type Page<T> = { items: T[]; next: string | number | null };

export type Approval = {
  id: string;
  kind: string;
  subject_id: string;
  digest: string;
  state: string;
  requested_at: string;
  expires_at: string;
  summary: string;
  reason: string;
};
export type Footprint = {
  destructive?: boolean;
  domains?: string[];
  files?: string[];
  read_paths?: string[];
  skills?: string[];
  write_paths?: string[];
};
export type ApprovalDetails = Approval & {
  details: Record<string, unknown>;
  requested_by: string;
  correlation: string;
};
export type Desire = {
  id: string;
  text: string;
  strength: number;
  tags: string[];
  context: unknown;
  state: string;
  recorded_at: string;
  reinforcements: number;
  reinforced_at: string | null;
  goal_id: string | null;
};
export type Suggestion = {
  desire: Desire;
  evidence: {
    strength: number;
    reinforcements: number;
    recurrence: number;
    since: string;
    why: string;
  };
};
export type Schedule = {
  id: string;
  name: string;
  cron_expression: string;
  timezone: string;
  target_tool: string;
  payload: Record<string, unknown>;
  safety_tier: number;
  per_day_budget: number;
  overlap: string;
  catch_up_seconds: number;
  attempts: number;
  state: string;
  next_run: string | null;
  next_runs: string[];
  created_at: string;
  every: number;
  failures: number;
};
export type Firing = {
  id: string;
  schedule_id: string;
  name: string;
  tool: string;
  fire_time: string;
  kind: string;
  outcome: string;
  reason: string;
  detail: string;
  attempt: number;
  count: number;
  next_attempt: string | null;
  started_at: string | null;
  closed_at: string | null;
  milliseconds: number;
  trace: string;
};
export type Flag = { name: string; on: boolean; source: string; note: string };
export type Budget = { day: string; scope: string; name: string; used: number; limit: number };
export type Status = {
  version: string;
  data_root: string;
  root_id: string;
  throwaway: boolean;
  daemon: { pid: number; socket: string; started_at: string };
  flags: Record<string, Flag>;
  code_access: string;
  configuration: string;
  stopped: boolean;
  approvals: { pending: number };
  budgets: Budget[];
  read_scope: string;
  sandbox: { kind: string; state: string; problems: string[] };
  ledger: { records: number; head: string; time: string; trouble: string };
  executor: {
    active: number;
    paused: number;
    open: number;
    running: number;
    next_due: string | null;
    trouble: string;
    closed: string;
  };
  app: Record<string, unknown> | null;
  model: Record<string, unknown> | null;
};
export type Stop = { stopped: boolean; stop: string; report: Record<string, unknown> };
export type Tool = {
  name: string;
  tier: number;
  title: string;
  description: string;
  available: boolean;
};
export type Goal = {
  id: string;
  text: string;
  state?: string;
  created_at: string;
  desire_id?: string | null;
};
