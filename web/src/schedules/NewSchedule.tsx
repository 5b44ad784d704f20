import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../api/client";
import { PageHeader } from "../parts/PageHeader";
import { type Form, parsed } from "./form";
import { ScheduleForm } from "./ScheduleForm";

const START: Form = {
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
  const create = useMutation({
    mutationFn: () => {
      const payload = parsed(form.payload) ?? {};
      const body = { ...form, payload, per_day_budget: Number(form.per_day_budget) };
      return answer(api.POST("/api/schedules", { body }));
    },
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["schedules"] });
      await navigate({ to: "/schedules/$id", params: { id: made.id } });
    },
  });
  return (
    <>
      <PageHeader
        title="New schedule"
        about="Runs one tool on a clock. You can pause it at any time."
      />
      <ScheduleForm
        form={form}
        onChange={setForm}
        onSend={create.mutate}
        send="Create the schedule"
        busy={create.isPending}
        ready
        error={create.error}
      />
    </>
  );
}
