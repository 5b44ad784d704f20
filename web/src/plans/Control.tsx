import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answer, api } from "../api/client";
import type { Authority } from "../api/passkey";
import { decisionQuery, type Plan } from "../api/plans";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Field } from "../parts/Field";
import { Sign } from "../parts/Sign";
import { Answer, Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { Block } from "./Block";
import { Approve, Reject } from "./Decide";
import { useDeciding } from "./told";
import { answersTo, blockInWords } from "./words";

const UNDER_CONTRACT = /^(approved|running|checkpoint_completed|paused|blocked_)/;

/** What a person can do with a plan in its state. Less is free; more takes a signature. */
export function Control({ plan, moved }: { plan: Plan; moved: unknown }) {
  const why = isOverCap(plan)
    ? "A cap on tokens or money is reached. It goes on by itself when there is room."
    : blockInWords(plan.state, plan.asks);
  return (
    <Card title={plan.state === "awaiting_approval" ? "Your decision" : "Control"}>
      <div className="space-y-4">
        {moved !== null && <Moved error={moved} />}
        {why && <p className="font-medium text-warn">{why}</p>}
        {plan.block && <Block block={plan.block} />}
        {plan.state === "awaiting_approval" && <Approve plan={plan} />}
        {plan.state.startsWith("blocked_") && <Unblock plan={plan} />}
        {plan.state === "paused" && (
          <SignedMove plan={plan} action="resume" command={`astra plans resume ${plan.id}`}>
            Resume with your passkey
          </SignedMove>
        )}
        <Retry plan={plan} />
        {UNDER_CONTRACT.test(plan.state) && <Less plan={plan} />}
        {plan.state === "awaiting_approval" && <Reject plan={plan} />}
        <p className="text-sm text-soft">
          Next: <Untrusted text={plan.next} max={200} />
        </p>
      </div>
    </Card>
  );
}

/** A decision that did not count, because the plan moved on first; what is shown is how it is. */
function Moved({ error }: { error: unknown }) {
  return (
    <div className="space-y-1">
      <p className="text-sm font-medium">Your decision did not count. This is how it stands now.</p>
      <Trouble error={error} />
    </div>
  );
}

const isOverCap = (plan: Plan): boolean =>
  plan.state === "blocked_on_budget" && Boolean(plan.block?.over_cap);

function Unblock({ plan }: { plan: Plan }) {
  const [steps, setSteps] = useState(10);
  if (isOverCap(plan)) {
    const request = plan.block?.approval_id;
    if (typeof request !== "string") return null;
    return (
      <Link to="/approvals/$id" params={{ id: request }} className="text-accent hover:underline">
        Look at the request to raise it
      </Link>
    );
  }
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
  const destructive = plan.state === "blocked_on_destructive";
  return (
    <div className="space-y-3">
      <h3 className="text-sm font-semibold">Your answer</h3>
      <Choice plan={plan} answer={destructive ? "Confirm" : "Grant once"}>
        <SignedMove
          plan={plan}
          action="grant"
          more={{ once: true }}
          command={`astra plans grant ${plan.id} --once`}
        >
          {destructive ? "Confirm this once" : "Grant once"}
        </SignedMove>
      </Choice>
      {!destructive && (
        <Choice plan={plan} answer="Grant to this plan">
          <SignedMove plan={plan} action="grant" command={`astra plans grant ${plan.id}`} brief>
            Grant to this plan
          </SignedMove>
        </Choice>
      )}
    </div>
  );
}

/** The last step went wrong and nothing followed from it yet: it can be done once more. */
function Retry({ plan }: { plan: Plan }) {
  const step = plan.progress.retry;
  if (step === null) return null;
  return (
    <div
      id="retry"
      className="scroll-mt-16 rounded-lg border border-line px-3 py-2 target:bg-accent-wash"
    >
      <p className="mb-2 text-sm">
        <span className="font-medium">
          Run{" "}
          <a href={`#step-${step}`} className="text-accent underline">
            step {step}
          </a>{" "}
          once more
        </span>
        : exactly the same action, and then the plan goes on. What it did before it ended may happen
        twice. One-time grants and confirmations are asked for again.
      </p>
      <SignedMove plan={plan} action="retry" command={`astra plans retry ${plan.id}`} brief>
        Run it once more
      </SignedMove>
    </div>
  );
}

/** An answer to a block, with what it means above the button that gives it. */
function Choice({ plan, answer, children }: { plan: Plan; answer: string; children: ReactNode }) {
  const means = answersTo(plan.state, plan.block ?? {}).find((each) => each.answer === answer);
  return (
    <div className="rounded-lg border border-line px-3 py-2">
      <p className="mb-2 text-sm">
        <span className="font-medium">{answer}</span>: {means?.means}
      </p>
      {children}
    </div>
  );
}

type More = { once?: boolean; steps?: number };
type Move = "grant" | "resume" | "extend_budget" | "retry";

/** Something that takes a signature: the server words it, a passkey or the terminal signs it. */
function SignedMove({
  plan,
  action,
  more = {},
  command,
  brief = false,
  children,
}: {
  plan: Plan;
  action: Move;
  more?: More;
  command: string;
  brief?: boolean;
  children: ReactNode;
}) {
  const deciding = useDeciding();
  const { step } = plan.progress;
  const wanted = useQuery(decisionQuery(plan.id, action, { ...more, step }));
  return (
    <Answer query={wanted} rows={1}>
      {({ type, content }) => (
        <Sign
          action={type}
          content={content}
          command={command}
          brief={brief}
          send={(authority) => deciding(() => sent(plan, action, more, authority))}
        >
          {children}
        </Sign>
      )}
    </Answer>
  );
}

/** Send a signed decision, with the step that was looked at. */
function sent(plan: Plan, action: Move, more: More, authority: Authority) {
  const path = { params: { path: { identifier: plan.id } } };
  const seen = { authority, step: plan.progress.step };
  switch (action) {
    case "resume":
      return answer(api.POST("/api/agents/{identifier}/resume", { ...path, body: seen }));
    case "retry":
      return answer(api.POST("/api/agents/{identifier}/retry", { ...path, body: seen }));
    case "grant": {
      const body = { ...seen, once: more.once ?? false };
      return answer(api.POST("/api/agents/{identifier}/grant", { ...path, body }));
    }
    case "extend_budget": {
      const body = { ...seen, steps: more.steps ?? 0 };
      return answer(api.POST("/api/agents/{identifier}/extend_budget", { ...path, body }));
    }
  }
}

/** What needs no signature, because it can only make a plan do less. */
function Less({ plan }: { plan: Plan }) {
  const deciding = useDeciding();
  const path = { params: { path: { identifier: plan.id } } };
  const act = useMutation({
    mutationFn: (verb: "pause" | "abort" | "skip") =>
      deciding(() => {
        const body = { reason: "" };
        if (verb === "pause")
          return answer(api.POST("/api/agents/{identifier}/pause", { ...path, body }));
        if (verb === "abort")
          return answer(api.POST("/api/agents/{identifier}/abort", { ...path, body }));
        const seen = { ...body, step: plan.progress.step };
        return answer(api.POST("/api/agents/{identifier}/skip", { ...path, body: seen }));
      }),
  });
  const canSkip = /^blocked_on_(permission|destructive)/.test(plan.state);
  const canPause = plan.state !== "paused" && plan.state !== "approved";
  useKeys(canPause ? [{ keys: "p", does: "pause", run: () => act.mutate("pause") }] : []);
  return (
    <div className="space-y-2 border-t border-line pt-3">
      {act.error && <Trouble error={act.error} />}
      {canSkip && (
        <Choice plan={plan} answer="Skip">
          <Button className="w-full" busy={act.isPending} onClick={() => act.mutate("skip")}>
            Skip this action
          </Button>
        </Choice>
      )}
      <div className="flex flex-wrap gap-2">
        {canPause && (
          <Button hint="p" busy={act.isPending} onClick={() => act.mutate("pause")}>
            Pause
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
