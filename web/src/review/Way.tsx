import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Change } from "../api/changes";
import type { LedgerRecord } from "../api/model";
import { deploymentQuery, deploymentsQuery } from "../api/plans";
import { storyQuery } from "../api/queries";
import { Badge, type Tone } from "../parts/Badge";
import { Spinner } from "../parts/Button";
import { Card } from "../parts/Card";
import { Command } from "../parts/Command";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { type Ending, journey, type Progress, type Step } from "./journey";

const TONES: Record<Ending, Tone> = {
  "under way": "accent",
  live: "good",
  merged: "plain",
  "not deployed": "warn",
  failed: "bad",
  "taken back": "warn",
};

/** What became of a change since it was approved, a sentence a step, as it happens. */
export function Way({ change }: { change: Change }) {
  const { data: deployments } = useQuery(deploymentsQuery);
  const naming = (release: string) =>
    deployments?.items.find((each) => each.release === release)?.about ?? "";
  const { steps, ending } = journey(change, useRecords(change), naming);
  return (
    <Card
      title="On its way into service"
      className="mb-4"
      actions={<Badge tone={TONES[ending]}>{ending}</Badge>}
    >
      <ol aria-live="polite" aria-label="Steps into service" className="space-y-2.5">
        {steps.map((step) => (
          <StepLine key={step.name} step={step} />
        ))}
      </ol>
      {ending !== "under way" && ending !== "live" && (
        <p className="mt-3 text-sm">
          <Link to="/releases" className="text-accent underline">
            {ending === "merged" ? "Deploy it from the releases" : "Look at the releases"}
          </Link>
        </p>
      )}
      {ending === "taken back" && <Revert change={change} />}
    </Card>
  );
}

/** What was taken out of service is still in the branch, until its inverse is merged. */
function Revert({ change }: { change: Change }) {
  const deployments = useQuery(deploymentsQuery);
  const taken = deployments.data?.items.find(
    ({ commit, state }) => commit === change.commit && state === "rolled_back",
  );
  const deployment = useQuery({ ...deploymentQuery(taken?.id ?? ""), enabled: Boolean(taken) });
  if (deployment.data?.revert !== change.id) return null;
  return (
    <div className="mt-3 max-w-prose space-y-1.5 text-sm">
      <p>
        {change.target_branch} still holds it, and the next deployment would contain it. Its
        inverse, as a change that you sign:
      </p>
      <Command line={`astra changes revert ${change.id} --deploy`} />
    </div>
  );
}

/** A deployment that was ordered later has a story of its own; it is told here as well. */
export function useRecords(change: Change): LedgerRecord[] {
  const story = useQuery(storyQuery(change.id));
  const deployments = useQuery(deploymentsQuery);
  const later = deployments.data?.items.find(
    (each) => each.kind === "deploy" && each.commit === change.commit,
  );
  const apart = later !== undefined && later.correlation !== change.correlation;
  const other = useQuery({ ...storyQuery(later?.correlation ?? ""), enabled: apart });
  const records = [...(story.data?.items ?? []), ...((apart && other.data?.items) || [])];
  return records.toSorted((a, b) => a.sequence - b.sequence);
}

function StepLine({ step }: { step: Step }) {
  return (
    <li className="flex gap-3 text-sm">
      <Dot progress={step.progress} />
      <p className={step.progress === "todo" ? "text-soft" : ""}>
        <strong className="font-semibold">{step.name}.</strong>{" "}
        <Untrusted text={step.words} max={400} />{" "}
        {step.record && (
          <Link
            to="/ledger/story/$id"
            params={{ id: step.record.correlation }}
            className="text-accent underline underline-offset-2"
          >
            record {step.record.sequence}, <Time at={step.record.time} />
          </Link>
        )}
      </p>
    </li>
  );
}

const MARKS: Record<Progress, [sign: string, look: string, said: string]> = {
  done: ["✓", "bg-good-wash text-good", "done"],
  now: ["", "text-accent", "under way"],
  todo: ["", "border border-line-strong", "not begun"],
  failed: ["✕", "bg-bad-wash text-bad", "failed"],
};

function Dot({ progress }: { progress: Progress }) {
  const [sign, look, said] = MARKS[progress];
  return (
    <span
      className={`mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full text-xs font-bold ${look}`}
    >
      <span aria-hidden="true">{progress === "now" ? <Spinner /> : sign}</span>
      <span className="sr-only">{said}: </span>
    </span>
  );
}
