import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../api/client";
import type { Plan } from "../api/plans";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Field } from "../parts/Field";
import { Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

/** What the plan and people told each other; its next step reads what is said here. */
export function Messages({ plan }: { plan: Plan }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const asked = plan.state === "draft_pending" && plan.questions.length > 0;
  const say = useMutation({
    mutationFn: (): Promise<unknown> => {
      const path = { params: { path: { identifier: plan.id } } };
      return asked
        ? answer(api.POST("/api/agents/{identifier}/answers", { ...path, body: { answer: text } }))
        : answer(api.POST("/api/agents/{identifier}/messages", { ...path, body: { text } }));
    },
    onSuccess: () => setText(""),
    onSettled: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
  return (
    <Card title={asked ? "It asks you" : "Messages"}>
      {asked && (
        <ul className="mb-3 list-disc space-y-1 pl-4">
          {plan.questions.map((question) => (
            <li key={question}>
              <Untrusted text={question} max={400} />
            </li>
          ))}
        </ul>
      )}
      <ul className="mb-3 max-h-80 space-y-2 overflow-y-auto text-sm">
        {plan.messages.map((message) => (
          <li key={`${message.time}${message.text}`}>
            <p className="text-soft">
              <Untrusted
                text={String(message.by ?? message.direction ?? message.kind ?? "")}
                max={40}
              />{" "}
              <Time at={message.time} />
            </p>
            <Untrusted text={message.text} block max={600} />
          </li>
        ))}
      </ul>
      <form
        className="space-y-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) say.mutate();
        }}
      >
        <Field
          label={asked ? "Your answer" : "Tell the plan something"}
          value={text}
          maxLength={4_000}
          onChange={(event) => setText(event.target.value)}
        />
        {say.error && <Trouble error={say.error} />}
        <Button type="submit" busy={say.isPending} disabled={!text.trim()}>
          {asked ? "Answer" : "Send"}
        </Button>
      </form>
    </Card>
  );
}
