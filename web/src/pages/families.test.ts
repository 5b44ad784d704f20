import { expect, it } from "vitest";
import { family } from "./families";

it("puts a record into its family, and what it does not know into another", () => {
  expect(family("tests_passed")).toBe("Changes");
  expect(family("moon_landed")).toBe("Other");
});
