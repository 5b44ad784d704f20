import { expect, it } from "vitest";
import type { LedgerRecord } from "../api/model";
import { fading } from "./fading";

const DAY = 86_400_000;
const NOW = Date.parse("2026-01-15T00:00:00Z");
const raised = (time: string, strength: number): LedgerRecord => ({
  sequence: 1,
  time,
  type: "desire_recorded",
  actor: "agent",
  correlation: "cor",
  subject: "des_1",
  data: { strength },
  hash: "",
  previous: "",
  key: null,
  schema: 1,
  batch: [1, 1],
  sentence: "",
});

it("halves after a half-life and goes on into the future", () => {
  const points = fading([raised("2026-01-01T00:00:00Z", 0.8)], "des_1", 14, NOW);
  expect(points[0]?.value).toBeCloseTo(0.8);
  expect(points.find((point) => point.at === NOW)?.value).toBeCloseTo(0.4);
  expect(points.at(-1)).toEqual({ at: NOW + 14 * DAY, value: expect.closeTo(0.2) as number });
});

it("jumps where it was reinforced", () => {
  const points = fading(
    [raised("2026-01-01T00:00:00Z", 0.8), raised("2026-01-15T00:00:00Z", 1)],
    "des_1",
    14,
    NOW,
  );
  const atJump = points.filter((point) => point.at === NOW).map((point) => point.value);
  expect(atJump[0]).toBeCloseTo(0.4);
  expect(atJump.at(-1)).toBeCloseTo(1);
});
