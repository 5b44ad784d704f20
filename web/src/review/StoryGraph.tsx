import { useQuery } from "@tanstack/react-query";
import type { Change } from "../api/changes";
import { goalQuery } from "../api/goals";
import { Card } from "../parts/Card";
import { Flow } from "../parts/Flow";
import { graphOf } from "./graph";
import { journey } from "./journey";
import { useRecords } from "./Way";

/** One picture of where a change came from and where it went, each step a way to its records. */
export function StoryGraph({ change }: { change: Change }) {
  const goal = useQuery({ ...goalQuery(change.goal ?? ""), enabled: Boolean(change.goal) });
  const nodes = graphOf(change, journey(change, useRecords(change)), goal.data?.tasks ?? []);
  return (
    <Card title="The story of this change" className="mb-4">
      <Flow nodes={nodes} label="The story of this change" />
    </Card>
  );
}
