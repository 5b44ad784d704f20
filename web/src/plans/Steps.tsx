import type { Plan, Step } from "../api/plans";
import { Badge, StateBadge } from "../parts/Badge";
import { Card } from "../parts/Card";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

/** What it did so far, newest first. */
export function Steps({ plan }: { plan: Plan }) {
  if (plan.steps_taken.length === 0) return null;
  const { calls = 0, tokens = 0 } = plan.usage;
  return (
    <Card
      title="Steps it took"
      padded={false}
      actions={
        <span className="text-sm text-soft">
          {calls} model calls, {tokens.toLocaleString("en")} tokens
        </span>
      }
    >
      <ol>
        {plan.steps_taken.toReversed().map((step) => (
          <li key={step.step} className="border-b border-line px-4 py-2 text-sm last:border-b-0">
            <p className="flex flex-wrap items-center gap-2">
              <span className="text-soft tabular-nums">{step.step}</span>
              <StateBadge state={step.outcome ?? step.state} />
              {step.destructive && <Badge tone="bad">destructive</Badge>}
              <span className="min-w-0 flex-1 font-mono">
                <Untrusted text={action(step)} max={200} />
              </span>
              <Time at={step.started_at} className="text-soft" />
            </p>
            {step.result && (
              <Untrusted text={step.result} block max={300} className="mt-1 text-soft" />
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function action(step: Step): string {
  return typeof step.action === "string" ? step.action : JSON.stringify(step.action ?? "thinks");
}
