import { expect, it } from "vitest";
import { inOrder, placeInWords, withRemark, withViewed } from "./drafts";

const NONE = { remarks: [], viewed: [] };
const remark = { path: "a.py", side: "new" as const, line: 3, text: "why?" };

it("keeps one remark a line, and none when it is empty", () => {
  const once = withRemark(withRemark(NONE, remark), { ...remark, text: "because?" });
  expect(once.remarks.map((each) => each.text)).toEqual(["because?"]);
  expect(withRemark(once, { ...remark, text: " " }).remarks).toEqual([]);
});

it("marks a file as viewed, and takes it back", () => {
  expect(withViewed(NONE, "a.py", true).viewed).toEqual(["a.py"]);
  expect(withViewed(withViewed(NONE, "a.py", true), "a.py", false).viewed).toEqual([]);
});

it("gives remarks in the order of the diff, each with its place", () => {
  const both = withRemark(
    withRemark(NONE, { ...remark, line: 9, text: "late", side: "old" }),
    remark,
  );
  expect(inOrder(both.remarks).map(placeInWords)).toEqual(["a.py:3", "a.py:9 (before)"]);
});
