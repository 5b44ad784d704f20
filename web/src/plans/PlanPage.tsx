import { useMutation, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../api/client";
import { type Plan, planQuery } from "../api/plans";
import { Badge, StateBadge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card, Fact, Facts } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { oneLine } from "../parts/visible";
import { Control } from "./Control";
import { Graph } from "./Graph";
import { LookUpHosts, useHosts } from "./Hosts";
import { Messages } from "./Messages";
import { Steps } from "./Steps";
import { Told, useDeciding } from "./told";
import { type Edit, titleOf, withBudget, withoutCheckpoint, withoutGrant } from "./words";

export function PlanPage() {
  const { id } = useParams({ from: "/plans/$id" });
  return (
    <Answer whole query={useQuery(planQuery(id))}>
      {(found) => <Shown plan={found} />}
    </Answer>
  );
}

function Shown({ plan }: { plan: Plan }) {
  const [moved, setMoved] = useState<unknown>(null);
  return (
    <Told value={setMoved}>
      <Whole plan={plan} moved={moved} />
    </Told>
  );
}

function Whole({ plan, moved }: { plan: Plan; moved: unknown }) {
  const revise = useRevise(plan);
  const editable = plan.state === "awaiting_approval";
  const begun = plan.progress.number >= 0;
  const waits = plan.state.startsWith("blocked_") || plan.questions.length > 0;
  return (
    <>
      <PageHeader
        title={titleOf(plan)}
        about={
          <>
            {plan.plan ? `${plan.plan.checkpoints.length} checkpoints, ` : ""}
            {plan.plan ? `about ${plan.plan.estimated_duration_minutes} minutes, ` : ""}
            drafted <Time at={plan.created_at} />
          </>
        }
        actions={<StateBadge state={plan.state} />}
      />
      <div className="grid gap-4 lg:grid-cols-[1fr_21rem]">
        <div className="min-w-0 space-y-4">
          {begun && <Graph plan={plan} />}
          <Intent plan={plan} />
          {revise.error && <Trouble error={revise.error} />}
          <Manifest plan={plan} onEdit={editable ? (edit) => revise.mutate([edit]) : null} />
          {!begun && <Graph plan={plan} />}
          <Checkpoints plan={plan} onEdit={editable ? (edit) => revise.mutate([edit]) : null} />
          <Steps plan={plan} />
        </div>
        <div
          className={`space-y-4 lg:self-start ${waits ? "max-lg:order-first" : "lg:sticky lg:top-16"}`}
        >
          <Control plan={plan} moved={moved} />
          <Messages plan={plan} />
        </div>
      </div>
    </>
  );
}

function useRevise(plan: Plan) {
  const deciding = useDeciding();
  return useMutation({
    mutationFn: (edits: Edit[]) =>
      deciding(() =>
        answer(
          api.POST("/api/agents/{identifier}/revise", {
            params: { path: { identifier: plan.id } },
            body: { edits, plan_hash: plan.plan_hash },
          }),
        ),
      ),
  });
}

function Intent({ plan }: { plan: Plan }) {
  return (
    <Card title="What it is for">
      <Facts>
        {plan.description && (
          <Fact name="Asked for">
            <Untrusted text={plan.description} block max={800} />
          </Fact>
        )}
        {plan.plan && (
          <Fact name="Goals">
            <ul className="list-disc pl-4">
              {plan.plan.goals.map((goal) => (
                <li key={goal}>
                  <Untrusted text={goal} max={300} />
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {plan.plan && plan.plan.assumptions.length > 0 && (
          <Fact name="It assumes">
            <Untrusted text={plan.plan.assumptions.join("\n")} block max={800} />
          </Fact>
        )}
        <Fact name="Records">
          <StoryLink id={plan.id}>the story of this plan</StoryLink>
        </Fact>
      </Facts>
    </Card>
  );
}

function Manifest({ plan, onEdit }: { plan: Plan; onEdit: ((edit: Edit) => void) | null }) {
  const hosts = useHosts(plan.id);
  if (!plan.manifest) return null;
  const { items, sandbox, model } = plan.manifest;
  const names = items.some(({ kind }) => kind === "network_domains");
  return (
    <Card
      title="What it may touch"
      actions={<Badge tone={plan.manifest.new ? "warn" : "good"}>{plan.manifest.new} new</Badge>}
    >
      <ul className="space-y-1.5">
        {items.map((item) => (
          <li key={`${item.kind} ${item.value}`} className="flex items-baseline gap-2">
            <Badge tone={item.new ? "warn" : "plain"}>{item.new ? "new" : "granted already"}</Badge>
            <span className="min-w-0 flex-1">
              <Untrusted text={item.in_words} max={300} />
              {item.preflight && (
                <span className="block text-sm text-soft">
                  now: <Untrusted text={hosts.outcomeOf(item) ?? item.preflight} max={200} />
                </span>
              )}
            </span>
            {onEdit && (
              <Button
                look="quiet"
                className="min-h-7 px-2 py-0"
                aria-label={`Take away: ${item.in_words.slice(0, 100)}`}
                onClick={() => onEdit(withoutGrant(item.kind, item.value))}
              >
                Take away
              </Button>
            )}
          </li>
        ))}
        {items.length === 0 && <li className="text-soft">Nothing beyond its own box.</li>}
      </ul>
      {names && <LookUpHosts hosts={hosts} />}
      {!model.ok && (
        <p className="mt-3 text-sm text-warn">
          It cannot begin: <Untrusted text={model.detail} max={300} />
        </p>
      )}
      <h3 className="mt-4 mb-1 text-sm font-semibold">Its sandbox, in words</h3>
      <ul className="list-disc space-y-0.5 pl-4 text-sm text-soft">
        {sandbox.map((line) => (
          <li key={line}>
            <Untrusted text={line} max={300} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Checkpoints({ plan, onEdit }: { plan: Plan; onEdit: ((edit: Edit) => void) | null }) {
  if (!plan.plan) return null;
  return (
    <Card title="Checkpoints" padded={false}>
      <ol>
        {plan.plan.checkpoints.map((checkpoint, index) => (
          <li
            key={checkpoint.id}
            id={`checkpoint-${index}`}
            className="border-b border-line px-4 py-3 last:border-b-0"
          >
            <p className="flex flex-wrap items-center gap-2">
              <Where plan={plan} index={index} />
              <span className="font-medium">
                <Untrusted text={checkpoint.title} max={200} />
              </span>
            </p>
            <Untrusted
              text={checkpoint.description}
              block
              max={600}
              className="mt-1 text-sm text-soft"
            />
            <p className="mt-1 flex flex-wrap items-center gap-x-4 text-sm text-soft">
              {checkpoint.expected_output && (
                <span>
                  gives: <Untrusted text={checkpoint.expected_output} max={200} />
                </span>
              )}
              <Budget
                steps={checkpoint.step_budget}
                onChange={onEdit ? (steps) => onEdit(withBudget(index, steps)) : null}
              />
              {onEdit && (plan.plan?.checkpoints.length ?? 0) > 1 && (
                <Button
                  look="quiet"
                  className="min-h-7 px-2 py-0"
                  aria-label={`Leave out: ${oneLine(checkpoint.title, 100)}`}
                  onClick={() => onEdit(withoutCheckpoint(index))}
                >
                  Leave out
                </Button>
              )}
            </p>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Where({ plan, index }: { plan: Plan; index: number }) {
  if (index < plan.checkpoints_done) return <Badge tone="good">done</Badge>;
  const at = plan.progress.number === index && plan.state !== "awaiting_approval";
  if (!at) return <Badge>{index + 1}</Badge>;
  return (
    <Badge tone="accent">
      now, step {plan.progress.steps_spent} of {plan.progress.step_budget ?? "?"}
    </Badge>
  );
}

function Budget({
  steps,
  onChange,
}: {
  steps: number;
  onChange: ((steps: number) => void) | null;
}) {
  if (!onChange) return <span>at most {steps} steps</span>;
  return (
    <label className="flex items-center gap-1.5">
      at most
      <input
        type="number"
        min={1}
        max={200}
        defaultValue={steps}
        onBlur={(event) => {
          const given = Number(event.target.value);
          if (given >= 1 && given !== steps) onChange(given);
        }}
        className="w-16 rounded-md border border-line-strong bg-surface px-1.5 py-0.5 text-ink"
      />
      steps
    </label>
  );
}
