/**
 * A safe subset of Markdown, read into plain data. There is no HTML, no image and no link in it:
 * an address stays the text it is, so that nothing an agent wrote leads anywhere by a click.
 */

export type Span = { kind: "text" | "code" | "strong" | "emphasis"; text: string };
export type Block =
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "heading"; spans: Span[] }
  | { kind: "quote"; spans: Span[] }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; items: Span[][] }
  | { kind: "table"; head: Span[][]; rows: Span[][][] };

const ITEM = /^\s{0,3}(?:([-*+])|\d{1,9}[.)])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const ROW = /^\s{0,3}\|.*\|\s*$/;
const RULE = /^\s{0,3}\|(?:\s*:?-+:?\s*\|)+\s*$/;
const MOST_COLUMNS = 20;

export function parseMarkdown(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    if (/^\s*```/.test(line)) at = readFence(lines, at, blocks);
    else if (line.trim() === "") at += 1;
    else at = readBlock(lines, at, blocks);
  }
  return blocks;
}

/** A fence that nobody closed goes on to the end. */
function readFence(lines: string[], start: number, blocks: Block[]): number {
  const end = lines.findIndex((line, index) => index > start && /^\s*```\s*$/.test(line));
  const last = end === -1 ? lines.length : end;
  blocks.push({ kind: "code", text: lines.slice(start + 1, last).join("\n") });
  return last + 1;
}

function readBlock(lines: string[], start: number, blocks: Block[]): number {
  const line = lines[start] ?? "";
  const heading = HEADING.exec(line);
  if (heading) {
    blocks.push({ kind: "heading", spans: parseSpans(heading[1] ?? "") });
    return start + 1;
  }
  if (ITEM.test(line)) return readList(lines, start, blocks);
  if (startsTable(lines, start)) return readTable(lines, start, blocks);
  const kind = QUOTE.test(line) ? "quote" : "paragraph";
  const goesOn = (each: string, at: number) =>
    kind === "quote" ? QUOTE.test(each) : isPlain(each) && !startsTable(lines, at);
  const end = endOf(lines, start, goesOn);
  const texts = lines.slice(start, end).map((each) => QUOTE.exec(each)?.[1] ?? each);
  blocks.push({ kind, spans: parseSpans(texts.join("\n")) });
  return end;
}

function readList(lines: string[], start: number, blocks: Block[]): number {
  const end = endOf(lines, start, (each) => ITEM.test(each));
  const items = lines.slice(start, end).map((each) => parseSpans(ITEM.exec(each)?.[2] ?? each));
  blocks.push({ kind: "list", ordered: !ITEM.exec(lines[start] ?? "")?.[1], items });
  return end;
}

/** A row of names with a rule of dashes below it, as many as there are names. */
function startsTable(lines: string[], at: number): boolean {
  const [head, rule] = [lines[at] ?? "", lines[at + 1] ?? ""];
  return ROW.test(head) && RULE.test(rule) && cellsOf(head).length === cellsOf(rule).length;
}

/** Rows have as many cells as the head: what lacks is empty, what is too much is left out. */
function readTable(lines: string[], start: number, blocks: Block[]): number {
  const end = endOf(lines, start + 1, (each) => ROW.test(each));
  const head = cellsOf(lines[start] ?? "").map(parseSpans);
  const rows = lines.slice(start + 2, end).map((line) => {
    const cells = cellsOf(line).map(parseSpans);
    return head.map((_, column) => cells[column] ?? []);
  });
  blocks.push({ kind: "table", head, rows });
  return end;
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .slice(0, MOST_COLUMNS)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

const isPlain = (line: string): boolean =>
  line.trim() !== "" && ![ITEM, HEADING, QUOTE, /^\s*```/].some((sign) => sign.test(line));

function endOf(
  lines: string[],
  start: number,
  goesOn: (line: string, at: number) => boolean,
): number {
  let end = start + 1;
  while (end < lines.length && goesOn(lines[end] ?? "", end)) end += 1;
  return end;
}

const SPAN = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])[*_]([^*_\n]+)[*_](?![\w*])/g;

export function parseSpans(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(SPAN)) {
    const [whole, code, strong, emphasis] = match;
    if (match.index > at) spans.push({ kind: "text", text: text.slice(at, match.index) });
    if (code) spans.push({ kind: "code", text: code });
    else if (strong) spans.push({ kind: "strong", text: strong });
    else spans.push({ kind: "emphasis", text: emphasis ?? whole });
    at = match.index + whole.length;
  }
  if (at < text.length) spans.push({ kind: "text", text: text.slice(at) });
  return spans;
}
