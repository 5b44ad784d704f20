import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Whole } from "./Whole";

const shown = (text: string) =>
  renderToStaticMarkup(
    <Whole
      payload={{
        text,
        lines: text.split("\n").length,
        characters: text.length,
        sha256: "a".repeat(64),
      }}
    />,
  );

describe("what would be signed", () => {
  it("is there to its end when it is short", () => {
    expect(shown("arguments:\n  to: last")).toContain("to: last");
    expect(shown("short")).not.toContain("show the other");
  });

  it("is folded when it is long, and the rest is counted", () => {
    const text = Array.from({ length: 100 }, (_, number) => `line ${number}`).join("\n");
    expect(shown(text)).toContain(`show the other ${text.length - 181} characters`);
    expect(shown(text)).toContain("100 lines");
  });

  it("is folded when one line is very long", () => {
    expect(shown("n".repeat(10_000))).toContain("show the other 8,000 characters");
  });

  it("spells out what cannot be seen", () => {
    expect(shown("a\u3164b\u202ec")).toContain("\\u3164");
    expect(shown("a\u3164b\u202ec")).not.toContain("\u202e");
  });
});
