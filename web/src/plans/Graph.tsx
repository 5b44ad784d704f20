import type { Plan } from "../api/plans";
import type { Tone } from "../parts/Badge";
import { Card } from "../parts/Card";
import { span } from "../parts/time";
import { oneLine } from "../parts/visible";
import { type Node, nodesOf, roomOf } from "./nodes";

const LOOKS: Record<Tone, string> = {
  plain: "border-line-strong border-dashed bg-surface",
  accent: "border-accent bg-accent-wash",
  good: "border-good bg-good-wash",
  warn: "border-warn bg-warn-wash",
  bad: "border-bad bg-bad-wash",
};
const INKS: Record<Tone, string> = {
  plain: "text-soft",
  accent: "text-accent",
  good: "text-good",
  warn: "text-warn",
  bad: "text-bad",
};
const BARS: Record<Tone, string> = {
  plain: "bg-line-strong",
  accent: "bg-accent",
  good: "bg-good",
  warn: "bg-warn",
  bad: "bg-bad",
};

/** A plan as a graph: one node a checkpoint, in the colour of how it stands, with what it cost. */
export function Graph({ plan }: { plan: Plan }) {
  if (!plan.plan) return null;
  const nodes = nodesOf(plan);
  return (
    <Card title="The way through it" padded={false}>
      <ol
        aria-label="Checkpoints and how they stand"
        className="flex flex-col gap-y-0 px-4 py-4 md:flex-row md:overflow-x-auto"
      >
        {nodes.map((node, index) => (
          <li key={node.id} className="flex min-w-0 flex-col md:min-w-48 md:flex-1 md:flex-row">
            <Box node={node} index={index} />
            {index < nodes.length - 1 && <Arrow done={node.tone === "good"} />}
          </li>
        ))}
      </ol>
      {plan.progress.retry !== null && (
        <p className="border-t border-line px-4 py-2 text-sm">
          Step {plan.progress.retry} went wrong, and nothing followed from it yet.{" "}
          <a href="#retry" className="text-accent underline">
            Run it once more
          </a>
        </p>
      )}
    </Card>
  );
}

function Box({ node, index }: { node: Node; index: number }) {
  return (
    <a
      href={`#checkpoint-${index}`}
      className={`block min-w-0 flex-1 rounded-card border-2 px-3 py-2 hover:brightness-[0.97] ${LOOKS[node.tone]}`}
    >
      <span className={`block text-xs font-semibold ${INKS[node.tone]}`}>
        {index + 1} · {node.words}
      </span>
      <span className="mt-0.5 line-clamp-2 block text-sm font-medium">
        <bdi>{oneLine(node.title, 80)}</bdi>
      </span>
      <Ticks node={node} />
      <span className="block text-xs text-ink">
        {node.spent} of {node.budget} steps
        {node.milliseconds > 0 && ` · ${span(node.milliseconds)}`}
        {node.tokens > 0 && ` · ${node.tokens.toLocaleString("en")} tokens`}
      </span>
    </a>
  );
}

/** A bar for every step, in the colour of how it ended, and the room that is left. */
function Ticks({ node }: { node: Node }) {
  return (
    <span aria-hidden="true" className="my-1.5 flex h-2 gap-px">
      {node.ticks.map((tick) => (
        <span
          key={tick.key}
          title={tick.title}
          className={`rounded-xs ${BARS[tick.tone]}`}
          style={{ flexGrow: tick.share }}
        />
      ))}
      {roomOf(node).map((share, room) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the room that is left is all alike
        <span key={room} className="rounded-xs bg-line" style={{ flexGrow: share }} />
      ))}
    </span>
  );
}

function Arrow({ done }: { done: boolean }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 32 12"
      className={`mx-auto my-1.5 h-3 w-8 shrink-0 rotate-90 self-center md:mx-1 md:my-0 md:rotate-0 ${done ? "text-good" : "text-line-strong"}`}
    >
      <path d="M0 6h26M20 1l7 5-7 5" fill="none" stroke="currentColor" strokeWidth="2" />
    </svg>
  );
}
