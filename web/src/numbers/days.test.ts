import { expect, it } from "vitest";
import { bars, dayAt, dayInWords, GROUPS, NAMES, told, untilTomorrow } from "./days";

const DAYS = ["2026-03-28", "2026-03-29", "2026-03-30"];

it("names a UTC day the same in every zone", () => {
  expect(dayInWords("2026-03-29")).toBe("Sun 29 Mar");
  expect(dayInWords("not a day")).toBe("not a day");
});

it("draws nothing for a day without any, and something for every other", () => {
  expect(bars([0, 1, 5000], 5000)).toEqual([
    { at: 1, height: 0.06 },
    { at: 2, height: 1 },
  ]);
  expect(bars([0, 0], 0)).toEqual([]);
});

it("never draws beyond the top, as when a budget became smaller", () => {
  expect(bars([30], 10)).toEqual([{ at: 0, height: 1 }]);
});

it("finds the day under a pointer, also at the edges", () => {
  expect([-5, 0, 99, 100, 299, 300, 400].map((x) => dayAt(x, 300, 3))).toEqual([
    0, 0, 0, 1, 2, 2, 2,
  ]);
});

it("says what a chart shows", () => {
  expect(told("merged", [0, 2, 1], DAYS)).toBe(
    "merged: 3 in 3 days, at most 2 a day, on Sun 29 Mar",
  );
  expect(told("merged", [0, 0, 0], DAYS)).toBe("merged: none in 3 days");
});

it("has a name for every number that leads to records", () => {
  const shown = GROUPS.flatMap(({ lines }) => lines.map((line) => line.name));
  expect(new Set(shown).size).toBe(shown.length);
  expect([...NAMES.keys()].sort()).toEqual([...shown].sort());
});

it("knows when the next day begins, whatever the zone", () => {
  expect(untilTomorrow(Date.parse("2026-03-29T23:59:59Z"))).toBe(2_000);
  expect(untilTomorrow(Date.parse("2026-03-30T00:00:00Z"))).toBe(86_401_000);
});
