import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Change } from "../api/changes";
import { answer, api } from "../api/client";
import { decisionFactsQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { NextUp } from "../shell/NextUp";
import { Approve } from "./Approve";
import { redFacts } from "./decision";
import { useDrafts } from "./drafts";
import { isOnItsWay } from "./journey";
import { Say, type Spoken } from "./Say";

type Verdict = "approve" | Spoken;

const OPEN = new Set(["gathering_evidence", "awaiting_approval"]);

/** The bar at the end of a review: all remarks and one verdict, sent together. */
export function Decide({ change }: { change: Change }) {
  const [drafts] = useDrafts(change.commit);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const open = OPEN.has(change.state);
  const { data: decision } = useQuery({ ...decisionFactsQuery(change.id), enabled: open });
  const red = redFacts(decision?.facts ?? [], false).length;
  useKeys(
    open
      ? [
          { keys: "a", does: "approve", run: () => setVerdict("approve") },
          { keys: "x", does: "request changes", run: () => setVerdict("revise") },
          { keys: "r", does: "reject", run: () => setVerdict("reject") },
          { keys: "c", does: "comment", run: () => setVerdict("comment") },
        ]
      : [],
  );
  if (change.state === "tests_failed") return <Returned change={change} />;
  if (!open) return <Over change={change} />;
  return (
    <section
      aria-label="Your verdict"
      className="sticky bottom-16 z-10 mt-4 flex flex-wrap items-center gap-2 rounded-card border border-line bg-surface px-4 py-3 shadow-lg md:bottom-4"
    >
      <Standing change={change} remarks={drafts.remarks.length} red={red} />
      <Button look="quiet" hint="c" onClick={() => setVerdict("comment")}>
        Comment
      </Button>
      <Button look="danger" hint="r" onClick={() => setVerdict("reject")}>
        Reject
      </Button>
      <Button hint="x" onClick={() => setVerdict("revise")}>
        Request changes
      </Button>
      <Button
        look={red > 0 ? "plain" : "main"}
        hint="a"
        disabled={!change.approval_id}
        title={change.approval_id ? "" : "The evidence is not complete yet"}
        onClick={() => setVerdict("approve")}
      >
        {red > 0 ? "Weigh and approve…" : "Approve"}
      </Button>
      <Asked change={change} verdict={verdict} onClose={() => setVerdict(null)} />
    </section>
  );
}

function Standing({ change, remarks, red }: { change: Change; remarks: number; red: number }) {
  return (
    <p className="mr-auto text-sm">
      {remarks === 0
        ? "No remarks yet"
        : `${remarks} ${remarks === 1 ? "remark" : "remarks"} to send`}
      {red > 0 && (
        <span className="text-bad">{` · ${red} red ${red === 1 ? "fact" : "facts"}`}</span>
      )}
      {change.blocked && (
        <span className="text-warn"> · {change.blocked.replaceAll("_", " ")}</span>
      )}
    </p>
  );
}

/** The dialog for the verdict that was chosen. */
function Asked({
  change,
  verdict,
  onClose,
}: {
  change: Change;
  verdict: Verdict | null;
  onClose: () => void;
}) {
  if (verdict === null) return null;
  if (verdict !== "approve") return <Say change={change} verdict={verdict} onClose={onClose} />;
  return change.approval_id ? <Approve change={change} onClose={onClose} /> : null;
}

/** A change that went back to the agent by itself: nothing waits here, unless somebody insists. */
function Returned({ change }: { change: Change }) {
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/changes/{identifier}/approval", {
          params: { path: { identifier: change.id } },
          body: { despite_tests: true },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["changes"] }),
  });
  return (
    <section
      aria-label="Returned to the agent"
      className="mt-4 space-y-2 rounded-card border border-line bg-surface px-4 py-3 text-sm"
    >
      <p>
        This change went back to the agent by itself:{" "}
        <Untrusted text={change.decision.reason} max={400} />. Nothing waits for you.
      </p>
      {ask.error && <Trouble error={ask.error} />}
      <Button look="danger" busy={ask.isPending} onClick={() => ask.mutate()}>
        Decide on it despite its tests
      </Button>
    </section>
  );
}

function Over({ change }: { change: Change }) {
  return (
    <div className="mt-4 space-y-2 rounded-card border border-line bg-surface px-4 py-3 text-sm">
      {!isOnItsWay(change) && (
        <p>
          This change is {change.state.replaceAll("_", " ")}
          {change.decision.reason && (
            <>
              : <Untrusted text={change.decision.reason} max={400} />
            </>
          )}
          . Next: <Untrusted text={change.next} max={300} />
        </p>
      )}
      <NextUp />
    </div>
  );
}
