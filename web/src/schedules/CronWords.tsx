import { useQuery } from "@tanstack/react-query";
import type { Schedule } from "../api/model";
import { explainQuery } from "../api/queries";
import { Untrusted } from "../parts/Untrusted";

/** When a schedule runs, in words; the expression itself where nobody has worded it yet. */
export function CronWords({ schedule }: { schedule: Schedule }) {
  const { cron_expression: cron, timezone } = schedule;
  const { data } = useQuery(explainQuery(cron, timezone));
  return (
    <span title={cron}>
      <Untrusted text={data?.in_words ?? cron} max={160} inButton />,{" "}
      <Untrusted text={timezone} max={60} />
    </span>
  );
}
