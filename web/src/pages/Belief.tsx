import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { BeliefDay, BeliefDetails } from "../api/model";
import { beliefQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Card, Fact, Facts } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { PageHeader } from "../parts/PageHeader";
import { Answer } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { TONES } from "./Beliefs";
import { bandPath, HEIGHT, meanPath, percent, place, WIDTH } from "./bands";

export function BeliefPage() {
  const { id } = useParams({ from: "/beliefs/$id" });
  return (
    <Answer whole query={useQuery(beliefQuery(id))}>
      {(found) => <Shown belief={found} />}
    </Answer>
  );
}

function Shown({ belief }: { belief: BeliefDetails }) {
  return (
    <>
      <PageHeader
        title="A belief"
        about={
          <>
            {percent(belief.mean)}, between {percent(belief.lower)} and {percent(belief.upper)}
          </>
        }
      />
      <div className="space-y-4">
        <Card>
          <Untrusted text={belief.statement} block className="text-lg" />
        </Card>
        {belief.history.length > 0 && (
          <Card title="Confidence over time">
            <Band days={belief.history} />
          </Card>
        )}
        <Card title="Details">
          <Numbers belief={belief} />
        </Card>
        {belief.conflicts.length > 0 && <Conflicts belief={belief} />}
        <Card title="Evidence">
          <EvidenceTable belief={belief} />
        </Card>
        {belief.statements.length > 0 && <Statements belief={belief} />}
      </div>
    </>
  );
}

function Numbers({ belief }: { belief: BeliefDetails }) {
  return (
    <Facts>
      <Fact name="State">
        <Badge tone={TONES[belief.state] ?? "plain"}>{belief.state}</Badge>
      </Fact>
      {belief.scope.kind && (
        <Fact name="Scope">
          {belief.scope.kind} <Untrusted text={belief.scope.value ?? ""} max={120} />
        </Fact>
      )}
      <Fact name="Weight">
        for {belief.supporting.toFixed(2)}, against {belief.opposing.toFixed(2)}
      </Fact>
      {belief.reason && (
        <Fact name="Put away">
          <Untrusted text={belief.reason} max={300} />
        </Fact>
      )}
    </Facts>
  );
}

/** The mean of each day, in the band between its 5 % bounds. */
function Band({ days }: { days: BeliefDay[] }) {
  const last = days.at(-1);
  if (!last) return null;
  const [cx, cy] = place(days, days.length - 1, last.mean);
  const label = `From ${days[0]?.day} to ${last.day}: ${percent(last.mean)} now, between ${percent(last.lower)} and ${percent(last.upper)}`;
  return (
    <>
      <div className="grid grid-cols-[auto_1fr] gap-x-2">
        <div
          aria-hidden="true"
          className="flex flex-col justify-between text-right text-xs leading-none text-soft tabular-nums"
        >
          <span>100 %</span>
          <span>50 %</span>
          <span>0 %</span>
        </div>
        <svg
          role="img"
          aria-label={label}
          viewBox={`-4 -6 ${WIDTH + 8} ${HEIGHT + 12}`}
          className="h-auto w-full"
        >
          {[0, 0.5, 1].map((share) => (
            <line
              key={share}
              x1="0"
              x2={WIDTH}
              y1={HEIGHT - share * HEIGHT}
              y2={HEIGHT - share * HEIGHT}
              stroke="var(--line)"
            />
          ))}
          <path d={bandPath(days)} fill="var(--accent)" opacity="0.18" />
          <path d={meanPath(days)} fill="none" stroke="var(--accent)" strokeWidth="2.5" />
          <circle cx={cx} cy={cy} r="4.5" fill="var(--accent)" />
        </svg>
        <p className="col-start-2 mt-1 flex justify-between text-xs text-soft tabular-nums">
          <span>{days[0]?.day}</span>
          {days.length > 1 && <span>{last.day}</span>}
        </p>
      </div>
      <details className="mt-2 text-sm">
        <summary className="cursor-pointer text-soft">The numbers of each day</summary>
        <table className="mt-2 w-full text-left tabular-nums">
          <thead className="text-soft">
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Mean</th>
              <th scope="col">Lower</th>
              <th scope="col">Upper</th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.day}>
                <td>{day.day}</td>
                <td>{percent(day.mean)}</td>
                <td>{percent(day.lower)}</td>
                <td>{percent(day.upper)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

function EvidenceTable({ belief }: { belief: BeliefDetails }) {
  if (belief.evidence.length === 0) {
    return <p className="text-sm text-soft">No record speaks for or against it.</p>;
  }
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left text-sm tabular-nums">
        <thead className="text-soft">
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Weight now</th>
            <th scope="col">What happened</th>
            <th scope="col">Record</th>
          </tr>
        </thead>
        <tbody>
          {belief.evidence.map((item) => (
            <tr key={item.sequence} className="border-t border-line">
              <td className="py-1 pr-3 whitespace-nowrap">{item.day}</td>
              <td className="py-1 pr-3 whitespace-nowrap">
                {item.sign} {item.weight.toFixed(2)}
              </td>
              <td className="py-1 pr-3">{item.kind.replaceAll("_", " ")}</td>
              <td className="py-1">
                {item.story ? (
                  <StoryLink id={item.story}>{`record ${item.sequence}`}</StoryLink>
                ) : (
                  item.sequence
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Conflicts({ belief }: { belief: BeliefDetails }) {
  return (
    <Card title="Contradicted by">
      <ul className="space-y-2 text-sm">
        {belief.conflicts.map((other) => (
          <li key={other.id}>
            <Link
              to="/beliefs/$id"
              params={{ id: other.id }}
              className="text-accent hover:underline"
            >
              <Untrusted text={other.statement} max={180} />
            </Link>{" "}
            <Badge tone={TONES[other.state] ?? "plain"}>{other.state}</Badge> {percent(other.mean)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Statements({ belief }: { belief: BeliefDetails }) {
  return (
    <Card title="What was said about it, without weight">
      <ul className="space-y-2 text-sm">
        {belief.statements.map((item) => (
          <li key={item.sequence}>
            <Untrusted text={item.actor} max={60} className="text-soft" />:{" "}
            <Untrusted text={item.text} max={300} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
