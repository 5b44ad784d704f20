/**
 * A unified diff as git writes it, read into files, hunks and lines. Everything in it may be hostile:
 * what is not understood is kept as a line of text and never dropped.
 */

export type Side = "old" | "new";
export type Line = {
  kind: " " | "+" | "-" | "\\";
  old: number | null;
  new: number | null;
  text: string;
};
export type Hunk = { header: string; start: { old: number; new: number }; lines: Line[] };
export type FileDiff = {
  path: string;
  how: "added" | "deleted" | "modified" | "renamed";
  notes: string[];
  hunks: Hunk[];
  added: number;
  removed: number;
};

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function parseDiff(text: string): FileDiff[] {
  const files: FileDiff[] = [];
  let file: FileDiff | null = null;
  let hunk: Hunk | null = null;
  let at = { old: 0, new: 0 };
  for (const line of withoutLastEmpty(text.split("\n"))) {
    const start = HUNK.exec(line);
    if (line.startsWith("diff --git ")) {
      file = newFile(line);
      files.push(file);
      hunk = null;
    } else if (start && file) {
      at = { old: Number(start[1]), new: Number(start[2]) };
      hunk = { header: line, start: { ...at }, lines: [] };
      file.hunks.push(hunk);
    } else if (hunk && file) {
      hunk.lines.push(contentLine(line, at, file));
    } else if (file) {
      headerLine(line, file);
    }
  }
  return files;
}

function withoutLastEmpty(lines: string[]): string[] {
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function contentLine(line: string, at: { old: number; new: number }, file: FileDiff): Line {
  const text = line.slice(1);
  switch (line[0]) {
    case "+":
      file.added += 1;
      return { kind: "+", old: null, new: at.new++, text };
    case "-":
      file.removed += 1;
      return { kind: "-", old: at.old++, new: null, text };
    case "\\":
      return { kind: "\\", old: null, new: null, text };
    default:
      return { kind: " ", old: at.old++, new: at.new++, text };
  }
}

function headerLine(line: string, file: FileDiff): void {
  if (line.startsWith("new file mode")) file.how = "added";
  else if (line.startsWith("deleted file mode")) file.how = "deleted";
  else if (line.startsWith("rename to ")) {
    file.how = "renamed";
    file.path = named(line.slice("rename to ".length));
  }
  if (line.startsWith("+++ ") && line !== "+++ /dev/null") file.path = named(line.slice(4));
  else if (line.startsWith("--- ") && file.how === "deleted") file.path = named(line.slice(4));
  else if (/^(Binary|GIT binary|old mode|new mode|deleted file|new file|rename)/.test(line)) {
    file.notes.push(line);
  }
}

/** The first line names the path twice; that of a file without text has nothing else. */
function newFile(line: string): FileDiff {
  const both = line.slice("diff --git ".length);
  const half = both.slice(0, Math.floor(both.length / 2));
  return { path: named(half), how: "modified", notes: [], hunks: [], added: 0, removed: 0 };
}

/** Take git's prefix and quotes off a path. */
function named(given: string): string {
  const text = given.replace(/\t$/, "");
  const plain = text.startsWith('"') && text.endsWith('"') ? unquoted(text.slice(1, -1)) : text;
  return plain.replace(/^[ab]\//, "");
}

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

function unquoted(text: string): string {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [piece, octal, letter] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/g)) {
    if (octal) bytes.push(Number.parseInt(octal, 8));
    else if (letter) bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0));
    else bytes.push(...encoder.encode(piece));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

export type Pair = { left: Line | null; right: Line | null };

/** Put removed and added lines side by side, in the order they come. */
export function paired(lines: Line[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i += 1) {
      pairs.push({ left: removed[i] ?? null, right: added[i] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "-") removed.push(line);
    else if (line.kind === "+") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}
