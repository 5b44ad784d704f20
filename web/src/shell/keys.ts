/**
 * Keys by what they do. A page says which keys it has while it is shown; the overlay lists them.
 * A binding is one key ("a") or two in a row ("g i"). Typing in a field triggers nothing.
 */

import { useLayoutEffect, useRef, useSyncExternalStore } from "react";

export type Binding = { keys: string; does: string; run: () => void; group?: string };
type Entry = { current: Binding[] };

const PATIENCE_MS = 1500;
let entries: Entry[] = [];
const watchers = new Set<() => void>();
let first = "";
let firstAt = 0;

/** Have these keys while the component is there: from the moment it is seen, not some time later. */
export function useKeys(bindings: Binding[]): void {
  const entry = useRef(bindings);
  entry.current = bindings;
  useLayoutEffect(() => {
    entries = [...entries, entry];
    tell();
    return () => {
      entries = entries.filter((each) => each !== entry);
      tell();
    };
  }, []);
}

export function useBindings(): Binding[] {
  const all = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => entries,
  );
  return all.flatMap((entry) => entry.current);
}

/** Find what a key means now; the newest component wins. */
export function press(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (event.key === "Enter" && answersEnter(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const pair = event.timeStamp - firstAt < PATIENCE_MS ? `${first} ${event.key}` : "";
  const found = find(pair) ?? find(event.key);
  first = found ? "" : event.key;
  firstAt = event.timeStamp;
  if (found) {
    event.preventDefault();
    found.run();
  }
}

function find(keys: string): Binding | undefined {
  if (!keys) return undefined;
  for (const entry of entries.toReversed()) {
    const binding = entry.current.find((each) => each.keys === keys);
    if (binding) return binding;
  }
  return undefined;
}

/** Where letters are text. A tick box takes none, so keys go on working after it was ticked. */
function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|button)$/.test(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

/** What is in focus and has an Enter of its own keeps it, whatever the page means by the key. */
function answersEnter(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a[href], button, summary, input") !== null;
}

function tell(): void {
  for (const watcher of watchers) watcher();
}
