import { useSyncExternalStore } from "react";
import { ago, ahead, exact } from "./time";

const TICK_MS = 10_000;
let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

/** One clock for the whole page, so that all ages move together. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => now);
}

/** A moment in words that tick: how long ago it was or, where it is one to come, in how long. */
export function Time({
  at,
  coming = false,
  className = "",
}: {
  at: string;
  coming?: boolean;
  className?: string;
}) {
  const moment = useNow();
  return (
    <time dateTime={at} title={exact(at)} className={`whitespace-nowrap ${className}`}>
      {coming ? ahead(at, moment) : ago(at, moment)}
    </time>
  );
}

function watch(watcher: () => void): () => void {
  if (watchers.size === 0) now = Date.now();
  watchers.add(watcher);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0 && timer) {
      clearInterval(timer);
      timer = null;
    }
  };
}

function tick(): void {
  now = Date.now();
  for (const watcher of watchers) watcher();
}
