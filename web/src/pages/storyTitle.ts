import type { LedgerRecord } from "../api/model";

/** What a record may say of its subject, in the order in which it says most. */
const NAMES = ["summary", "text", "name", "question", "description"] as const;

/** Name a story by what it is about, in the words of its first record that has some. */
export function storyTitle(records: LedgerRecord[], id: string): string | undefined {
  const own = records.filter((record) => record.subject === id);
  for (const record of [...own, ...records]) {
    const data = record.data as Record<string, unknown>;
    const parts = [data, data.about, data.request, firstGoal(data.plan)].filter(isObject);
    const words = parts.flatMap((part) => [...NAMES, "reason"].map((name) => part[name]));
    const title = words.find((word): word is string => typeof word === "string" && word !== "");
    if (title) return title;
  }
  return undefined;
}

function firstGoal(plan: unknown): { text: unknown } | undefined {
  const goals = isObject(plan) ? plan.goals : undefined;
  return Array.isArray(goals) ? { text: goals[0] } : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
