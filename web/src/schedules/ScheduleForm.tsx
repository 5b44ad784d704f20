import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useDeferredValue } from "react";
import { Problem } from "../api/problem";
import { explainQuery, toolsQuery } from "../api/queries";
import { Button, buttonClass } from "../parts/Button";
import { Card } from "../parts/Card";
import { Choice, Field } from "../parts/Field";
import { Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { briefIn } from "../parts/time";
import { type Form, type Field as Name, parsed } from "./form";

/** What a schedule is, for making one and for changing one. */
export function ScheduleForm({
  form,
  onChange,
  onSend,
  send,
  busy,
  ready,
  error,
  back,
  children,
}: {
  form: Form;
  onChange: (form: Form) => void;
  onSend: () => void;
  send: string;
  busy: boolean;
  ready: boolean;
  error: unknown;
  back?: ReactNode;
  children?: ReactNode;
}) {
  const set = (name: Name) => (value: string) => onChange({ ...form, [name]: value });
  const whole = form.name.trim() !== "" && parsed(form.payload) !== null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready && whole) onSend();
  };
  return (
    <form onSubmit={submit} className="grid gap-4 lg:grid-cols-[1fr_20rem]">
      <What form={form} set={set} />
      <When form={form} set={set} />
      <div className="min-w-0 space-y-3 lg:col-start-1">
        {children}
        {error !== null && <Refusal error={error} />}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="main" busy={busy} disabled={!ready || !whole}>
            {send}
          </Button>
          {back}
        </div>
      </div>
    </form>
  );
}

type Set = (name: Name) => (value: string) => void;

function What({ form, set }: { form: Form; set: Set }) {
  const wrong = parsed(form.payload) === null;
  return (
    <Card>
      <div className="space-y-4">
        <Field
          label="Name"
          required
          maxLength={200}
          value={form.name}
          onChange={(event) => set("name")(event.target.value)}
        />
        <ToolChoice value={form.target_tool} onChange={set("target_tool")} />
        <div>
          <label htmlFor="payload" className="mb-1 block text-sm font-medium">
            The tool's arguments, as JSON
          </label>
          <textarea
            id="payload"
            rows={4}
            spellCheck={false}
            value={form.payload}
            aria-invalid={wrong || undefined}
            onChange={(event) => set("payload")(event.target.value)}
            className="block w-full rounded-lg border border-line-strong bg-surface px-3 py-2 font-mono text-sm aria-invalid:border-bad"
          />
          {wrong && <p className="mt-1 text-sm text-bad">This is no JSON object.</p>}
        </div>
        <Field
          label="Firings a day, at most"
          type="number"
          required
          min={1}
          max={500}
          value={form.per_day_budget}
          onChange={(event) => set("per_day_budget")(event.target.value)}
          note="Tools that only read have no limit."
        />
      </div>
    </Card>
  );
}

/** The tier of a tool; nothing where it is not known (yet). */
export function useTier(tool: string): number {
  return useQuery(toolsQuery).data?.items.find((each) => each.name === tool)?.tier ?? 0;
}

function ToolChoice({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { data } = useQuery(toolsQuery);
  const tools = data?.items.filter((tool) => tool.available !== false) ?? [];
  const known = tools.some((tool) => tool.name === value);
  return (
    <div>
      <Choice
        label="Tool"
        value={value}
        onChange={onChange}
        options={[
          ...(known ? [] : [{ value, name: data ? `${value} (not to be had now)` : value }]),
          ...tools.map((tool) => ({
            value: tool.name,
            name: `${tool.name} (tier ${tool.tier}): ${tool.title}`,
          })),
        ]}
      />
      {useTier(value) >= 2 && (
        <p className="mt-1 text-sm text-soft">
          It reaches outside, so each firing waits for your approval.
        </p>
      )}
    </div>
  );
}

function When({ form, set }: { form: Form; set: Set }) {
  const zone = useDeferredValue(form.timezone);
  const explained = useQuery(explainQuery(useDeferredValue(form.cron_expression), zone));
  const problem = explained.error ? Problem.of(explained.error) : null;
  const zoneWrong = problem?.code === "bad_timezone";
  return (
    <Card title="When">
      <div className="space-y-4">
        <Field
          label="Cron expression"
          required
          spellCheck={false}
          value={form.cron_expression}
          wrong={problem && !zoneWrong ? `${problem.detail}; ${problem.nextStep}` : undefined}
          onChange={(event) => set("cron_expression")(event.target.value)}
          note="minute hour day month weekday, or @daily"
        />
        <Field
          label="Time zone"
          required
          spellCheck={false}
          value={form.timezone}
          wrong={zoneWrong ? `${problem.detail}; ${problem.nextStep}` : undefined}
          onChange={(event) => set("timezone")(event.target.value)}
        />
        <div aria-live="polite" className="border-t border-line pt-3 text-sm">
          {explained.data && !problem && (
            <>
              <p className="mb-2 font-medium first-letter:uppercase">{explained.data.in_words}</p>
              <ol className="space-y-1 text-soft">
                {explained.data.next_runs.map((run) => (
                  <li key={run} className="flex justify-between gap-2">
                    <span>{briefIn(run, zone)}</span>
                    <Time coming at={run} />
                  </li>
                ))}
              </ol>
            </>
          )}
        </div>
      </div>
    </Card>
  );
}

const ANSWERS: Record<string, string> = {
  needs_approval: "It waits for your decision and has not happened yet.",
  flag_off: "It was refused: what it takes is turned off.",
  stopped: "It was refused: everything is stopped.",
  budget_spent: "It was refused: the budget of this day is spent.",
  pool_spent: "It was refused: the starts of this day are spent.",
};

/** What the gate, or the schedule's own rules, answered; where a request waits, the way to it. */
function Refusal({ error }: { error: unknown }) {
  const problem = Problem.of(error);
  const waits = problem.more.approval_id;
  return (
    <div className="space-y-2">
      <p className="text-sm font-medium">{ANSWERS[problem.code] ?? "Nothing was changed."}</p>
      <Trouble error={error} />
      {typeof waits === "string" && (
        <Link to="/approvals/$id" params={{ id: waits }} className={buttonClass("main")}>
          Look at the request
        </Link>
      )}
    </div>
  );
}
