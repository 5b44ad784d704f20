/** What the charts show, in words and shapes. Pure, so that tests need no browser. */

export type Tone = "accent" | "good" | "warn" | "bad";
export type Line = { name: string; words: string; tone: Tone };

/** What belongs together, with the words for each number. */
export const GROUPS: { title: string; lines: Line[] }[] = [
  {
    title: "Changes of code",
    lines: [
      { name: "changes_proposed", words: "proposed", tone: "accent" },
      { name: "changes_merged", words: "merged", tone: "good" },
    ],
  },
  {
    title: "Decisions",
    lines: [
      { name: "approved", words: "approved", tone: "good" },
      { name: "rejected", words: "rejected", tone: "warn" },
    ],
  },
  {
    title: "What went wrong",
    lines: [
      { name: "test_runs_failed", words: "test runs did not pass", tone: "bad" },
      { name: "rollbacks", words: "rollbacks", tone: "warn" },
    ],
  },
  {
    title: "Tool calls",
    lines: [
      { name: "calls_ok", words: "went well", tone: "good" },
      { name: "calls_refused", words: "refused", tone: "warn" },
      { name: "calls_failed", words: "failed", tone: "bad" },
    ],
  },
  {
    title: "Starts",
    lines: [{ name: "starts", words: "counted against a budget", tone: "accent" }],
  },
];

/** Each number with its group, for where it stands alone. */
export const NAMES: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(({ title, lines }) =>
    lines.map((line): [string, string] => [line.name, `${title.toLowerCase()}, ${line.words}`]),
  ),
);

const DAY_MS = 86_400_000;

/** How long today lasts in UTC, and a second: then there is a new day to count. */
export const untilTomorrow = (now: number): number => DAY_MS - (now % DAY_MS) + 1_000;

/** A UTC day as people write it, whatever zone they are in. */
export function dayInWords(day: string): string {
  const noon = new Date(`${day}T12:00:00Z`);
  if (Number.isNaN(noon.getTime())) return day;
  return noon.toLocaleDateString("en-GB", {
    timeZone: "UTC",
    weekday: "short",
    day: "numeric",
    month: "short",
  });
}

export type Bar = { at: number; height: number };
const LOWEST = 0.06;

/** Bars up to 1 for the days that have any; what is there at all is high enough to be seen. */
export function bars(values: number[], top: number): Bar[] {
  return values.flatMap((value, at) =>
    value > 0 ? [{ at, height: Math.min(Math.max(value / Math.max(top, 1), LOWEST), 1) }] : [],
  );
}

/** Which day a pointer is over. */
export function dayAt(x: number, width: number, days: number): number {
  return Math.min(Math.max(Math.floor((x / Math.max(width, 1)) * days), 0), days - 1);
}

/** The chart in a sentence, for who cannot see it. */
export function told(words: string, values: number[], days: string[]): string {
  const total = values.reduce((sum, value) => sum + value, 0);
  if (total === 0) return `${words}: none in ${inDays(days.length)}`;
  const most = Math.max(...values);
  const when = dayInWords(days[values.indexOf(most)] ?? "");
  return `${words}: ${total} in ${inDays(days.length)}, at most ${most} a day, on ${when}`;
}

export function inDays(count: number): string {
  return count === 1 ? "1 day" : `${count} days`;
}
