/** What the server says about a change inside its open document. */

import type { components } from "./schema";

export type Finding = {
  rule: string;
  severity: string;
  path: string;
  line: number;
  message: string;
  excerpt?: string;
};
export type Report = {
  verdict?: string;
  reason?: string;
  passed?: number | null;
  failed?: number | null;
  seconds?: number;
  failures?: { name: string; message: string }[];
  output_tail?: string;
};
export type PlacedRemark = { path: string; side: "old" | "new"; line: number; text: string };
export type Comment = {
  time: string;
  by: string;
  text: string;
  commit: string;
  remarks: PlacedRemark[];
};
export type TestRun = { label: string; attempts: number; report: Report | null };
export type Change = {
  id: string;
  state: string;
  branch: string;
  commit: string;
  reason: string;
  created_at: string;
  proposed_by: string;
  files: { path: string; how: string; mode?: string | null }[];
  approval_id: string | null;
  round: number;
  base: string;
  target_branch: string;
  diff: { sha256: string; files: number; added: number; removed: number };
  protected: string[];
  tests_touched: string[];
  dependencies: string[];
  research_session?: components["schemas"]["ResearchCited"] | null;
  supersedes: string | null;
  superseded_by: string | null;
  correlation: string;
  findings: Finding[] | null;
  evidence: {
    verdict: string | null;
    words: string;
    complete: boolean;
    warnings?: string[];
    mutation?: {
      measured: boolean;
      words: string;
      lost: { path: string; line: number; kind: string; text: string }[];
      survivors: { path: string; line: number; kind: string; text: string }[];
    };
    runs: TestRun[];
  };
  comments: Comment[];
  decision: { reason: string; terms?: { deploy?: boolean } };
  goal: string | null;
  goal_text: string | null;
  desire: string | null;
  plan?: { id: string; goals: string[]; grants: Record<string, string[]> } | null;
  blocked: string | null;
  next: string;
};
export type ChangeBrief = components["schemas"]["ChangeBrief"];
