/** What a screen reader is told although nothing that has the focus changed. */

import { useSyncExternalStore } from "react";

let latest = "";
const watchers = new Set<() => void>();

export function announce(text: string): void {
  // The same words twice are said twice: a no-break space makes them another text.
  latest = text === latest ? `${text}\u00a0` : text;
  for (const watcher of watchers) watcher();
}

export function useAnnouncement(): string {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => latest,
  );
}
