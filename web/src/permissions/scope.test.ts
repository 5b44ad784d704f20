import { expect, it } from "vitest";
import { endAfter, readPaths, spellMergeCommand } from "./scope";

it("reads paths however they are separated", () => {
  expect(readPaths(" docs/,  notes/a.md\nexamples/ ")).toEqual([
    "docs/",
    "notes/a.md",
    "examples/",
  ]);
  expect(readPaths("  ")).toEqual([]);
});

it("writes the end as the server does", () => {
  expect(endAfter(1, Date.parse("2026-01-01T00:00:00Z"))).toBe("2026-01-02T00:00:00.000000Z");
});

it("spells the command with what a shell would otherwise read", () => {
  const scope = {
    paths: ["docs/", "a b; rm"],
    until: "2026-01-02T00:00:00.000000Z",
    uses: 5,
    most_files: 3,
    most_lines: 50,
    mutants: 80,
    deploy: true,
    plan: "",
  };
  expect(spellMergeCommand(scope)).toBe(
    "astra permissions add-merge --path docs/ --path 'a b; rm' --mutants 80 --most-files 3" +
      " --most-lines 50 --uses 5 --until 2026-01-02T00:00:00.000000Z --deploy",
  );
});
