import { expect, test } from "vitest";
import type { BeliefDay } from "../api/model";
import { bandPath, HEIGHT, meanPath, percent, place, WIDTH } from "./bands";

const day = (name: string, mean: number, lower: number, upper: number): BeliefDay => ({
  day: name,
  mean,
  lower,
  upper,
  uncertainty: upper - lower,
  supporting: 1,
  opposing: 1,
});
const DAYS = [day("2026-03-01", 0.5, 0.25, 0.75), day("2026-03-02", 0.75, 0.5, 1)];

test("a band runs along the upper bounds and back along the lower", () => {
  expect(bandPath(DAYS)).toBe(`M0.0 40.0L${WIDTH}.0 0.0L${WIDTH}.0 ${HEIGHT / 2}.0L0.0 120.0Z`);
});

test("the mean is a line inside it", () => {
  expect(meanPath(DAYS)).toBe(`M0.0 ${HEIGHT / 2}.0L${WIDTH}.0 40.0`);
});

test("one day is drawn from edge to edge, and no day draws nothing", () => {
  const [first] = DAYS;
  expect(place(DAYS.slice(0, 1), 0, 1)).toEqual([WIDTH, 0]);
  expect(first && meanPath([first])).toBe(`M0.0 ${HEIGHT / 2}.0L${WIDTH}.0 ${HEIGHT / 2}.0`);
  expect(bandPath([])).toBe("");
  expect(meanPath([])).toBe("");
});

test("a share is shown in percent", () => {
  expect(percent(0.825)).toBe("83 %");
});
