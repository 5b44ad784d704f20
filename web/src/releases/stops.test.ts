import { expect, test } from "vitest";
import type { Deployment } from "../api/plans";
import type { App } from "../pages/AppFacts";
import { linesOf, timelineOf } from "./stops";
import { watchLeft } from "./WatchLeft";

const deployment = (id: string, more: Partial<Deployment>): Deployment => ({
  id,
  kind: "deploy",
  state: "settled",
  release: id,
  commit: id.repeat(20),
  reason: "",
  rollback_to: null,
  rollback_about: "",
  requested_by: "operator",
  requested_at: "2026-11-17T00:00:00Z",
  changed_at: "2026-11-17T00:00:00Z",
  correlation: "c",
  open: false,
  about: "",
  ...more,
});

test("a release that was taken back points to the one that serves again", () => {
  const newestFirst = [
    deployment("c", { state: "rolled_back", rollback_to: "a" }),
    deployment("b", { state: "failed" }),
    deployment("a", {}),
  ];
  const { stops, backs } = timelineOf(newestFirst);
  expect(stops.map(({ release, tone }) => [release, tone])).toEqual([
    ["a", "good"],
    ["b", "bad"],
    ["c", "bad"],
  ]);
  expect(backs).toEqual([{ from: 2, to: 0 }]);
});

test("a rollback by hand points to what it put back; one that is not shown has no arrow", () => {
  const rollback = deployment("r", { kind: "rollback", release: "a" });
  expect(timelineOf([rollback, deployment("a", {})]).backs).toEqual([{ from: 1, to: 0 }]);
  expect(timelineOf([rollback]).backs).toEqual([]);
});

test("the watch counts down from the switch, and never below nothing", () => {
  const app = (state: string, seconds: number | null) =>
    ({
      deployment: { id: "d", state, changed_at: "2026-11-17T00:00:00Z", watch_seconds: seconds },
    }) as App;
  const start = Date.parse("2026-11-17T00:00:00Z");
  expect(watchLeft(app("switched", 60), start + 10_000)).toBe(50);
  expect(watchLeft(app("switched", 60), start + 90_000)).toBe(0);
  expect(watchLeft(app("switched", 60), start - 5_000)).toBe(60);
  expect(watchLeft(app("settled", 60), start)).toBeNull();
  expect(watchLeft(app("switched", null), start)).toBeNull();
  expect(watchLeft(null, start)).toBeNull();
});

test("a point is named by what it brought, in lines that fit", () => {
  const [stop] = timelineOf([deployment("a", { about: "Say goodbye as well as hello." })]).stops;
  expect(stop?.label).toBe("Say goodbye as well as hello.");
  expect(timelineOf([deployment("a", {})]).stops[0]?.label).toBe("as it came");
  expect(linesOf("Say goodbye as well as hello.")).toEqual(["Say goodbye as", "well as hello."]);
  expect(linesOf("one two three four five six seven eight")).toEqual([
    "one two three four",
    "five six seven…",
  ]);
  expect(linesOf("x".repeat(50))).toEqual([`${"x".repeat(17)}…`]);
});
