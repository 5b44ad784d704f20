import { expect, test } from "vitest";
import { whatGoes } from "./Delete";

test("what goes is said with what the ledger keeps", () => {
  const text = whatGoes({ messages: 4, in_ledger: 0 });
  expect(text).toContain("4 messages leave this page and the disk");
  expect(text).not.toContain("stays in the chain");
});

test("what an earlier version wrote into the ledger is said to stay", () => {
  expect(whatGoes({ messages: 4, in_ledger: 2 })).toContain("wrote 2 of them into the ledger");
});
