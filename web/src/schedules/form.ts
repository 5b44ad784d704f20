/** A schedule as a form: what is typed, what of it differs, and what is sent. Pure. */

import type { Schedule } from "../api/model";
import type { paths } from "../api/schema";

export type ScheduleChange =
  paths["/api/schedules/{identifier}"]["post"]["requestBody"]["content"]["application/json"];

export type Form = {
  name: string;
  cron_expression: string;
  timezone: string;
  target_tool: string;
  payload: string;
  per_day_budget: string;
};
export type Field = keyof Form;
export type Difference = { field: string; label: string; before: string; after: string };

export const LABELS: Record<Field, string> = {
  name: "Name",
  target_tool: "Tool",
  payload: "Arguments",
  per_day_budget: "Firings a day, at most",
  cron_expression: "Cron expression",
  timezone: "Time zone",
};
const FIELDS = Object.keys(LABELS) as Field[];
/** What an approval was given for; another one is needed when it changes. */
const IDENTITY = new Set(["target_tool", "payload", "safety_tier"]);

export function formOf(schedule: Schedule): Form {
  return {
    name: schedule.name,
    cron_expression: schedule.cron_expression,
    timezone: schedule.timezone,
    target_tool: schedule.target_tool.replaceAll(".", "_"),
    payload: JSON.stringify(schedule.payload, null, 2),
    per_day_budget: String(schedule.per_day_budget),
  };
}

/** The arguments as an object, or nothing where the text is none. */
export function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text || "{}");
    return value && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** What is different, field by field, with the tier that a riskier tool brings. */
export function differences(base: Schedule, form: Form, tier: number): Difference[] {
  const before = formOf(base);
  const found: Difference[] = FIELDS.filter((field) => before[field] !== form[field]).map(
    (field) => ({ field, label: LABELS[field], before: before[field], after: form[field] }),
  );
  if (tier > base.safety_tier) {
    const told = { before: `tier ${base.safety_tier}`, after: `tier ${tier}` };
    found.push({ field: "safety_tier", label: "Safety tier", ...told });
  }
  return found;
}

/** What an `etag` covers and the form does not show. */
const BESIDE = {
  safety_tier: "Safety tier",
  overlap: "Overlap",
  catch_up_seconds: "Catches up, in seconds",
  attempts: "Attempts",
  backoff_seconds: "Pause between attempts, in seconds",
  jitter_seconds: "Jitter, in seconds",
  after: "Comes after",
  slow_after: "Slows down after failures",
  slow_below: "Slows down below this success rate, in %",
  slowest: "At the slowest, every n-th firing",
  state: "State",
} as const;

/** What somebody else did to it, in the form or beside it. */
export function moved(base: Schedule, now: Schedule): Difference[] {
  const beside = Object.keys(BESIDE) as (keyof typeof BESIDE)[];
  const found = beside.filter((field) => String(base[field]) !== String(now[field]));
  return [
    ...differences(base, formOf(now), 0),
    ...found.map((field) => ({
      field,
      label: BESIDE[field],
      before: String(base[field]),
      after: String(now[field]),
    })),
  ];
}

/** The same edits on top of how it is now: what was not touched here is theirs. */
export function onTopOf(now: Schedule, base: Schedule, form: Form): Form {
  const [theirs, before] = [formOf(now), formOf(base)];
  const mine = FIELDS.filter((field) => form[field] !== before[field]);
  return { ...theirs, ...Object.fromEntries(mine.map((field) => [field, form[field]])) };
}

/** Only what differs is sent, so that a field nobody touched is nobody's decision. */
export function bodyOf(changes: Difference[], form: Form, tier: number): ScheduleChange {
  const values: Record<string, unknown> = {
    ...form,
    payload: parsed(form.payload) ?? {},
    per_day_budget: Number(form.per_day_budget),
    safety_tier: tier,
  };
  return Object.fromEntries(changes.map(({ field }) => [field, values[field]])) as ScheduleChange;
}

export const needsNewApproval = (changes: Difference[]): boolean =>
  changes.some(({ field }) => IDENTITY.has(field));
