import { useState } from "react";
import type { Payload } from "../api/model";
import { Pieces } from "./Untrusted";

const FIRST_LINES = 24;
const FIRST_CHARACTERS = 2_000;

/** All of what would be signed, in the text that every door shows: folded, and the rest counted. */
export function Whole({ payload }: { payload: Payload }) {
  const [open, setOpen] = useState(false);
  const first = payload.text
    .split("\n")
    .slice(0, FIRST_LINES)
    .join("\n")
    .slice(0, FIRST_CHARACTERS);
  const rest = payload.text.length - first.length;
  const folded = rest > 0 && !open;
  return (
    <figure className="space-y-1.5" aria-label="all of what would be signed">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys
        tabIndex={0}
        className="max-h-[32rem] overflow-auto whitespace-pre-wrap rounded-lg bg-raised px-3 py-2 font-mono text-[0.8rem] leading-relaxed [overflow-wrap:anywhere] [unicode-bidi:isolate]"
      >
        <Pieces text={folded ? first : payload.text} />
      </pre>
      {folded && (
        <button type="button" className="text-accent underline" onClick={() => setOpen(true)}>
          show the other {rest.toLocaleString("en")} characters
        </button>
      )}
      <figcaption className="text-sm text-soft">
        {payload.lines.toLocaleString("en")} lines, {payload.characters.toLocaleString("en")}{" "}
        characters, sha-256 <code className="font-mono">{payload.sha256.slice(0, 16)}</code>: the
        same as <code className="font-mono">astra approvals show</code>
      </figcaption>
    </figure>
  );
}
