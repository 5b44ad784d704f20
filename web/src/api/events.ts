/**
 * The ledger as it grows. Read with fetch, because EventSource can send no Authorization header.
 * After a break the stream goes on behind the last record this tab has seen, so nothing is missed.
 */

import type { LedgerRecord } from "./model";
import { proof, session } from "./session";

export type Link = "connecting" | "live" | "broken" | "offline";
type Listener = (records: LedgerRecord[]) => void;

/** The server says that it is still there every 15 seconds. */
const SILENCE_MS = 40_000;
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000];

export class Feed {
  link: Link = "connecting";
  last: number | null = null;
  since = Date.now();
  private attempt = 0;
  private running: AbortController | null = null;
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();

  onRecords(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  onLink(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  start(): void {
    if (this.running) return;
    this.running = new AbortController();
    void this.follow(this.running.signal);
  }

  stop(): void {
    this.running?.abort();
    this.running = null;
  }

  /** Try again now, when somebody asks or the network is back. */
  hurry(): void {
    this.stop();
    this.attempt = 0;
    this.start();
  }

  private async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.read(signal);
      } catch {
        // A broken stream is expected; the state says so, and the next attempt resumes.
      }
      if (signal.aborted || !session()) return;
      this.become(navigator.onLine ? "broken" : "offline");
      await pause(PAUSES_MS[Math.min(this.attempt++, PAUSES_MS.length - 1)] ?? 0, signal);
    }
  }

  private async read(signal: AbortSignal): Promise<void> {
    const silence = new AbortController();
    const headers: Record<string, string> = proof();
    if (this.last !== null) headers["Last-Event-ID"] = String(this.last);
    const answer = await fetch("/api/events", {
      headers,
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!answer.ok || !answer.body) throw new Error(`events: ${answer.status}`);
    this.attempt = 0;
    this.become("live");
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    let rest = "";
    for await (const chunk of texts(answer.body)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop() ?? "";
      this.arrived(blocks.map(parse).filter((record) => record !== null));
    }
    clearTimeout(timer);
  }

  private arrived(records: LedgerRecord[]): void {
    const fresh = records.filter((record) => record.sequence > (this.last ?? -1));
    const newest = fresh.at(-1);
    if (!newest) return;
    this.last = newest.sequence;
    for (const listener of this.listeners) listener(fresh);
  }

  private become(link: Link): void {
    if (link === this.link) return;
    this.link = link;
    this.since = Date.now();
    for (const watcher of this.watchers) watcher();
  }
}

/** Read one block of a stream of server-sent events; comments and unreadable blocks are nothing. */
export function parse(block: string): LedgerRecord | null {
  const data = block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");
  try {
    const record = JSON.parse(data) as LedgerRecord;
    return typeof record.sequence === "number" ? record : null;
  } catch {
    return null;
  }
}

export async function* texts(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader();
  while (true) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: string };
    if (done) return;
    yield value ?? "";
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });
}

export const feed = new Feed();
