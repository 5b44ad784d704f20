import { expect, test } from "vitest";
import { announce } from "./announce";
import { matching } from "./entries";
import { countWaiting, namePage } from "./title";

test("the tab names the page and counts what waits", () => {
  namePage("Inbox");
  countWaiting(3);
  expect(document.title).toBe("(3) Inbox · Astra");
  namePage("Ledger");
  expect(document.title).toBe("(3) Ledger · Astra");
  countWaiting(0);
  expect(document.title).toBe("Ledger · Astra");
});

test("announcing twice is no error", () => {
  expect(() => ["a", "a"].map(announce)).not.toThrow();
});

test("the palette finds by every word, wherever it stands, and opens an id", () => {
  const entries = [
    { name: "Releases", about: "what is live", to: "/releases" },
    { name: "Ledger", about: "everything that happened", to: "/ledger" },
  ];
  expect(matching(entries, "LIVE rel").map(({ to }) => to)).toEqual(["/releases"]);
  expect(matching(entries, "").length).toBe(2);
  expect(matching(entries, "chg_0123456789abcdef")[0]?.to).toBe("/changes/chg_0123456789abcdef");
  expect(matching(entries, "cor_0123456789abcdef")[0]?.to).toBe(
    "/ledger/story/cor_0123456789abcdef",
  );
  expect(matching(entries, "<script>")).toEqual([]);
});
