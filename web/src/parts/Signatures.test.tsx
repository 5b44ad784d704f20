import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Signatures } from "./Signatures";

const round = {
  round: "sgn_00000001",
  action: "approval_granted",
  content: {},
  needed: 2,
  signed_by: ["anna"],
  words: "1 of 2: signed by anna, waits for one more",
  since: "2026-11-17T12:00:00.000000Z",
};

const shown = (needed: number, rounds: (typeof round)[], signed_by: string[]) =>
  renderToStaticMarkup(<Signatures signatures={{ needed, rounds, signed_by }} />);

test("where one signature is enough nothing is said of others", () => {
  expect(shown(1, [], ["owner"])).toBe("");
});

test("what waits says who signed and how many are missing", () => {
  expect(shown(2, [], [])).toContain("It takes 2 operators");
  expect(shown(2, [round], [])).toContain("1 of 2: signed by anna, waits for one more");
  expect(shown(2, [], ["anna", "owner"])).toContain("Signed by anna and owner.");
});
