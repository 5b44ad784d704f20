import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { createGoal, type GoalBody } from "../api/goals";
import { passkeysWork } from "../api/passkey";
import { passkeysQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Choice, Field } from "../parts/Field";
import { Trouble } from "../parts/states";

const CATEGORIES = [
  { value: "user_requested", name: "asked for by a person" },
  { value: "maintenance", name: "maintenance" },
  { value: "introspection", name: "a question about itself" },
  { value: "exploration", name: "exploration" },
];
/** The tasks of the built-in methods; methods of the operator's own may name others. */
const TASKS = [
  ...["achieve", "implement_feature", "fix_bug", "refactor_code", "add_tests", "update_documents"],
  ...["raise_coverage", "keep_dependencies_current", "investigate_topic", "investigate_question"],
];

type Draft = {
  text: string;
  category: NonNullable<GoalBody["category"]>;
  task: string;
  command: string;
  file: string;
  minutes: string;
  money: string;
};

const EMPTY: Draft = {
  text: "",
  category: "user_requested",
  task: "achieve",
  command: "",
  file: "",
  minutes: "240",
  money: "",
};

export function bodyOf(draft: Draft): GoalBody {
  const criteria = [
    ...(draft.command.trim() ? [{ command: draft.command.trim() }] : []),
    ...(draft.file.trim() ? [{ file: draft.file.trim() }] : []),
  ];
  return {
    text: draft.text.trim(),
    category: draft.category,
    task: draft.task,
    criteria,
    budget: {
      minutes: Math.max(0, Math.round(Number(draft.minutes) || 0)),
      ...(draft.money.trim() ? { money: draft.money.trim() } : {}),
    },
  };
}

/** A form for a goal; it is only proposed by this, and planned at once. */
export function NewGoal({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(EMPTY);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: passkeys } = useQuery(passkeysQuery);
  const usable = passkeys?.items.some((key) => !key.revoked_at && key.origin === location.origin);
  const signs = passkeysWork() && usable === true;
  const create = useMutation({
    mutationFn: (signed: boolean) => createGoal(bodyOf(draft), signed),
    onSuccess: async (goal) => {
      await client.invalidateQueries({ queryKey: ["goals"] });
      await navigate({ to: "/goals/$id", params: { id: goal.id } });
    },
  });
  const set = (name: keyof Draft) => (value: string) => setDraft({ ...draft, [name]: value });
  const field = (name: keyof Draft) => ({
    value: draft[name],
    onChange: (event: { target: { value: string } }) => set(name)(event.target.value),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft.text.trim()) create.mutate(signs);
  };
  return (
    <Card title="A new goal" className="mb-4">
      <form onSubmit={submit} className="grid gap-3 md:grid-cols-2">
        <div className="md:col-span-2">
          <Field label="What is to be achieved" ref={first} maxLength={4_000} {...field("text")} />
        </div>
        <Choice
          label="Category"
          options={CATEGORIES}
          value={draft.category}
          onChange={set("category")}
        />
        <div>
          <Field
            label="What is to be done"
            list="goal-tasks"
            note="the task of a method; achieve takes what fits the category"
            {...field("task")}
          />
          <datalist id="goal-tasks">
            {TASKS.map((task) => (
              <option key={task} value={task} />
            ))}
          </datalist>
        </div>
        <Field label="It is reached when this command passes" {...field("command")} />
        <Field label="It is reached when this file is there" {...field("file")} />
        <Field label="At most so many minutes" type="number" min={0} {...field("minutes")} />
        <Field
          label="At most so much money"
          inputMode="decimal"
          note="for its model calls, in the currency of [spend]; empty: not limited"
          {...field("money")}
        />
        <div className="md:col-span-2">
          {create.error && <Trouble error={create.error} />}
          <p className="text-sm text-soft">
            {signs
              ? "Your passkey signs that the goal is yours."
              : "Without a passkey it counts as proposed by an agent; sign it in a terminal with astra goals create."}
          </p>
          <div className="mt-1 flex flex-wrap gap-2">
            <Button type="submit" look="main" busy={create.isPending} disabled={!draft.text.trim()}>
              Propose it
            </Button>
            {signs && (
              <Button
                look="quiet"
                disabled={!draft.text.trim()}
                onClick={() => create.mutate(false)}
              >
                Propose it unsigned
              </Button>
            )}
            <Button look="quiet" onClick={onClose}>
              Cancel
            </Button>
          </div>
        </div>
      </form>
    </Card>
  );
}
