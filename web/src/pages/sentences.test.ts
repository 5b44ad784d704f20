import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { LedgerRecord } from "../api/model";
import { family, sentence } from "./sentences";

const reference = readFileSync("../docs/reference/events.md", "utf8");
const events = [...reference.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? "");

const record = (type: string, data: Record<string, unknown> = {}): LedgerRecord => ({
  sequence: 1,
  time: "2026-01-01T00:00:00Z",
  type,
  actor: "agent",
  correlation: "cor_1",
  subject: null,
  data,
  hash: "",
  previous: "",
  key: null,
  schema: 1,
  batch: [1, 1],
});

it("has a sentence for every event, also when a record lacks what it should have", () => {
  expect(events.length).toBeGreaterThan(30);
  for (const name of events) {
    expect(sentence(record(name))).toMatch(/^\S.*\S$/s);
    expect(sentence(record(name)), name).not.toBe(`${name.replaceAll("_", " ")}.`);
  }
});

it("names an unknown event instead of hiding it", () => {
  expect(sentence(record("moon_landed"))).toBe("moon landed.");
  expect(family("moon_landed")).toBe("Other");
});

it("gives the reason of a refusal", () => {
  const data = { tool: "fetch_url", decision: { explanation: "the flag is off" } };
  expect(sentence(record("tool_refused", data))).toBe("fetch_url was not run: the flag is off.");
});
