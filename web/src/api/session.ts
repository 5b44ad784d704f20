/**
 * Who this tab is. On loopback the secret lives in this tab's sessionStorage and travels in a
 * header: cookies ignore ports, so another program on this machine could be sent one.
 *
 * A tab that was opened without a login link asks the other tabs of the same origin.
 */

import type { Session } from "./model";

/** A session as this tab keeps it. Behind TLS the secret is a cookie that no script can read. */
export type Kept = Session & { secret: string | null };

const KEY = "astra.session";
const ANSWER_MS = 200;
const listeners = new Set<() => void>();
let current: Kept | null = read();
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("astra.session") : null;

channel?.addEventListener("message", ({ data }: MessageEvent<{ kind: string; session?: Kept }>) => {
  if (data.kind === "who" && current) channel.postMessage({ kind: "this", session: current });
  if (data.kind === "this" && data.session && !current) keep(data.session);
  if (data.kind === "left") keep(null);
});

export function session(): Kept | null {
  return current;
}

/** Give the headers that say who asks. */
export function proof(): Record<string, string> {
  if (current?.secret) return { Authorization: `Bearer ${current.secret}` };
  return current?.csrf ? { "X-CSRF-Token": current.csrf } : {};
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Become somebody, or nobody. */
export function keep(next: Kept | null): void {
  current = next;
  if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
  else sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}

/** Leave in every tab. */
export function leave(): void {
  keep(null);
  channel?.postMessage({ kind: "left" });
}

/** Take a one-time code out of the address, so that it stays in no history. */
export function takeCode(path: "/login" | "/enroll"): string | null {
  if (location.pathname !== path) return null;
  const code = location.hash.slice(1);
  history.replaceState(null, "", "/");
  return code || null;
}

/** Ask the other tabs who they are; nobody may answer. */
export async function askOtherTabs(): Promise<void> {
  if (current || !channel) return;
  channel.postMessage({ kind: "who" });
  await new Promise((done) => setTimeout(done, ANSWER_MS));
}

function read(): Kept | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Kept | null;
    return kept && Date.parse(kept.expires_at ?? "") > Date.now() ? kept : null;
  } catch {
    return null;
  }
}
