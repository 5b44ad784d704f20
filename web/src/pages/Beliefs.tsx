import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Belief } from "../api/model";
import { beliefsQuery } from "../api/queries";
import { Badge, type Tone } from "../parts/Badge";
import { Button } from "../parts/Button";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { percent } from "./bands";

export const TONES: Record<string, Tone> = { held: "good", doubted: "warn" };

export function Beliefs() {
  const [proposed, setProposed] = useState(false);
  return (
    <>
      <PageHeader
        title="Beliefs"
        about="What outcomes say about tests, folders, methods, tools and schedules. Only records move the numbers, and they fade."
        actions={
          <Button aria-pressed={proposed} onClick={() => setProposed(!proposed)}>
            {proposed ? "Show what was counted" : "Show what was only said"}
          </Button>
        }
      />
      <section className="min-w-0 overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={useQuery(beliefsQuery(proposed))}>
          {(page) =>
            page.items.length === 0 ? (
              <Empty title={proposed ? "Nobody proposed a belief" : "Nothing was counted yet"}>
                Beliefs form by themselves once changes are merged, releases settle or are taken
                back, and schedules run.
              </Empty>
            ) : (
              <ul>
                {page.items.map((belief) => (
                  <Row key={belief.id} belief={belief} />
                ))}
              </ul>
            )
          }
        </Answer>
      </section>
    </>
  );
}

function Row({ belief }: { belief: Belief }) {
  return (
    <li className="relative flex items-center gap-4 border-b border-line px-4 py-3 last:border-b-0 hover:bg-raised/60">
      <div className="w-24 shrink-0">
        <span className="text-sm font-semibold tabular-nums">{percent(belief.mean)}</span>
        <Interval belief={belief} />
      </div>
      <div className="min-w-0 flex-1">
        <Link
          to="/beliefs/$id"
          params={{ id: belief.id }}
          className="font-medium after:absolute after:inset-0"
        >
          <Untrusted text={belief.statement} max={180} />
        </Link>
        <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-soft">
          <Badge tone={TONES[belief.state] ?? "plain"}>{belief.state}</Badge>
          {belief.scope.kind && <span>{belief.scope.kind}</span>}
          <span>
            · {belief.evidence_count === 1 ? "1 record" : `${belief.evidence_count} records`}
          </span>
        </p>
      </div>
    </li>
  );
}

/** From the lower to the upper bound, with the mean in it. */
function Interval({ belief }: { belief: Belief }) {
  return (
    <svg
      role="img"
      aria-label={`between ${percent(belief.lower)} and ${percent(belief.upper)}`}
      viewBox="0 0 100 8"
      className="h-2 w-full"
    >
      <line x1="0" x2="100" y1="4" y2="4" stroke="var(--line)" strokeWidth="2" />
      <line
        x1={belief.lower * 100}
        x2={belief.upper * 100}
        y1="4"
        y2="4"
        stroke="var(--accent)"
        strokeWidth="4"
      />
      <circle cx={belief.mean * 100} cy="4" r="3.5" fill="var(--accent)" />
    </svg>
  );
}
