import { expect, test } from "vitest";
import type { FleetRollout } from "../api/plans";
import { rolloutWords } from "./rollout";

const at = (phase: string, wave: number) =>
  rolloutWords({ phase, wave, waves: [["a"], ["b", "c"]] } as FleetRollout);

test("a rollout says which wave goes out, and which is watched", () => {
  expect(at("wave", 0)).toBe("about to begin");
  expect(at("wave", 1)).toBe("wave 1 of 2 goes out");
  expect(at("watch", 2)).toBe("wave 2 of 2 is watched");
});

test("going back has no waves, and what is over says nothing", () => {
  expect(at("rolling_back", 2)).toBe("going back everywhere");
  expect(at("over", 2)).toBe("");
});
