import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { answer, api } from "../api/client";
import type { Plan } from "../api/plans";
import { approvalQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { Field } from "../parts/Field";
import { Digest } from "../parts/Id";
import { Sign } from "../parts/Sign";
import { Answer, Trouble } from "../parts/states";
import { useKeys } from "../shell/keys";
import { useDeciding } from "./told";

export function Approve({ plan }: { plan: Plan }) {
  const deciding = useDeciding();
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
            hint="a"
            send={(authority) =>
              deciding(() =>
                answer(
                  api.POST("/api/agents/{identifier}/approve", {
                    params: { path: { identifier: plan.id } },
                    body: { approval: approval.id, authority, plan_hash: plan.plan_hash },
                  }),
                ),
              )
            }
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

export function Reject({ plan }: { plan: Plan }) {
  const deciding = useDeciding();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "r", does: "reject, with a reason", run: () => field.current?.focus() }]);
  const reject = useMutation({
    mutationFn: () =>
      deciding(() =>
        answer(
          api.POST("/api/agents/{identifier}/reject", {
            params: { path: { identifier: plan.id } },
            body: { reason, plan_hash: plan.plan_hash },
          }),
        ),
      ),
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
        ref={field}
        value={reason}
        maxLength={2_000}
        onChange={(event) => setReason(event.target.value)}
      />
      {reject.error && <Trouble error={reject.error} />}
      <Button
        type="submit"
        look="danger"
        hint="r"
        busy={reject.isPending}
        disabled={!reason.trim()}
      >
        Reject
      </Button>
    </form>
  );
}
