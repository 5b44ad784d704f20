import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../api/client";
import { type Order, orderQuery } from "../api/plans";
import { liveDifferenceQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Card } from "../parts/Card";
import { Sign } from "../parts/Sign";
import { Answer } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { Tick } from "../review/Approve";
import { announce } from "../shell/announce";
import { Difference } from "./Difference";

/** A deployment is decided on as a difference: what is live, and what would be. */
export function Deploy() {
  const order = useQuery(orderQuery);
  return (
    <Card
      title="What would be deployed"
      actions={
        order.data && (
          <Badge tone={order.data.tests_passed ? "good" : "warn"}>
            tests {order.data.tests_passed ? "passed" : "not passed"}
          </Badge>
        )
      }
    >
      <Difference />
      <div className="mt-4 max-w-xl border-t border-line pt-3">
        <Answer query={order} rows={1}>
          {(found) => <Decide order={found} />}
        </Answer>
      </div>
    </Card>
  );
}

const UNTESTED = "untested";

function Decide({ order }: { order: Order }) {
  const client = useQueryClient();
  const [ticked, setTicked] = useState<string[]>([]);
  const { data: difference } = useQuery(liveDifferenceQuery);
  if (difference?.live?.commit === order.commit) {
    return <p className="text-sm text-soft">There is nothing to deploy: this commit is live.</p>;
  }
  if (!order.allowed || order.quarantined) {
    return (
      <p className="text-sm text-soft">
        Not yet: <Untrusted text={order.reason || refusal(order)} max={300} />
      </p>
    );
  }
  const unnamed = order.contains.filter((commit) => !order.despite.includes(commit));
  const named = unnamed.filter((commit) => ticked.includes(commit)).toSorted();
  const red = unnamed.length + (order.tests_passed ? 0 : 1);
  const toggle = (commit: string, on: boolean) =>
    setTicked((now) => (on ? [...now, commit] : now.filter((each) => each !== commit)));
  const complete =
    named.length === unnamed.length && (order.tests_passed || ticked.includes(UNTESTED));
  return (
    <div className="space-y-2 text-sm">
      {!order.tests_passed && (
        <Tick on={ticked.includes(UNTESTED)} onChange={(on) => toggle(UNTESTED, on)}>
          <Badge tone="bad">tests</Badge> I deploy it although no tests of it passed
        </Tick>
      )}
      {unnamed.map((commit) => (
        <Tick key={commit} on={ticked.includes(commit)} onChange={(on) => toggle(commit, on)}>
          <Badge tone="bad">quarantine</Badge> I deploy it although {commit.slice(0, 12)}, which
          failed in service, is still inside
        </Tick>
      ))}
      <Sign
        action="deployment_ordered"
        content={{
          commit: order.commit,
          digest: order.digest,
          force: false,
          ...(named.length > 0 ? { despite_quarantine: named } : {}),
        }}
        command={["astra deploy", ...named.map((each) => `--despite-quarantine ${each}`)].join(" ")}
        disabled={!complete}
        look={red > 0 ? "danger" : "main"}
        send={async (authority) => {
          await answer(api.POST("/api/deployments", { body: { authority } }));
          announce("The deployment begins.");
          await client.invalidateQueries({ queryKey: ["releases"] });
        }}
      >
        {red > 0 ? "Deploy it all the same" : "Deploy with your passkey"}
      </Sign>
    </div>
  );
}

const refusal = (order: Order): string =>
  order.quarantined ? "it failed in service before" : order.code.replaceAll("_", " ");
