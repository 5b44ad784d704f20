/**
 * Decisions on their way: each waits a moment in which it can be taken back, and longer while Astra
 * cannot be reached. They are kept for this tab, so that a reload loses none; closing the tab before
 * one is sent leaves things as they were, which is the safe side of a no.
 */

import { Problem } from "./problem";

export type Letter = {
  key: string;
  /** What it does, for a person: "Reject …". */
  words: string;
  kind: "reject approval" | "reject change" | "request changes";
  identifier: string;
  body: Record<string, unknown>;
};
export type Posted = Letter & {
  due: number;
  state: "waiting" | "sending" | "failed";
  problem?: Problem;
};
type Send = (letter: Letter) => Promise<unknown>;
type Parts = {
  send: Send;
  now: () => number;
  later: (run: () => void, milliseconds: number) => void;
  storage: Pick<Storage, "getItem" | "setItem">;
  sent: (letter: Letter, problem?: Problem) => void;
};

export const GRACE_MS = 5_000;
const RETRY_MS = 3_000;
const PLACE = "astra.outbox";

export class Outbox {
  items: readonly Posted[] = [];
  private readonly watchers = new Set<() => void>();

  constructor(private readonly parts: Parts) {
    this.items = read(parts.storage).map((letter) => ({ ...letter, ...this.fresh() }));
    for (const item of this.items) this.wake(item.key, GRACE_MS);
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Take a decision on; the same one twice is one. */
  post(letter: Letter): void {
    const others = this.items.filter((each) => each.key !== letter.key);
    this.become([...others, { ...letter, ...this.fresh() }]);
    this.wake(letter.key, GRACE_MS);
  }

  /** Take it back, or away: what is being sent at this moment cannot be. */
  takeBack(key: string): void {
    this.become(this.items.filter((each) => each.key !== key || each.state === "sending"));
  }

  /** Send what is due, now that Astra answers again. */
  hurry(): void {
    for (const item of this.items) void this.deliver(item.key);
  }

  private fresh() {
    return { due: this.parts.now() + GRACE_MS, state: "waiting" as const };
  }

  private wake(key: string, milliseconds: number): void {
    this.parts.later(() => void this.deliver(key), milliseconds);
  }

  private async deliver(key: string): Promise<void> {
    const item = this.items.find((each) => each.key === key);
    if (item?.state !== "waiting" || item.due > this.parts.now()) return;
    this.change(key, { state: "sending" });
    try {
      await this.parts.send(item);
      this.settle(item);
    } catch (error) {
      this.fail(item, Problem.of(error));
    }
  }

  private settle(item: Posted, problem?: Problem): void {
    this.become(this.items.filter((each) => each.key !== item.key));
    this.parts.sent(item, problem);
  }

  private fail(item: Posted, problem: Problem): void {
    if (problem.code === "unreachable") {
      this.change(item.key, { state: "waiting" });
      this.wake(item.key, RETRY_MS);
    } else if (problem.code === "already_decided") {
      this.settle(item, problem);
    } else {
      this.change(item.key, { state: "failed", problem });
      this.parts.sent(item, problem);
    }
  }

  private change(key: string, more: Partial<Posted>): void {
    this.become(this.items.map((each) => (each.key === key ? { ...each, ...more } : each)));
  }

  private become(items: readonly Posted[]): void {
    this.items = items;
    const kept = items.filter(({ state }) => state !== "failed");
    const letters = kept.map(({ key, words, kind, identifier, body }) => ({
      ...{ key, words, kind, identifier, body },
    }));
    this.parts.storage.setItem(PLACE, JSON.stringify(letters));
    for (const watcher of this.watchers) watcher();
  }
}

function read(storage: Parts["storage"]): Letter[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(PLACE) ?? "[]");
    return Array.isArray(kept) ? (kept as Letter[]) : [];
  } catch {
    return [];
  }
}
