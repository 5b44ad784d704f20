import { expect, test } from "vitest";
import { callInWords } from "./calls";

test("a call is told by the argument that says most", () => {
  expect(callInWords({ arguments: { timeout: 5, url: "https://example.com" } })).toBe(
    "url: https://example.com, and 1 more",
  );
  expect(callInWords({ arguments: { files: ["a"] } })).toBe("");
  expect(callInWords({ arguments: {} })).toBe("");
});
