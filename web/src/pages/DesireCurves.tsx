import { useQuery } from "@tanstack/react-query";
import type { Desire } from "../api/model";
import { desireRecordsQuery, halfLifeQuery } from "../api/queries";
import { Card } from "../parts/Card";
import { useNow } from "../parts/Time";
import { oneLine } from "../parts/visible";
import { fading } from "./fading";

const DAYS = 14;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const [WIDTH, HEIGHT] = [640, 120];
const MOST = 5;
const DASHES = ["", "8 3", "2 3", "10 3 2 3", "4 6"];

/** The strongest desires over the last two weeks: when they rose, and how they fade. */
export function DesireCurves({ desires }: { desires: Desire[] }) {
  const recorded = useQuery(desireRecordsQuery("desire_recorded"));
  const reinforced = useQuery(desireRecordsQuery("desire_reinforced"));
  const { data: halfLife = 14 } = useQuery(halfLifeQuery);
  const now = useNow();
  const records = [...(recorded.data?.items ?? []), ...(reinforced.data?.items ?? [])].toSorted(
    (a, b) => a.sequence - b.sequence,
  );
  const oldest = records[0] ? Date.parse(records[0].time) : now;
  const from = Math.min(Math.max(oldest, now - DAYS * DAY_MS), now - HOUR_MS);
  const lines = desires.slice(0, MOST).flatMap((desire, at) => {
    const points = fading(records, desire.id, halfLife, now).filter(
      (point) => point.at >= from && point.at <= now,
    );
    return points.length > 1 ? [{ desire, points, dash: DASHES[at] ?? "" }] : [];
  });
  if (lines.length === 0) return null;
  const path = (points: { at: number; value: number }[]) =>
    points
      .map(({ at, value }, index) => {
        const x = ((at - from) / (now - from)) * WIDTH;
        return `${index ? "L" : "M"}${x.toFixed(1)} ${(HEIGHT - value * HEIGHT).toFixed(1)}`;
      })
      .join("");
  return (
    <Card title="The strongest desires over time" className="mb-4">
      <svg
        role="img"
        aria-label={`Strength over at most ${DAYS} days: ${lines.map(({ desire }) => `${oneLine(desire.text, 60)}, ${Math.round(desire.strength * 100)} % now`).join("; ")}`}
        viewBox={`0 -4 ${WIDTH} ${HEIGHT + 8}`}
        className="h-auto w-full"
      >
        {[0, 0.5, 1].map((share) => (
          <line
            key={share}
            x1="0"
            x2={WIDTH}
            y1={share * HEIGHT}
            y2={share * HEIGHT}
            stroke="var(--line)"
          />
        ))}
        {lines.map(({ desire, points, dash }) => (
          <path
            key={desire.id}
            d={path(points)}
            fill="none"
            stroke="var(--accent)"
            strokeWidth="2"
            strokeDasharray={dash}
          />
        ))}
      </svg>
      <ul className="mt-2 flex flex-wrap gap-x-5 gap-y-1 text-sm">
        {lines.map(({ desire, dash }) => (
          <li key={desire.id} className="flex min-w-0 items-center gap-2">
            <svg aria-hidden="true" viewBox="0 0 32 4" className="h-1 w-8 shrink-0">
              <line
                x1="0"
                x2="32"
                y1="2"
                y2="2"
                stroke="var(--accent)"
                strokeWidth="3"
                strokeDasharray={dash}
              />
            </svg>
            <bdi className="truncate">{oneLine(desire.text, 50)}</bdi>
          </li>
        ))}
      </ul>
    </Card>
  );
}
