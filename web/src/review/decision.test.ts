import { expect, test } from "vitest";
import type { Finding } from "../api/changes";
import {
  commandOf,
  type Fact,
  factKey,
  findingsTitle,
  ranked,
  redFacts,
  termsOf,
  unseenFiles,
} from "./decision";

const fact = (more: Partial<Fact>): Fact => ({
  name: "tests",
  text: "something",
  tone: "bad",
  red: true,
  term: null,
  value: null,
  with_deploy: false,
  ...more,
});
const finding = (severity: string): Finding => ({
  rule: "r",
  severity,
  path: "a.py",
  line: 1,
  message: severity,
});

test("findings are counted by kind, the dangerous first", () => {
  const found = [finding("info"), finding("danger"), finding("danger")];
  expect(findingsTitle(found)).toBe("3 findings, 2 danger, 1 info");
  expect(findingsTitle([finding("warning")])).toBe("1 finding, 1 warning");
  expect(findingsTitle([])).toBe("No findings");
  expect(findingsTitle(null)).toBe("Findings");
  expect(ranked(found).map(({ severity }) => severity)).toEqual(["danger", "danger", "info"]);
});

test("a fact that is not red needs no tick, and one about the deploy only with it", () => {
  const facts = [
    fact({ red: false }),
    fact({ name: "findings" }),
    fact({ name: "quarantine", with_deploy: true }),
  ];
  expect(redFacts(facts, false).map(({ name }) => name)).toEqual(["findings"]);
  expect(redFacts(facts, true).map(({ name }) => name)).toEqual(["findings", "quarantine"]);
});

test("what was ticked becomes the terms, and nothing else does", () => {
  const facts = [
    fact({ term: "consent", value: "b.sh" }),
    fact({ term: "consent", value: "a.sh" }),
    fact({ term: "despite_tests", value: "failed" }),
    fact({ term: "despite_quarantine", value: "c0ffee", with_deploy: true }),
    fact({ name: "findings" }),
  ];
  const all = new Set(facts.map(factKey));
  expect(termsOf(facts, all, true)).toEqual({
    consent: ["a.sh", "b.sh"],
    despite_tests: "failed",
    despite_quarantine: ["c0ffee"],
    deploy: true,
  });
  expect(termsOf(facts, all, false)).not.toHaveProperty("despite_quarantine");
  expect(termsOf(facts, new Set(), false)).toEqual({});
});

test("the command says the same as the page", () => {
  const terms = { consent: ["it's.sh"], deploy: true as const, despite_tests: "failed" };
  expect(commandOf("apr_1", terms)).toBe(
    `astra approve apr_1 --consent 'it'\\''s.sh' --deploy --despite-tests`,
  );
});

test("files that nobody marked as viewed are named", () => {
  expect(unseenFiles(["a", "b", "c"], ["b"])).toEqual(["a", "c"]);
});
