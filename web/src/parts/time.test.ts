import { expect, test } from "vitest";
import { ago, ahead, briefIn } from "./time";

const NOON = Date.parse("2026-11-17T12:00:00Z");

test("a time is said as clocks in its zone show it", () => {
  expect(briefIn("2026-11-17T07:30:00Z", "Europe/Berlin")).toBe("Tue 17 Nov, 08:30");
  expect(briefIn("2026-11-17T07:30:00Z", "Asia/Kathmandu")).toBe("Tue 17 Nov, 13:15");
});

test("a zone that the browser does not know breaks nothing", () => {
  expect(briefIn("2026-11-17T07:30:00Z", "Nowhere/Yet")).toMatch(/Nov/);
});

test("what was is never still to come, though the server's clock is ahead of this one", () => {
  expect(ago("2026-11-17T12:00:08Z", NOON)).toBe("just now");
  expect(ago("2026-11-17T12:09:00Z", NOON)).toBe("just now");
  expect(ago("2026-11-17T11:59:00Z", NOON)).toBe("1 minute ago");
});

test("what is to come counts down, and was once it has been", () => {
  expect(ahead("2026-11-17T14:00:00Z", NOON)).toBe("in 2 hours");
  expect(ahead("2026-11-17T12:00:03Z", NOON)).toBe("now");
  expect(ahead("2026-11-17T11:58:00Z", NOON)).toBe("2 minutes ago");
});
