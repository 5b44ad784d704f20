import { expect, test } from "vitest";
import type { Firing } from "../api/model";
import { weekOf } from "./hours";

const firing = (time: string, outcome: string): Firing => ({ fire_time: time, outcome }) as Firing;
const now = Date.parse("2026-11-17T12:00:00Z");

test("seven days end today, and a cell has the worst of its hour", () => {
  const days = weekOf(
    [
      firing("2026-11-17T07:00:00+00:00", "succeeded"),
      firing("2026-11-17T08:30:00+01:00", "failed"),
      firing("2026-11-11T00:00:00Z", "skipped"),
      firing("2026-11-10T23:59:00Z", "failed"),
    ],
    now,
  );
  expect(days.map(({ date }) => date)).toHaveLength(7);
  expect(days.at(-1)?.date).toBe("2026-11-17");
  expect(days.at(-1)?.cells[7]).toEqual({ hour: 7, outcome: "failed", count: 2 });
  expect(days[0]?.cells[0]?.outcome).toBe("skipped");
  expect(days.flatMap(({ cells }) => cells).filter(Boolean)).toHaveLength(2);
});

test("no firings are an empty week", () => {
  expect(weekOf([], now).every(({ cells }) => cells.every((cell) => cell === null))).toBe(true);
});
