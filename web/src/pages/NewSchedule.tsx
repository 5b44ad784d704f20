import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useDeferredValue, useState } from "react";
import { answer, api } from "../api/client";
import { Problem } from "../api/problem";
import { explainQuery, toolsQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Choice, Field } from "../parts/Field";
import { PageHeader } from "../parts/PageHeader";
import { Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { brief } from "../parts/time";

const START = {
  name: "",
  cron_expression: "0 7 * * 1-5",
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  target_tool: "astra_desires_list",
  payload: "{}",
  per_day_budget: "4",
};

export function NewSchedule() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [form, setForm] = useState(START);
  const set = (name: keyof typeof START) => (value: string) => setForm({ ...form, [name]: value });
  const payload = parsed(form.payload);
  const create = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/schedules", {
          body: { ...form, payload: payload ?? {}, per_day_budget: Number(form.per_day_budget) },
        }),
      ),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["schedules"] });
      await navigate({ to: "/schedules/$id", params: { id: made.id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <>
      <PageHeader
        title="New schedule"
        about="Runs one tool on a clock. You can pause it at any time."
      />
      <form onSubmit={submit} className="grid gap-4 lg:grid-cols-[1fr_20rem]">
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
                aria-invalid={payload === null || undefined}
                onChange={(event) => set("payload")(event.target.value)}
                className="block w-full rounded-lg border border-line-strong bg-surface px-3 py-2 font-mono text-sm aria-invalid:border-bad"
              />
              {payload === null && <p className="mt-1 text-sm text-bad">This is no JSON object.</p>}
            </div>
            <Field
              label="Firings a day, at most"
              type="number"
              min={1}
              max={500}
              value={form.per_day_budget}
              onChange={(event) => set("per_day_budget")(event.target.value)}
              note="Tools that only read have no limit."
            />
          </div>
        </Card>
        <When form={form} set={set} />
        <div className="space-y-3 lg:col-start-1">
          {create.error && <Trouble error={create.error} />}
          <Button
            type="submit"
            look="main"
            busy={create.isPending}
            disabled={!form.name.trim() || payload === null}
          >
            Create the schedule
          </Button>
        </div>
      </form>
    </>
  );
}

function ToolChoice({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { data } = useQuery(toolsQuery);
  const tools = data?.items.filter((tool) => tool.available !== false) ?? [];
  return (
    <Choice
      label="Tool"
      value={value}
      onChange={onChange}
      options={
        data
          ? tools.map((tool) => ({
              value: tool.name,
              name: `${tool.name} (tier ${tool.tier}): ${tool.title}`,
            }))
          : [{ value, name: value }]
      }
    />
  );
}

function When({
  form,
  set,
}: {
  form: typeof START;
  set: (name: "cron_expression" | "timezone") => (value: string) => void;
}) {
  const explained = useQuery(
    explainQuery(useDeferredValue(form.cron_expression), useDeferredValue(form.timezone)),
  );
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
                    <span>{brief(run)}</span>
                    <Time at={run} />
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

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text || "{}");
    return value && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
