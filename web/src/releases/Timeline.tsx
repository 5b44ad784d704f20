import { useQuery } from "@tanstack/react-query";
import { deploymentsQuery } from "../api/plans";
import type { Tone } from "../parts/Badge";
import { Card } from "../parts/Card";
import { brief } from "../parts/time";
import { oneLine } from "../parts/visible";
import { type Back, linesOf, type Stop, timelineOf } from "./stops";

const STEP = 132;
const BELOW = 68;
const HIGH = 84;
const LOW = 16;

const COLOURS: Record<Tone, string> = {
  plain: "var(--line-strong)",
  accent: "var(--accent)",
  good: "var(--good)",
  warn: "var(--warn)",
  bad: "var(--bad)",
};

/** The last deployments as a line, the oldest first, and arrows back to what was returned to. */
export function Timeline() {
  const { data } = useQuery(deploymentsQuery);
  const { stops, backs } = timelineOf(data?.items ?? []);
  if (stops.length === 0) return null;
  const width = stops.length * STEP;
  const line = backs.length > 0 ? HIGH : LOW;
  return (
    <Card title="Releases over time">
      <section
        aria-label="Releases over time"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to by keyboard too
        tabIndex={0}
        className="overflow-x-auto"
      >
        <svg
          role="img"
          aria-label={inWords(stops, backs)}
          viewBox={`0 0 ${width} ${line + BELOW}`}
          width={width}
          height={line + BELOW}
          className="max-w-none text-[11px]"
        >
          <defs>
            <marker
              id="back"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0l8 4-8 4z" fill="var(--bad)" />
            </marker>
          </defs>
          <line
            x1={STEP / 2}
            x2={width - STEP / 2}
            y1={line}
            y2={line}
            stroke="var(--line-strong)"
            strokeWidth="2"
          />
          {backs.map((back) => (
            <path
              key={`${back.from} ${back.to}`}
              d={arc(back, line)}
              fill="none"
              stroke="var(--bad)"
              strokeWidth="1.5"
              markerEnd="url(#back)"
            />
          ))}
          {stops.map((stop, at) => (
            <g key={stop.deployment.id}>
              <circle cx={centre(at)} cy={line} r="8" fill={COLOURS[stop.tone]} />
              <title>{stop.label}</title>
              {linesOf(oneLine(stop.label, 80)).map((words, row) => (
                <text
                  key={words}
                  x={centre(at)}
                  y={line + 26 + row * 15}
                  textAnchor="middle"
                  fill="var(--ink)"
                >
                  {words}
                </text>
              ))}
              <text x={centre(at)} y={line + 58} textAnchor="middle" fill="var(--soft)">
                {stop.deployment.kind === "rollback" ? "by hand" : stop.words.split(",")[0]}
              </text>
            </g>
          ))}
        </svg>
      </section>
    </Card>
  );
}

const centre = (at: number): number => at * STEP + STEP / 2;

function arc({ from, to }: Back, line: number): string {
  const height = Math.min(20 + (from - to) * 14, line - 14);
  const middle = (centre(from) + centre(to)) / 2;
  return `M${centre(from)} ${line - 10}Q${middle} ${line - 2 * height} ${centre(to)} ${line - 11}`;
}

const nameOf = (stop: Stop | undefined): string =>
  stop ? `“${oneLine(stop.label, 80)}” (${stop.deployment.commit.slice(0, 8)})` : "";

function inWords(stops: Stop[], backs: Back[]): string {
  const told = stops.map(({ deployment, words }, at) => {
    const back = backs.find(({ from }) => from === at);
    const goal = back ? `, back to ${nameOf(stops[back.to])}` : "";
    return `${brief(deployment.requested_at)} ${deployment.kind} ${deployment.kind === "rollback" ? "to" : "of"} ${nameOf(stops[at])}: ${words}${goal}`;
  });
  return `The last deployments, oldest first. ${told.join(". ")}.`;
}
