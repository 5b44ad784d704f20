import { expect, it } from "vitest";
import { everything, expand, learned, NOTHING_KNOWN, offers } from "./context";
import { type FileDiff, parseDiff } from "./parse";

const DIFF = `diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -10,7 +10,8 @@
 l10
 l11
 l12
-l13
+L13
+more
 l14
 l15
 l16
@@ -60,7 +61,7 @@
 l60
 l61
 l62
-l63
+L63
 l64
 l65
 l66
`;
const file = parseDiff(DIFF)[0] as FileDiff;
const text = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => `line ${start + index}`);

it("names what is hidden before, between and behind the hunks", () => {
  expect(expand(file, NOTHING_KNOWN).gaps).toEqual([
    { from: 1, to: 9 },
    { from: 18, to: 60 },
    { from: 68, to: null },
  ]);
});

it("joins known lines to the hunk they touch, with the right numbers on both sides", () => {
  const below = learned(NOTHING_KNOWN, 18, text(18, 20), 90);
  const { hunks, gaps } = expand(file, learned(below, 41, text(41, 20), 90));
  expect(hunks[0]?.lines.at(-1)).toEqual({ kind: " ", old: 36, new: 37, text: "line 37" });
  expect(hunks[1]?.lines[0]).toEqual({ kind: " ", old: 40, new: 41, text: "line 41" });
  expect(gaps).toEqual([
    { from: 1, to: 9 },
    { from: 38, to: 40 },
    { from: 68, to: 90 },
  ]);
});

it("has no gap left when everything is known, and no line twice", () => {
  const { hunks, gaps } = expand(file, learned(NOTHING_KNOWN, 1, text(1, 90), 90));
  expect(gaps).toEqual([null, null, null]);
  const numbers = hunks.flatMap((hunk) => hunk.lines.map((line) => line.new)).filter(Boolean);
  expect(numbers).toEqual(Array.from({ length: 90 }, (_, index) => index + 1));
});

it("knows the end of a file from fewer than three lines of context", () => {
  const short = parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n")[0];
  expect(expand(short as FileDiff, NOTHING_KNOWN).gaps).toEqual([null, null]);
});

it("hides nothing of a file that is new or gone", () => {
  const added = { ...file, how: "added" as const };
  expect(expand(added, NOTHING_KNOWN).gaps).toEqual([null, null, null]);
});

it("offers a small gap whole and a large one in steps", () => {
  const between = { above: true, below: true };
  expect(offers({ from: 1, to: 9 }, between)).toEqual([
    ["Show 9 hidden lines", { start: 1, end: 9 }],
  ]);
  expect(offers({ from: 18, to: 60 }, between)).toEqual([
    ["Show 20 lines below", { start: 18, end: 37 }],
    ["Show 20 lines above", { start: 41, end: 60 }],
  ]);
  expect(offers({ from: 68, to: null }, { above: true, below: false })).toEqual([
    ["Show 20 lines below", { start: 68, end: 87 }],
  ]);
});

it("never asks for more than the server gives at once", () => {
  const asked = everything([{ from: 1, to: 9_000 }, null, { from: 9_100, to: null }]);
  expect(asked).toEqual([
    { start: 1, end: 500 },
    { start: 9_100, end: 9_599 },
  ]);
});
