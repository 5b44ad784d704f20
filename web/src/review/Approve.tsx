import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Change } from "../api/changes";
import { answer, api } from "../api/client";
import { approvalQuery, decisionFactsQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Sign } from "../parts/Sign";
import { Signatures } from "../parts/Signatures";
import { Answer } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { announce } from "../shell/announce";
import {
  commandOf,
  type DecisionFacts,
  type Fact,
  factKey,
  redFacts,
  termsOf,
  unseenFiles,
} from "./decision";
import { useDrafts } from "./drafts";

/** The moment of deciding: every fact once more, and a tick for each that is red. */
export function Approve({ change, onClose }: { change: Change; onClose: () => void }) {
  const found = useQuery(decisionFactsQuery(change.id));
  return (
    <Dialog title="Approve this change" onClose={onClose}>
      <p className="mb-2 text-sm font-medium">
        “<Untrusted text={change.reason} max={200} />”
      </p>
      <p className="mb-3 text-sm text-soft">
        You approve exactly commit {change.commit.slice(0, 12)} with this evidence. If anything
        moves, the approval is void.
      </p>
      <Answer query={found} rows={3}>
        {(decision) => <Weigh change={change} decision={decision} onClose={onClose} />}
      </Answer>
      <div className="mt-4 flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function Weigh({
  change,
  decision,
  onClose,
}: {
  change: Change;
  decision: DecisionFacts;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const found = useQuery(approvalQuery(change.approval_id ?? ""));
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [deploy, setDeploy] = useState(false);
  const red = redFacts(decision.facts, deploy);
  const terms = termsOf(decision.facts, ticked, deploy);
  const open = red.filter((fact) => !ticked.has(factKey(fact)));
  const tick = (fact: Fact, on: boolean) =>
    setTicked((now) => {
      const next = new Set(now);
      if (on) next.add(factKey(fact));
      else next.delete(factKey(fact));
      return next;
    });
  return (
    <>
      <ul aria-label="What you sign for" className="mb-3 space-y-1.5 text-sm">
        {decision.facts.map((fact) => (
          <li key={factKey(fact)}>
            {red.includes(fact) ? (
              <Tick on={ticked.has(factKey(fact))} onChange={(on) => tick(fact, on)}>
                <Badge tone="bad">{fact.name}</Badge> <RedWords fact={fact} />
              </Tick>
            ) : (
              <p className="pl-6">
                <Badge tone={fact.tone}>{fact.name}</Badge> <Untrusted text={fact.text} max={400} />
              </p>
            )}
          </li>
        ))}
        <Seen change={change} />
      </ul>
      <div className="mb-3 border-t border-line pt-2 text-sm">
        <Tick on={deploy} onChange={setDeploy}>
          deploy it as well
        </Tick>
      </div>
      {open.length > 0 && (
        <p role="status" className="mb-2 text-sm text-bad">
          {open.length} red {open.length === 1 ? "fact needs" : "facts need"} your tick first.
        </p>
      )}
      <Answer query={found} rows={1}>
        {(approval) => (
          <>
            <Signatures signatures={approval.signatures} />
            <Sign
              action="approval_granted"
              content={{
                approval: approval.id,
                digest: approval.digest,
                ...(Object.keys(terms).length ? { terms } : {}),
              }}
              command={commandOf(approval.id, terms)}
              disabled={open.length > 0 || decision.blocked}
              look={red.length > 0 ? "danger" : "main"}
              send={async (authority) => {
                const path = { params: { path: { identifier: approval.id } } };
                await answer(
                  api.POST("/api/approvals/{identifier}/approve", { ...path, body: { authority } }),
                );
                announce(`Approved ${change.id}.`);
                await client.invalidateQueries({ queryKey: ["changes"] });
                onClose();
              }}
            >
              {red.length > 0
                ? `Approve despite ${red.length} red ${red.length === 1 ? "fact" : "facts"}`
                : "Approve with your passkey"}
            </Sign>
          </>
        )}
      </Answer>
    </>
  );
}

/** What a tick beside a red fact says; the fact itself is the server's. */
function RedWords({ fact }: { fact: Fact }) {
  const words: Record<string, string> = {
    consent: "I looked at it, and consent:",
    despite_tests: "I take it despite its tests:",
    despite_quarantine: "I deploy it all the same:",
  };
  return (
    <>
      {words[fact.term ?? ""] ?? "I read it:"}{" "}
      <Untrusted text={fact.text} max={400} className="font-medium text-bad" />
    </>
  );
}

/** Which files were marked as viewed on this device, and which were not. */
function Seen({ change }: { change: Change }) {
  const [drafts] = useDrafts(change.commit);
  const paths = change.files.map(({ path }) => path);
  const unseen = unseenFiles(paths, drafts.viewed);
  return (
    <li className="pl-6">
      <Badge tone={unseen.length > 0 ? "warn" : "good"}>files</Badge> {paths.length - unseen.length}{" "}
      of {paths.length} viewed
      {unseen.length > 0 && (
        <>
          ; not viewed: <Untrusted text={unseen.join(", ")} max={300} className="font-mono" />
        </>
      )}
    </li>
  );
}

export function Tick({
  on,
  onChange,
  children,
}: {
  on: boolean;
  onChange: (on: boolean) => void;
  children: ReactNode;
}) {
  return (
    <label className="flex min-h-[24px] items-baseline gap-2">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4 shrink-0 translate-y-0.5 accent-accent"
      />
      <span className="min-w-0">{children}</span>
    </label>
  );
}
