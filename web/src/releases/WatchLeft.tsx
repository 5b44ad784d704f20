import { useEffect, useState } from "react";
import type { App } from "../pages/AppFacts";
import { Meter } from "../parts/Meter";

/** How many seconds of its watch a release still has to prove itself; null where none counts. */
export function watchLeft(app: App | null, now: number): number | null {
  const { state, changed_at: since, watch_seconds: seconds } = app?.deployment ?? {};
  if (state !== "switched" || !seconds || !since) return null;
  const left = Math.ceil((Date.parse(since) + seconds * 1000 - now) / 1000);
  return Math.min(Math.max(left, 0), seconds);
}

/** The watch, counting down while a deployment is proven. */
export function WatchLeft({ app }: { app: App | null }) {
  const now = useSeconds();
  const left = watchLeft(app, now);
  const total = app?.deployment.watch_seconds ?? 0;
  if (left === null) return "not yet";
  return (
    <>
      <p className="mb-1 tabular-nums">
        {left > 0
          ? `being watched: ${left} of ${total} seconds left`
          : "the watch is over; the last look is being taken"}
      </p>
      <Meter value={total - left} max={total} label="seconds of the watch that are over" />
    </>
  );
}

function useSeconds(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
