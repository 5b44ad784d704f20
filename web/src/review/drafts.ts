/**
 * What a reviewer has written and seen, kept on this device until it is sent: comments on lines, and
 * the files that were viewed. Both belong to one commit; a new one starts afresh.
 */

import { useSyncExternalStore } from "react";
import type { Side } from "./parse";

export type Remark = { path: string; side: Side; line: number; text: string };
export type Drafts = { remarks: Remark[]; viewed: string[] };

const EMPTY: Drafts = { remarks: [], viewed: [] };
const watchers = new Set<() => void>();
const cache = new Map<string, Drafts>();

export function useDrafts(commit: string): [Drafts, (change: (now: Drafts) => Drafts) => void] {
  const drafts = useSyncExternalStore(watch, () => read(commit));
  return [drafts, (change) => write(commit, change(read(commit)))];
}

/** Drop the remarks on a commit once they are sent; what was viewed stays. */
export function forgetRemarks(commit: string): void {
  write(commit, { ...read(commit), remarks: [] });
}

export function withRemark(drafts: Drafts, remark: Remark): Drafts {
  const others = drafts.remarks.filter((each) => !sameLine(each, remark));
  return { ...drafts, remarks: remark.text.trim() ? [...others, remark] : others };
}

export function withViewed(drafts: Drafts, path: string, viewed: boolean): Drafts {
  const others = drafts.viewed.filter((each) => each !== path);
  return { ...drafts, viewed: viewed ? [...others, path] : others };
}

/** Give the remarks in the order of the diff. */
export function inOrder<T extends Omit<Remark, "text">>(remarks: readonly T[]): T[] {
  return remarks.toSorted((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
}

export function placeInWords(remark: Omit<Remark, "text">): string {
  return `${remark.path}:${remark.line}${remark.side === "old" ? " (before)" : ""}`;
}

export function sameLine(a: Omit<Remark, "text">, b: Omit<Remark, "text">): boolean {
  return a.path === b.path && a.side === b.side && a.line === b.line;
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function read(commit: string): Drafts {
  const known = cache.get(commit);
  if (known) return known;
  let kept = EMPTY;
  try {
    kept = (JSON.parse(localStorage.getItem(name(commit)) ?? "null") as Drafts | null) ?? EMPTY;
  } catch {
    // Unreadable drafts are no drafts.
  }
  cache.set(commit, kept);
  return kept;
}

function write(commit: string, drafts: Drafts): void {
  cache.set(commit, drafts);
  localStorage.setItem(name(commit), JSON.stringify(drafts));
  for (const watcher of watchers) watcher();
}

const name = (commit: string): string => `astra.review.${commit}`;
