import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Markdown } from "./Markdown";
import { parseMarkdown } from "./markup";

const textOf = (blocks: ReturnType<typeof parseMarkdown>): string => JSON.stringify(blocks);

test("headings, lists, quotes, code and emphasis are read", () => {
  const blocks = parseMarkdown(
    "# A\n\nsome **bold** and `code`\nmore\n\n- one\n- two\n\n```py\nx = 1\n```\n> said",
  );
  expect(blocks.map(({ kind }) => kind)).toEqual(["heading", "paragraph", "list", "code", "quote"]);
  expect(blocks[3]).toEqual({ kind: "code", text: "x = 1" });
});

test("names with underscores, products and bare stars stay as they are", () => {
  expect(textOf(parseMarkdown("read_file and 2*3*4 or * alone"))).toContain(
    "read_file and 2*3*4 or * alone",
  );
});

test("markup, images and links stay text: nothing leads anywhere", () => {
  const hostile =
    "<img src=x onerror=alert(1)> [click](javascript:alert(1)) ![i](http://h/x) <script>x</script>";
  const { container } = render(<Markdown text={`${hostile}\n\n- ${hostile}\n\n# ${hostile}`} />);
  expect(container.querySelector("img, a, script")).toBeNull();
  expect(container.textContent).toContain("[click](javascript:alert(1))");
});

test("a fence that is never closed, and very long input, end", () => {
  expect(parseMarkdown("```\nopen")).toEqual([{ kind: "code", text: "open" }]);
  expect(parseMarkdown(`${"*".repeat(20_000)}\n${"- ".repeat(5_000)}`).length).toBeGreaterThan(0);
});

test("a table is read with its head; rows are as wide as it, and markup in cells stays text", () => {
  const text = "Look:\n| place | `sky` |\n|---|--:|\n| Oslo | <b>x</b> \\| y | z |\n| Rome |\nend";
  const { container } = render(<Markdown text={text} />);
  const cells = (tag: string) =>
    [...container.querySelectorAll(tag)].map(({ textContent }) => textContent);
  expect(cells("th")).toEqual(["place", "sky"]);
  expect(cells("td")).toEqual(["Oslo", "<b>x</b> | y", "Rome", ""]);
  expect(cells("p")).toEqual(["Look:", "end"]);
  expect(container.querySelector("td b")).toBeNull();
});

test("bars without a rule below them are no table", () => {
  expect(parseMarkdown("| a | b |\n| c | d |").map(({ kind }) => kind)).toEqual(["paragraph"]);
  expect(parseMarkdown("| a | b |\n|---|").map(({ kind }) => kind)).toEqual(["paragraph"]);
});

test("a long row of bars is read in time that grows with its length", () => {
  const bars = `|${"-|".repeat(50_000)}`;
  const [block] = parseMarkdown(`${bars}\n${bars}\n${"| ".repeat(50_000)}|`);
  expect(block?.kind).toBe("table");
});
