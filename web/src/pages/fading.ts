import type { LedgerRecord } from "../api/model";
import type { Point } from "../parts/Curve";

const DAY_MS = 86_400_000;
const STEPS = 40;

/** Work out a desire's strength over time from its records: it halves every half-life. */
export function fading(records: LedgerRecord[], id: string, days: number, now: number): Point[] {
  const raised = records
    .filter((record) => record.subject === id && typeof record.data.strength === "number")
    .map((record) => ({ at: Date.parse(record.time), value: Number(record.data.strength) }));
  const end = now + days * DAY_MS;
  return raised.flatMap((start, index) => {
    const until = raised[index + 1]?.at ?? end;
    return stretch(start, until, days * DAY_MS, now);
  });
}

function stretch(start: Point, until: number, halfLife: number, now: number): Point[] {
  const moments = Array.from(
    { length: STEPS + 1 },
    (_, step) => start.at + ((until - start.at) * step) / STEPS,
  );
  if (now > start.at && now < until) moments.push(now);
  return moments
    .toSorted((a, b) => a - b)
    .map((at) => ({ at, value: start.value * 2 ** (-(at - start.at) / halfLife) }));
}
