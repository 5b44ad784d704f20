import { useMemo, useState } from "react";
import { Pieces } from "../parts/Untrusted";
import { type Block, parseMarkdown, type Span } from "./markup";

/** What an agent said, with the little markup it may use; every character of it is text. */
export function Markdown({ text, max = Number.POSITIVE_INFINITY }: { text: string; max?: number }) {
  const [open, setOpen] = useState(false);
  const folded = !open && text.length > max;
  const blocks = useMemo(
    () => parseMarkdown(folded ? text.slice(0, max) : text),
    [text, folded, max],
  );
  return (
    <div dir="auto" className="space-y-2 [overflow-wrap:anywhere] [unicode-bidi:isolate]">
      {blocks.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks only grow at their end
        <BlockView key={at} block={block} />
      ))}
      {folded && (
        <button type="button" className="text-accent underline" onClick={() => setOpen(true)}>
          show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "code":
      return (
        <pre className="rounded-lg bg-raised px-3 py-2 font-mono text-xs whitespace-pre-wrap">
          <Pieces text={block.text} />
        </pre>
      );
    case "list": {
      const Tag = block.ordered ? "ol" : "ul";
      return (
        <Tag className={`pl-5 ${block.ordered ? "list-decimal" : "list-disc"}`}>
          {block.items.map((item, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items only grow at their end
            <li key={at}>
              <Spans spans={item} />
            </li>
          ))}
        </Tag>
      );
    }
    case "table":
      return <Table head={block.head} rows={block.rows} />;
    case "quote":
      return (
        <blockquote className="border-l-2 border-line-strong pl-3 whitespace-pre-wrap text-soft">
          <Spans spans={block.spans} />
        </blockquote>
      );
    default:
      return (
        <p className={`whitespace-pre-wrap ${block.kind === "heading" ? "font-semibold" : ""}`}>
          <Spans spans={block.spans} />
        </p>
      );
  }
}

function Table({ head, rows }: { head: Span[][]; rows: Span[][][] }) {
  return (
    <section
      aria-label="Table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to by keyboard too
      tabIndex={0}
      className="overflow-x-auto"
    >
      <table className="text-sm">
        <thead>
          <tr className="border-b border-line-strong">
            {head.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
              <th key={at} scope="col" className="px-2 py-1 text-left font-semibold">
                <Spans spans={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows only grow at their end
            <tr key={at} className="border-b border-line last:border-b-0">
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
                <td key={column} className="px-2 py-1 align-top">
                  <Spans spans={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const LOOKS: Record<Span["kind"], string> = {
  text: "",
  code: "rounded-sm bg-raised px-1 font-mono text-[0.9em]",
  strong: "font-semibold",
  emphasis: "italic",
};

function Spans({ spans }: { spans: Span[] }) {
  return spans.map((span, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: spans only grow at their end
    <span key={at} className={LOOKS[span.kind]}>
      <Pieces text={span.text} />
    </span>
  ));
}
