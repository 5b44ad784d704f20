import { expect, it } from "vitest";
import { paired, parseDiff } from "./parse";

const DIFF = `diff --git a/agent.py b/agent.py
index 1..2 100644
--- a/agent.py
+++ b/agent.py
@@ -1,3 +1,4 @@ def greet():
 one
-two
+TWO
+three
 four
diff --git a/new name.txt b/new name.txt
new file mode 100755
--- /dev/null
+++ b/new name.txt
@@ -0,0 +1 @@
+--- a/not-a-header
\\ No newline at end of file
diff --git a/old.bin b/old.bin
deleted file mode 100644
Binary files a/old.bin and /dev/null differ
`;

it("reads files, hunks and line numbers", () => {
  const [first, second, third] = parseDiff(DIFF);
  expect([first?.path, second?.path, third?.path]).toEqual(["agent.py", "new name.txt", "old.bin"]);
  expect([first?.how, second?.how, third?.how]).toEqual(["modified", "added", "deleted"]);
  expect([first?.added, first?.removed]).toEqual([2, 1]);
  expect(first?.hunks[0]?.lines.map((line) => [line.kind, line.old, line.new])).toEqual([
    [" ", 1, 1],
    ["-", 2, null],
    ["+", null, 2],
    ["+", null, 3],
    [" ", 3, 4],
  ]);
});

it("shows a file that only moved under its new name, with where it came from", () => {
  const [file] = parseDiff(`diff --git a/old.py b/src/new.py
similarity index 100%
rename from old.py
rename to src/new.py
`);
  expect([file?.path, file?.how]).toEqual(["src/new.py", "renamed"]);
  expect(file?.notes).toEqual(["rename from old.py", "rename to src/new.py"]);
});

it("takes a line that looks like a header for what it is: content", () => {
  expect(parseDiff(DIFF)[1]?.hunks[0]?.lines[0]?.text).toBe("--- a/not-a-header");
  expect(parseDiff(DIFF)).toHaveLength(3);
});

it("reads the paths that git puts in quotes", () => {
  const quoted = 'diff --git "a/\\303\\244\\"\\t.py" "b/\\303\\244\\"\\t.py"\nold mode 100644\n';
  expect(parseDiff(quoted)[0]?.path).toBe('ä"\t.py');
});

it("puts what was removed beside what replaced it", () => {
  const lines = parseDiff(DIFF)[0]?.hunks[0]?.lines ?? [];
  expect(paired(lines).map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ["one", "one"],
    ["two", "TWO"],
    [undefined, "three"],
    ["four", "four"],
  ]);
});

it("loses no line of a large diff", () => {
  const body = Array.from({ length: 6_000 }, (_, i) => `+line ${i}`).join("\n");
  const [file] = parseDiff(`diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,6000 @@\n${body}\n`);
  expect(file?.added).toBe(6_000);
  expect(file?.hunks[0]?.lines.at(-1)).toEqual({
    kind: "+",
    old: null,
    new: 6_000,
    text: "line 5999",
  });
});
