import { expect, it } from "vitest";
import { touched } from "./queries";

it("asks again for what a record touches", () => {
  expect(touched(["approval_requested"])).toEqual(
    new Set(["approvals", "status", "changes", "numbers", "inbox", "ledger"]),
  );
});

it("does not loop on the records that its own reading makes", () => {
  expect(touched(["tool_called"])).toEqual(new Set(["numbers"])); // whose reading makes none
});
