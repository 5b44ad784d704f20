/** A line over time as plain SVG: a handful of points need no library. */

import { brief } from "./time";

export type Point = { at: number; value: number };

const WIDTH = 640;
const HEIGHT = 150;
const PAD = 6;

export function Curve({ points, now, label }: { points: Point[]; now: number; label: string }) {
  const from = points[0]?.at ?? now;
  const until = Math.max(points.at(-1)?.at ?? now, from + 1);
  const x = (at: number) => PAD + ((at - from) / (until - from)) * (WIDTH - 2 * PAD);
  const y = (value: number) => HEIGHT - PAD - value * (HEIGHT - 2 * PAD);
  const line = (part: Point[]) =>
    part
      .map(({ at, value }, i) => `${i ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`)
      .join("");
  const past = points.filter((point) => point.at <= now);
  const future = points.filter((point) => point.at >= now);
  const here = past.at(-1);
  return (
    <div className="grid grid-cols-[auto_1fr] gap-x-2 text-xs text-soft tabular-nums">
      <div aria-hidden="true" className="flex flex-col justify-between text-right leading-none">
        <span>100 %</span>
        <span>50 %</span>
        <span>0 %</span>
      </div>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className="h-auto w-full"
      >
        {[0, 0.25, 0.5, 0.75, 1].map((value) => (
          <line
            key={value}
            x1={PAD}
            x2={WIDTH - PAD}
            y1={y(value)}
            y2={y(value)}
            stroke="var(--line)"
          />
        ))}
        <path d={line(past)} fill="none" stroke="var(--accent)" strokeWidth="2.5" />
        <path
          d={line(future)}
          fill="none"
          stroke="var(--accent)"
          strokeWidth="2"
          strokeDasharray="2 5"
        />
        {here && <circle cx={x(here.at)} cy={y(here.value)} r="4.5" fill="var(--accent)" />}
      </svg>
      <p aria-hidden="true" className="col-start-2 mt-1 flex justify-between">
        <span>{brief(new Date(from).toISOString())}</span>
        <span>{brief(new Date(until).toISOString())}</span>
      </p>
    </div>
  );
}
