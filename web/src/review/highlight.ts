/** Colours for code, as runs of text with a class; loaded when a diff is opened. */

export type Run = { text: string; kind: string };
type Node = {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Node[];
};
export type Highlighter = (path: string, code: string) => Run[][] | null;

const LANGUAGES: Record<string, string> = {
  py: "python",
  js: "javascript",
  mjs: "javascript",
  ts: "typescript",
  tsx: "typescript",
  jsx: "javascript",
  json: "json",
  md: "markdown",
  sh: "bash",
  yml: "yaml",
  yaml: "yaml",
  toml: "ini",
  ini: "ini",
  css: "css",
  html: "xml",
  xml: "xml",
  rs: "rust",
  go: "go",
  java: "java",
  c: "c",
  h: "c",
  cpp: "cpp",
  rb: "ruby",
  sql: "sql",
};
const LONGEST = 200_000;

export async function loadHighlighter(): Promise<Highlighter> {
  const { common, createLowlight } = await import("lowlight");
  const lowlight = createLowlight(common);
  return (path, code) => {
    const language = LANGUAGES[path.split(".").at(-1)?.toLowerCase() ?? ""];
    if (!language || code.length > LONGEST || !lowlight.registered(language)) return null;
    return lines(lowlight.highlight(language, code) as Node);
  };
}

/** Cut a tree of coloured text into lines of runs. */
export function lines(tree: Node): Run[][] {
  const found: Run[][] = [[]];
  for (const { text, kind } of texts(tree, "")) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index) found.push([]);
      if (part) found.at(-1)?.push({ text: part, kind });
    }
  }
  return found;
}

function texts(node: Node, kind: string): Run[] {
  if (node.type === "text") return [{ text: node.value ?? "", kind }];
  return (node.children ?? []).flatMap((child) => texts(child, kindOf(child) || kind));
}

function kindOf(node: Node): string {
  const names = node.properties?.className;
  return Array.isArray(names) ? String(names[0]) : "";
}
