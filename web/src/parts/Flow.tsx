import { Link } from "@tanstack/react-router";
import { Badge, type Tone } from "./Badge";
import { oneLine } from "./visible";

export type FlowNode = {
  key: string;
  kind: string;
  text: string;
  tone: Tone;
  /** Where it leads: a page, or the records of its story. */
  to: string | null;
  /** It goes back to what was before. */
  back: boolean;
};

/** Steps from the first to the last, each a way to what it stands for. */
export function Flow({ nodes, label }: { nodes: FlowNode[]; label: string }) {
  return (
    <ol
      aria-label={label}
      className="flex flex-col gap-y-1 md:flex-row md:flex-wrap md:items-stretch md:gap-y-3"
    >
      {nodes.map((node, at) => (
        <li key={node.key} className="flex min-w-0 items-center max-md:flex-col">
          {at > 0 && <Arrow back={node.back} />}
          <Node node={node} />
        </li>
      ))}
    </ol>
  );
}

const BORDERS: Record<Tone, string> = {
  plain: "border-line-strong",
  accent: "border-accent",
  good: "border-good",
  warn: "border-warn",
  bad: "border-bad",
};

function Node({ node }: { node: FlowNode }) {
  const look = `block min-h-12 w-full max-w-48 rounded-lg border-2 px-2.5 py-1.5 text-sm md:w-auto ${BORDERS[node.tone]}`;
  const inside = (
    <>
      <Badge tone={node.tone}>{node.kind}</Badge>
      <bdi className="mt-0.5 line-clamp-2 [overflow-wrap:anywhere]">{oneLine(node.text, 70)}</bdi>
    </>
  );
  if (!node.to) return <div className={look}>{inside}</div>;
  return (
    <Link to={node.to} className={`${look} hover:bg-raised`}>
      {inside}
    </Link>
  );
}

function Arrow({ back }: { back: boolean }) {
  const path = back ? "M32 6H6M12 1L5 6l7 5" : "M0 6h26M20 1l7 5-7 5";
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 32 12"
      className={`mx-1 my-1 h-3 w-7 shrink-0 max-md:rotate-90 ${back ? "text-bad" : "text-line-strong"}`}
    >
      <path d={path} fill="none" stroke="currentColor" strokeWidth="2" />
    </svg>
  );
}
