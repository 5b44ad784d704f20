import { useQuery } from "@tanstack/react-query";
import { type FleetInstance, type FleetRollout, fleetQuery } from "../api/plans";
import { Badge, StateBadge } from "../parts/Badge";
import { Card } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { rolloutWords } from "./rollout";

/** Every instance with what it runs, in its wave, while a release goes out or goes back. */
export function Fleet() {
  const { data: fleet } = useQuery(fleetQuery);
  if (!fleet?.on) return null;
  return (
    <Card title="Fleet" actions={<Progress rollout={fleet.rollout} />} padded={false}>
      {fleet.rollout?.reason && (
        <p className="border-b border-line px-4 py-2.5 text-sm">
          <Untrusted text={fleet.rollout.reason} max={300} />
        </p>
      )}
      <ul aria-label="Instances">
        {fleet.items.map((item) => (
          <Instance key={item.instance} item={item} />
        ))}
      </ul>
    </Card>
  );
}

function Progress({ rollout }: { rollout: FleetRollout | null }) {
  const words = rollout && rolloutWords(rollout);
  if (!words) return null;
  return <Badge tone={rollout.phase === "rolling_back" ? "warn" : "accent"}>{words}</Badge>;
}

function Instance({ item }: { item: FleetInstance }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0">
      <span className="min-w-0 flex-1 basis-56">
        <span className="font-mono text-sm">{item.instance}</span>
        <span className="block text-sm text-soft">
          {item.wave && <>wave {item.wave}, </>}
          {item.release ? <StoryLink id={item.release} /> : "nothing yet"}
          {item.since && (
            <>
              , since <Time at={item.since} />
            </>
          )}
        </span>
        {item.reason && <Untrusted text={item.reason} max={200} />}
      </span>
      {!item.present && <Badge tone="warn">away</Badge>}
      <StateBadge state={item.state} />
    </li>
  );
}
