import { Link } from "@tanstack/react-router";
import type { Status } from "../api/model";
import { Badge } from "../parts/Badge";
import { Card } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Time, useNow } from "../parts/Time";

const PAGES: Record<string, string> = {
  decisions: "/",
  blocked_plans: "/plans",
  changes: "/changes",
  firings: "/schedules",
  deployments: "/releases",
};
const OLD_MS = 12 * 3_600_000;

/** Every queue with what has waited longest in it; the id leads to its records. */
export function Queues({ status }: { status: Status }) {
  return (
    <Card title="What waits" padded={false}>
      <ul>
        <QueueRows queues={status.queues} />
        <li className="flex items-baseline gap-x-3 px-4 py-2.5 text-sm text-soft">
          <Link
            to="/schedules"
            className="w-8 text-right font-semibold text-accent tabular-nums underline"
          >
            {status.executor.active}
          </Link>
          <span>
            active schedules,{" "}
            {status.executor.next_due ? (
              <>
                the next firing <Time coming at={status.executor.next_due} />
              </>
            ) : (
              "none of them due"
            )}
          </span>
        </li>
      </ul>
    </Card>
  );
}

export function QueueRows({ queues }: { queues: Status["queues"] }) {
  const now = useNow();
  return queues.map((queue) => (
    <li
      key={queue.name}
      className="flex items-baseline gap-x-3 border-b border-line px-4 py-2.5 text-sm last:border-b-0"
    >
      <Link
        to={PAGES[queue.name] ?? "/"}
        className={`w-8 text-right font-semibold tabular-nums ${queue.count ? "text-accent underline" : "text-soft"}`}
      >
        {queue.count}
      </Link>
      <span className={`min-w-0 flex-1 ${queue.count ? "" : "text-soft"}`}>
        {queue.about}
        {queue.oldest && queue.since && (
          <span className="block text-soft">
            {now - Date.parse(queue.since) > OLD_MS && <Badge tone="warn">old</Badge>} the oldest
            from <Time at={queue.since} />, <StoryLink id={queue.oldest}>its records</StoryLink>
          </span>
        )}
      </span>
    </li>
  ));
}
