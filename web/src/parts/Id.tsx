import { Link } from "@tanstack/react-router";

/** An id that leads to its evidence: the records of its story. */
export function StoryLink({ id, children }: { id: string; children?: string }) {
  return (
    <Link
      to="/ledger/story/$id"
      params={{ id }}
      className="font-mono text-[0.85em] text-accent underline underline-offset-2"
    >
      {children ?? id}
    </Link>
  );
}

export function Digest({ value }: { value: string }) {
  return (
    <code className="font-mono text-[0.85em] [overflow-wrap:anywhere]">
      <span className="font-semibold">{value.slice(0, 12)}</span>
      <span className="text-soft">{value.slice(12)}</span>
    </code>
  );
}
