/** The firings of the last seven days, hour by hour; a cell has the worst of what happened in it. */

import type { Firing } from "../api/model";

export type Cell = { hour: number; outcome: string; count: number };
export type Day = { name: string; date: string; cells: (Cell | null)[] };

const HOUR_MS = 3_600_000;
const WORST = ["failed", "interrupted", "missed", "skipped", "cancelled", "running", "succeeded"];

export function weekOf(firings: readonly Firing[], now: number): Day[] {
  return Array.from({ length: 7 }, (_, back) => dayOf(firings, now - (6 - back) * 24 * HOUR_MS));
}

function dayOf(firings: readonly Firing[], at: number): Day {
  const date = new Date(at).toISOString().slice(0, 10);
  const todays = firings.filter(({ fire_time: time }) => utc(time).slice(0, 10) === date);
  const cells = Array.from({ length: 24 }, (_, hour) => {
    const here = todays.filter(({ fire_time: time }) => Number(utc(time).slice(11, 13)) === hour);
    return here.length > 0 ? { hour, outcome: worst(here), count: here.length } : null;
  });
  const name = new Date(at).toLocaleDateString("en-GB", { weekday: "short", timeZone: "UTC" });
  return { name, date, cells };
}

const utc = (time: string): string => new Date(time).toISOString();

const rank = (outcome: string): number => {
  const at = WORST.indexOf(outcome);
  return at === -1 ? WORST.length - 2 : at;
};

const worst = (firings: readonly Firing[]): string =>
  firings.map(({ outcome }) => outcome).toSorted((a, b) => rank(a) - rank(b))[0] ?? "";
