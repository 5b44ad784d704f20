/**
 * What a diff leaves out. Lines that were asked for join the hunk they touch; what is still hidden
 * lies in gaps, one before each hunk and one behind the last. All numbers are of the new side.
 */

import type { FileDiff, Hunk, Line } from "./parse";

export type Gap = { from: number; to: number | null };
export type Range = { start: number; end: number };
export type Known = { lines: ReadonlyMap<number, string>; total: number | null };
export type Expanded = { hunks: Hunk[]; gaps: (Gap | null)[] };

export const NOTHING_KNOWN: Known = { lines: new Map(), total: null };
export const STEP = 20;
const SMALL = 40;
const MOST = 500;
const CONTEXT = 3;

/** Give the hunks with the lines that are known around them, and the gaps that are left. */
export function expand(file: FileDiff, known: Known): Expanded {
  const hunks = file.hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] }));
  if (file.how !== "modified") return { hunks, gaps: [...hunks.map(() => null), null] };
  const ends = [{ old: 0, new: 0 }, ...file.hunks.map(lastLine)];
  const lasts = [...file.hunks.map((hunk) => hunk.start.new - 1), known.total ?? endOfFile(file)];
  const gaps = lasts.map((to, at) => {
    const end = ends[at] ?? { old: 0, new: 0 };
    return narrowed({ from: end.new + 1, to }, end, hunks[at - 1], hunks[at], known.lines);
  });
  return { hunks, gaps };
}

/** Move what is known from a gap into the hunks around it; gives what is left of the gap. */
function narrowed(
  gap: Gap,
  end: { old: number; new: number },
  before: Hunk | undefined,
  after: Hunk | undefined,
  lines: ReadonlyMap<number, string>,
): Gap | null {
  const from = gap.from + (before ? joinBelow(before, gap, end, lines) : 0);
  if (gap.to === null) return { from, to: null };
  const to = gap.to - (after ? joinAbove(after, { from, to: gap.to }, lines) : 0);
  return to < from ? null : { from, to };
}

/** Which lines a press of each button would bring, in the words of the button. */
export function offers(gap: Gap, where: { above: boolean; below: boolean }): [string, Range][] {
  const size = gap.to === null ? null : gap.to - gap.from + 1;
  if (size !== null && size <= SMALL) {
    return [[`Show ${size} hidden ${size === 1 ? "line" : "lines"}`, range(gap.from, size)]];
  }
  const found: [string, Range][] = [];
  if (where.above) found.push([`Show ${STEP} lines below`, range(gap.from, STEP)]);
  if (where.below && gap.to !== null) {
    found.push([`Show ${STEP} lines above`, range(gap.to - STEP + 1, STEP)]);
  }
  return found;
}

/** Everything that is hidden in a file, as far as one question may ask. */
export function everything(gaps: (Gap | null)[]): Range[] {
  return gaps.flatMap((gap) =>
    gap ? [range(gap.from, Math.min((gap.to ?? gap.from + MOST) - gap.from + 1, MOST))] : [],
  );
}

export function learned(known: Known, start: number, lines: string[], total: number): Known {
  const all = new Map(known.lines);
  for (const [index, text] of lines.entries()) all.set(start + index, text);
  return { lines: all, total };
}

const range = (start: number, count: number): Range => ({ start, end: start + count - 1 });

/** Put known lines behind a hunk; what is hidden is the same on both sides, a distance apart. */
function joinBelow(
  hunk: Hunk,
  gap: Gap,
  end: { old: number; new: number },
  lines: ReadonlyMap<number, string>,
): number {
  let count = 0;
  for (; gap.to === null || gap.from + count <= gap.to; count += 1) {
    const text = lines.get(gap.from + count);
    if (text === undefined) break;
    hunk.lines.push(contextLine(end.old + 1 + count, gap.from + count, text));
  }
  return count;
}

function joinAbove(hunk: Hunk, gap: Gap, lines: ReadonlyMap<number, string>): number {
  const before: Line[] = [];
  const apart = hunk.start.old - hunk.start.new;
  for (let at = gap.to ?? 0; at >= gap.from; at -= 1) {
    const text = lines.get(at);
    if (text === undefined) break;
    before.unshift(contextLine(at + apart, at, text));
  }
  hunk.lines.unshift(...before);
  return before.length;
}

const contextLine = (before: number, after: number, text: string): Line => ({
  kind: " ",
  old: before,
  new: after,
  text,
});

function lastLine(hunk: Hunk): { old: number; new: number } {
  let last = { old: hunk.start.old - 1, new: hunk.start.new - 1 };
  for (const line of hunk.lines) {
    last = { old: line.old ?? last.old, new: line.new ?? last.new };
  }
  return last;
}

/** Git gives three lines behind a change wherever there are that many; fewer are the end. */
function endOfFile(file: FileDiff): number | null {
  const last = file.hunks.at(-1);
  if (!last) return 0;
  const behind = last.lines.length - 1 - last.lines.findLastIndex((line) => line.kind !== " ");
  return behind < CONTEXT ? lastLine(last).new : null;
}
