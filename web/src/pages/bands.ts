/** The band of a belief over days, as a path: along the upper bounds, and back along the lower. */

import type { BeliefDay } from "../api/model";

export const [WIDTH, HEIGHT] = [640, 160];

export const percent = (share: number) => `${Math.round(share * 100)} %`;

/** A single day is drawn from edge to edge, so that its band is seen. */
const spread = (days: BeliefDay[]) => (days.length === 1 ? [...days, ...days] : days);
const x = (at: number, count: number) => (count < 2 ? WIDTH : (at / (count - 1)) * WIDTH);
const y = (share: number) => HEIGHT - share * HEIGHT;

export function place(days: BeliefDay[], at: number, share: number): [number, number] {
  return [x(at, days.length), y(share)];
}

const join = (points: [number, number][]) =>
  points.map(([px, py], at) => `${at ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");

export function bandPath(known: BeliefDay[]): string {
  const days = spread(known);
  const upper = days.map((day, at) => place(days, at, day.upper));
  const lower = days.map((day, at) => place(days, at, day.lower)).toReversed();
  return days.length ? `${join([...upper, ...lower])}Z` : "";
}

export function meanPath(known: BeliefDay[]): string {
  const days = spread(known);
  return join(days.map((day, at) => place(days, at, day.mean)));
}
