/**
 * Who this tab is. The token lives in this tab's sessionStorage and travels in a header, never in
 * a cookie: cookies ignore ports, so another program on this machine could read them.
 *
 * A tab that was opened without a login link asks the other tabs of the same origin.
 */

export type Role = "viewer" | "operator" | "agent";
export type Session = { token: string; role: Role; expires_at: string };

const KEY = "astra.session";
const ANSWER_MS = 200;
const listeners = new Set<() => void>();
let current: Session | null = read();
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("astra.session") : null;

channel?.addEventListener(
  "message",
  ({ data }: MessageEvent<{ kind: string; session?: Session }>) => {
    if (data.kind === "who" && current) channel.postMessage({ kind: "this", session: current });
    if (data.kind === "this" && data.session && !current) keep(data.session);
    if (data.kind === "left") keep(null);
  },
);

export function session(): Session | null {
  return current;
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Become somebody, or nobody. */
export function keep(next: Session | null): void {
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

/** Take the one-time code out of the address, so that it stays in no history. */
export function takeLoginCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (code) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Ask the other tabs who they are; nobody may answer. */
export async function askOtherTabs(): Promise<void> {
  if (current || !channel) return;
  channel.postMessage({ kind: "who" });
  await new Promise((done) => setTimeout(done, ANSWER_MS));
}

function read(): Session | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Session | null;
    return kept && Date.parse(kept.expires_at) > Date.now() ? kept : null;
  } catch {
    return null;
  }
}
