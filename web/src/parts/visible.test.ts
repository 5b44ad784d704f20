import { describe, expect, it } from "vitest";
import { oneLine, pieces, visible } from "./visible";

describe("text from an agent", () => {
  it("spells out terminal escapes, controls and characters that turn or hide", () => {
    expect(visible("a\x1b[2Jb\u202ec\u200bd\u2066e")).toBe("a\\x1b[2Jb\\u202ec\\u200bd\\u2066e");
  });

  it("spells out letters and marks that are drawn as nothing", () => {
    expect(visible("a\u3164b\ufe0fc\u034fd\u{e0101}\x9b")).toBe(
      "a\\u3164b\\ufe0fc\\u034fd\\U000e0101\\x9b",
    );
  });

  it("keeps line ends and tabs", () => {
    expect(visible("one\n\ttwo")).toBe("one\n\ttwo");
  });

  it("spells out half of a pair and characters beyond the first plane", () => {
    expect(visible("x\ud800y\u{e0041}")).toBe("x\\ud800y\\U000e0041");
  });

  it("leaves ordinary letters of any script alone", () => {
    expect(pieces("naïve שלום 漢字 🙂")).toEqual([{ text: "naïve שלום 漢字 🙂", escaped: false }]);
  });

  it("fits a line", () => {
    expect(oneLine("a\nb", 10)).toBe("a\\nb");
    expect(oneLine("x".repeat(50), 10)).toBe(`${"x".repeat(9)}…`);
  });
});
