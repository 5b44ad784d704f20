import { useState } from "react";
import { pieces } from "./visible";

const LONGEST = 600;

/**
 * The only way text from an agent reaches a page: as text, in its own reading direction, with
 * hidden characters spelled out and very long texts folded.
 */
export function Untrusted({
  text,
  max = LONGEST,
  block = false,
  inButton = false,
  className = "",
}: {
  text: string;
  max?: number;
  block?: boolean;
  /** Inside a button, which shows all of it when pressed: the rest is left out, without another. */
  inButton?: boolean;
  className?: string;
}) {
  const [open, setOpen] = useState(false);
  const folded = !open && text.length > max;
  const Tag = block ? "div" : "bdi";
  return (
    <Tag
      dir={block ? "auto" : undefined}
      className={`[overflow-wrap:anywhere] ${block ? "whitespace-pre-wrap [unicode-bidi:isolate]" : ""} ${className}`}
    >
      <Pieces text={folded ? text.slice(0, max) : text} />
      {folded && inButton && "…"}
      {folded && !inButton && (
        <>
          …{" "}
          <button
            type="button"
            className="relative z-1 text-accent underline"
            onClick={() => setOpen(true)}
          >
            show all {text.length.toLocaleString("en")} characters
          </button>
        </>
      )}
    </Tag>
  );
}

export function Pieces({ text }: { text: string }) {
  let at = 0;
  return pieces(text).map((piece) => {
    const key = at;
    at += piece.text.length;
    return piece.escaped ? (
      <code
        key={key}
        title="a character that would not be visible"
        className="rounded-sm bg-warn-wash px-0.5 font-mono text-[0.85em] text-warn"
      >
        {piece.text}
      </code>
    ) : (
      <span key={key}>{piece.text}</span>
    );
  });
}
