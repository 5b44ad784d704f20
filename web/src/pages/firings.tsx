import type { Firing } from "../api/model";
import { exact } from "../parts/time";

export const COLOURS: Record<string, string> = {
  succeeded: "bg-good",
  failed: "bg-bad",
  interrupted: "bg-bad",
  skipped: "bg-warn",
  missed: "bg-warn",
  cancelled: "bg-line-strong",
  running: "bg-accent",
  retrying: "bg-accent",
  queued: "bg-accent",
  waiting: "bg-accent",
};

/** The last firings as a strip, oldest first; each tile says what it was. */
export function Strip({ firings }: { firings: Firing[] }) {
  if (firings.length === 0) return <span className="text-sm text-soft">has not run yet</span>;
  return (
    <ol aria-label="Last firings, oldest first" className="flex gap-0.5">
      {firings.toReversed().map((firing) => (
        <li
          key={firing.id}
          title={`${firing.outcome}, ${exact(firing.fire_time)}`}
          className={`h-5 w-2 rounded-xs ${COLOURS[firing.outcome] ?? "bg-line-strong"}`}
        >
          <span className="sr-only">
            {firing.outcome} {exact(firing.fire_time)}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** How many firings count against today's budget, in UTC as the server counts. */
export function usedToday(firings: Firing[], now: number): number {
  const today = new Date(now).toISOString().slice(0, 10);
  return firings.filter((firing) => firing.started_at?.startsWith(today)).length;
}
