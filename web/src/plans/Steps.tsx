import type { Plan, Step } from "../api/plans";
import { Badge, StateBadge } from "../parts/Badge";
import { Card } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { took } from "./nodes";
import { resultInWords, wantedInWords } from "./words";

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
          <StoryLink id={plan.id}>
            {`${calls} model calls, ${tokens.toLocaleString("en")} tokens`}
          </StoryLink>
        </span>
      }
    >
      <ol>
        {plan.steps_taken.toReversed().map((step) => (
          <li
            key={step.step}
            id={`step-${step.step}`}
            className="scroll-mt-16 border-b border-line px-4 py-2 text-sm last:border-b-0 target:bg-accent-wash"
          >
            <p className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
              <span className="text-soft tabular-nums">{step.step}</span>
              <StateBadge state={step.outcome ?? step.state} />
              {step.destructive && <Badge tone="bad">destructive</Badge>}
              <span className="min-w-0 flex-1 basis-40 font-medium">{wanted(step).what}</span>
              <span className="text-soft tabular-nums">{costInWords(step)}</span>
              <Time at={step.started_at} className="text-soft" />
            </p>
            <Untrusted
              text={wanted(step).exactly}
              block
              max={240}
              className="mt-1 font-mono text-[0.8rem]"
            />
            {step.result && (
              <Untrusted
                text={resultInWords(step.result)}
                block
                max={300}
                className="mt-1 text-soft"
              />
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function costInWords(step: Step): string {
  const open = step.state === "ran" ? "waits for you" : "under way";
  const time = step.ended_at ? `${(took(step) / 1000).toFixed(1)} s` : open;
  return step.tokens ? `${time}, ${step.tokens.toLocaleString("en")} tokens` : time;
}

const wanted = (step: Step) =>
  wantedInWords({ action: step.action }) ?? { what: "asks the model", exactly: "" };
