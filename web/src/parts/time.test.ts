import { expect, test } from "vitest";
import { briefIn } from "./time";

test("a time is said as clocks in its zone show it", () => {
  expect(briefIn("2026-11-17T07:30:00Z", "Europe/Berlin")).toBe("Tue 17 Nov, 08:30");
  expect(briefIn("2026-11-17T07:30:00Z", "Asia/Kathmandu")).toBe("Tue 17 Nov, 13:15");
});

test("a zone that the browser does not know breaks nothing", () => {
  expect(briefIn("2026-11-17T07:30:00Z", "Nowhere/Yet")).toMatch(/Nov/);
});
