import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answer, api } from "../api/client";
import { decisionQuery, type Plan } from "../api/plans";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Field } from "../parts/Field";
import { Json } from "../parts/Json";
import { Sign } from "../parts/Sign";
import { Answer, Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { Approve, Reject } from "./Decide";
import { blockInWords } from "./words";

const UNDER_CONTRACT = /^(approved|running|checkpoint_completed|paused|blocked_)/;

/** What a person can do with a plan in its state. Less is free; more takes a signature. */
export function Control({ plan }: { plan: Plan }) {
  const why = blockInWords(plan.state);
  return (
    <Card title={plan.state === "awaiting_approval" ? "Your decision" : "Control"}>
      <div className="space-y-4">
        {why && <p className="font-medium text-warn">{why}</p>}
        {plan.block && <Block block={plan.block} />}
        {plan.state === "awaiting_approval" && <Approve plan={plan} />}
        {plan.state.startsWith("blocked_") && <Unblock plan={plan} />}
        {plan.state === "paused" && (
          <SignedMove plan={plan} action="resume" command={`astra plans resume ${plan.id}`}>
            Resume with your passkey
          </SignedMove>
        )}
        {UNDER_CONTRACT.test(plan.state) && <Less plan={plan} />}
        {plan.state === "awaiting_approval" && <Reject plan={plan} />}
        <p className="text-sm text-soft">
          Next: <Untrusted text={plan.next} max={200} />
        </p>
      </div>
    </Card>
  );
}

/** What it stands before, in words; the rest of the record is there for whoever wants it. */
function Block({ block }: { block: Record<string, unknown> }) {
  const { in_words: words, ...rest } = block;
  return (
    <div className="text-sm">
      {typeof words === "string" && <Untrusted text={words} block max={600} />}
      <details className="mt-1">
        <summary className="text-soft">exactly</summary>
        <Json value={rest} max={800} />
      </details>
    </div>
  );
}

function Unblock({ plan }: { plan: Plan }) {
  const [steps, setSteps] = useState(10);
  if (plan.state === "blocked_on_budget") {
    return (
      <div className="space-y-2">
        <Field
          label="More steps"
          type="number"
          min={1}
          max={200}
          value={steps}
          onChange={(event) => setSteps(Math.max(1, Number(event.target.value)))}
        />
        <SignedMove
          plan={plan}
          action="extend_budget"
          more={{ steps }}
          command={`astra plans extend-budget ${plan.id} ${steps}`}
        >
          Give them with your passkey
        </SignedMove>
      </div>
    );
  }
  if (plan.state === "blocked_on_llm") {
    return (
      <SignedMove plan={plan} action="resume" command={`astra plans resume ${plan.id}`}>
        Resume with your passkey
      </SignedMove>
    );
  }
  return (
    <div className="space-y-3">
      <SignedMove
        plan={plan}
        action="grant"
        more={{ once: true }}
        command={`astra plans grant ${plan.id} --once`}
      >
        {plan.state === "blocked_on_destructive" ? "Confirm this once" : "Grant once"}
      </SignedMove>
      {plan.state === "blocked_on_permission" && (
        <SignedMove plan={plan} action="grant" command={`astra plans grant ${plan.id}`}>
          Grant to this plan
        </SignedMove>
      )}
    </div>
  );
}

type Move = "grant" | "resume" | "extend_budget";

/** Something that takes a signature: the server words it, a passkey or the terminal signs it. */
function SignedMove({
  plan,
  action,
  more = {},
  command,
  children,
}: {
  plan: Plan;
  action: Move;
  more?: { once?: boolean; steps?: number };
  command: string;
  children: ReactNode;
}) {
  const client = useQueryClient();
  const wanted = useQuery(decisionQuery(plan.id, action, more));
  const path = { params: { path: { identifier: plan.id } } };
  return (
    <Answer query={wanted} rows={1}>
      {({ type, content }) => (
        <Sign
          action={type}
          content={content}
          command={command}
          send={async (authority) => {
            if (action === "resume") {
              await answer(
                api.POST("/api/agents/{identifier}/resume", { ...path, body: { authority } }),
              );
            } else if (action === "grant") {
              const body = { authority, once: more.once ?? false };
              await answer(api.POST("/api/agents/{identifier}/grant", { ...path, body }));
            } else {
              const body = { authority, steps: more.steps ?? 0 };
              await answer(api.POST("/api/agents/{identifier}/extend_budget", { ...path, body }));
            }
            await client.invalidateQueries({ queryKey: ["agents"] });
          }}
        >
          {children}
        </Sign>
      )}
    </Answer>
  );
}

/** What needs no signature, because it can only make a plan do less. */
function Less({ plan }: { plan: Plan }) {
  const client = useQueryClient();
  const path = { params: { path: { identifier: plan.id } } };
  const act = useMutation({
    mutationFn: (verb: "pause" | "abort" | "skip"): Promise<unknown> => {
      const body = { reason: "" };
      if (verb === "pause")
        return answer(api.POST("/api/agents/{identifier}/pause", { ...path, body }));
      if (verb === "skip")
        return answer(api.POST("/api/agents/{identifier}/skip", { ...path, body }));
      return answer(api.POST("/api/agents/{identifier}/abort", { ...path, body }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
  const canSkip = /^blocked_on_(permission|destructive)/.test(plan.state);
  const canPause = plan.state !== "paused" && plan.state !== "approved";
  useKeys(canPause ? [{ keys: "p", does: "pause", run: () => act.mutate("pause") }] : []);
  return (
    <div className="space-y-2 border-t border-line pt-3">
      {act.error && <Trouble error={act.error} />}
      <div className="flex flex-wrap gap-2">
        {canPause && (
          <Button hint="p" busy={act.isPending} onClick={() => act.mutate("pause")}>
            Pause
          </Button>
        )}
        {canSkip && (
          <Button busy={act.isPending} onClick={() => act.mutate("skip")}>
            Skip this action
          </Button>
        )}
        <Abort busy={act.isPending} onAbort={() => act.mutate("abort")} />
      </div>
    </div>
  );
}

function Abort({ busy, onAbort }: { busy: boolean; onAbort: () => void }) {
  const [sure, setSure] = useState(false);
  return sure ? (
    <Button look="danger" busy={busy} onClick={onAbort}>
      Yes, end it for good
    </Button>
  ) : (
    <Button look="danger" onClick={() => setSure(true)}>
      Abort…
    </Button>
  );
}
