import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Message } from "../api/chat";
import { answer, api } from "../api/client";
import { Problem } from "../api/problem";
import { Badge, type Tone } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Json } from "../parts/Json";
import { Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { callInWords } from "./calls";
import { Markdown } from "./Markdown";
import type { Spoken } from "./talk";

const LONGEST = 8_000;
const ENDINGS: Record<string, string> = {
  cut: "Cut off here.",
  limit: "It ended at a limit, of steps or of length. Say “go on” to let it.",
};

/** One thing that was said, by whom, and what was done meanwhile. */
export function Said({ message, children }: { message: Message; children?: ReactNode }) {
  const mine = message.who === "person";
  return (
    <Bubble mine={mine} at={message.time}>
      <Calls calls={message.calls} />
      {message.text &&
        (mine ? (
          <Untrusted block text={message.text} max={LONGEST} />
        ) : (
          <Markdown text={message.text} max={LONGEST} />
        ))}
      {message.ended && ENDINGS[message.ended] && (
        <p className="mt-1 text-sm text-soft">{ENDINGS[message.ended]}</p>
      )}
      {message.trouble && <Trouble error={new Problem(502, message.trouble)} />}
      {children}
    </Bubble>
  );
}

/** What the persona is saying at this moment. */
export function Saying({ spoken }: { spoken: Spoken }) {
  return (
    <Bubble mine={false}>
      <Calls calls={spoken.calls} />
      {spoken.text ? (
        <Markdown text={spoken.text} />
      ) : (
        <p className="text-soft" role="status">
          {spoken.calls.length ? "Working…" : "Thinking…"}
        </p>
      )}
    </Bubble>
  );
}

export function Bubble({
  mine,
  at,
  children,
}: {
  mine: boolean;
  at?: string;
  children: ReactNode;
}) {
  return (
    <li className={`flex ${mine ? "justify-end" : ""}`}>
      <div
        className={`min-w-0 max-w-[85%] rounded-card border px-3.5 py-2.5 ${mine ? "border-transparent bg-accent-wash" : "border-line bg-surface"}`}
      >
        <p className="mb-0.5 text-xs text-soft">
          {mine ? "You" : "The agent"}
          {at && (
            <>
              {" · "}
              <Time at={at} />
            </>
          )}
        </p>
        {children}
      </div>
    </li>
  );
}

const TONES: Record<string, Tone> = { ok: "good", waiting: "accent", running: "plain" };
const OUTCOMES: Record<string, string> = { waiting: "waits for you", running: "runs…", ok: "done" };

function Calls({ calls }: { calls: Spoken["calls"] }) {
  if (calls.length === 0) return null;
  return (
    <ul className="mb-2 space-y-1.5">
      {calls.map((call) => (
        <li key={call.number} className="rounded-lg border border-line bg-raised/60 px-2.5 py-1.5">
          <details>
            <summary className="flex flex-wrap items-center gap-2 text-sm">
              <code className="font-mono">
                <Untrusted text={call.tool} max={60} />
              </code>
              <Badge tone={TONES[call.outcome] ?? "bad"}>
                {OUTCOMES[call.outcome] ?? call.outcome}
              </Badge>
              <Untrusted text={callInWords(call)} max={160} inButton className="text-soft" />
            </summary>
            <Json value={call.arguments} />
          </details>
          {call.detail && (
            <p className="mt-1 text-sm text-soft">
              <Untrusted text={call.detail} max={400} />
            </p>
          )}
          {call.approval_id && (
            <Link
              to="/approvals/$id"
              params={{ id: call.approval_id }}
              className="mt-1 inline-block text-sm font-medium text-accent underline"
            >
              Look at it and decide
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A long request might be a project; a first no ends this for the conversation. */
export function Suggestion({ conversation, text }: { conversation: string; text: string }) {
  const client = useQueryClient();
  const draft = useMutation({
    mutationFn: () => answer(api.POST("/api/agents", { body: { description: text } })),
  });
  const silence = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/chat/{identifier}/silence", {
          params: { path: { identifier: conversation } },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["chat"] }),
  });
  return (
    <div className="mt-2 rounded-lg border border-accent/40 bg-accent-wash px-3 py-2 text-sm">
      <p className="font-medium">This could be a project</p>
      <Untrusted block text={text} max={600} />
      <p className="mt-1 text-soft">
        A plan is drafted for you to look at; nothing runs before you approve it.
      </p>
      {draft.data ? (
        <Link
          to="/plans/$id"
          params={{ id: draft.data.id }}
          className="mt-2 inline-block font-medium text-accent underline"
        >
          Look at the plan
        </Link>
      ) : (
        <div className="mt-2 flex flex-wrap gap-2">
          <Button look="main" busy={draft.isPending} onClick={() => draft.mutate()}>
            Draft a plan
          </Button>
          <Button busy={silence.isPending} onClick={() => silence.mutate()}>
            No, thanks
          </Button>
        </div>
      )}
      {(draft.error ?? silence.error) && <Trouble error={draft.error ?? silence.error} />}
    </div>
  );
}
