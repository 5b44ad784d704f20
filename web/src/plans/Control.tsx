import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answer, api } from "../api/client";
import { decisionQuery, type Plan } from "../api/plans";
import { approvalQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Field } from "../parts/Field";
import { Digest } from "../parts/Id";
import { Json } from "../parts/Json";
import { Sign } from "../parts/Sign";
import { Answer, Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { blockInWords } from "./words";

const UNDER_CONTRACT = /^(approved|running|checkpoint_completed|paused|blocked_)/;

/** What a person can do with a plan in its state. Less is free; more takes a signature. */
export function Control({ plan }: { plan: Plan }) {
  const why = blockInWords(plan.state);
  return (
    <Card title={plan.state === "awaiting_approval" ? "Your decision" : "Control"}>
      <div className="space-y-4">
        {why && <p className="font-medium text-warn">{why}</p>}
        {plan.block && <Json value={plan.block} max={800} />}
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

function Approve({ plan }: { plan: Plan }) {
  const client = useQueryClient();
  const found = useQuery({
    ...approvalQuery(plan.approval_id ?? ""),
    enabled: plan.approval_id !== null,
  });
  if (!plan.approval_id) return <Ask plan={plan} />;
  return (
    <Answer query={found} rows={1}>
      {(approval) => (
        <>
          <p className="text-sm text-soft">
            You approve exactly this plan and exactly these grants:{" "}
            <Digest value={approval.digest} />
          </p>
          <Sign
            action="approval_granted"
            content={{ approval: approval.id, digest: approval.digest }}
            command={`astra plans approve ${plan.id}`}
            send={async (authority) => {
              await answer(
                api.POST("/api/agents/{identifier}/approve", {
                  params: { path: { identifier: plan.id } },
                  body: { approval: approval.id, authority },
                }),
              );
              await client.invalidateQueries({ queryKey: ["agents"] });
            }}
          >
            Approve with your passkey
          </Sign>
        </>
      )}
    </Answer>
  );
}

/** After an edit, or when a request expired, nothing waits yet: ask for what is there now. */
function Ask({ plan }: { plan: Plan }) {
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: (): Promise<unknown> =>
      answer(
        api.POST("/api/agents/{identifier}/approval", {
          params: { path: { identifier: plan.id } },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
  return (
    <>
      {ask.error && <Trouble error={ask.error} />}
      <Button look="main" busy={ask.isPending} onClick={() => ask.mutate()}>
        Decide on it as it is now
      </Button>
    </>
  );
}

function Reject({ plan }: { plan: Plan }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const reject = useMutation({
    mutationFn: (): Promise<unknown> =>
      answer(
        api.POST("/api/agents/{identifier}/reject", {
          params: { path: { identifier: plan.id } },
          body: { reason },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["agents"] }),
  });
  return (
    <form
      className="space-y-2 border-t border-line pt-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason.trim()) reject.mutate();
      }}
    >
      <Field
        label="Reject, and say why"
        value={reason}
        maxLength={2_000}
        onChange={(event) => setReason(event.target.value)}
      />
      {reject.error && <Trouble error={reject.error} />}
      <Button type="submit" look="danger" busy={reject.isPending} disabled={!reason.trim()}>
        Reject
      </Button>
    </form>
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
