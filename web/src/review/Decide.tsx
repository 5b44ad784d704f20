import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import type { Change } from "../api/changes";
import { answer, api } from "../api/client";
import { approvalQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Sign } from "../parts/Sign";
import { quoted } from "../parts/shell";
import { Answer, Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { inOrder, placeInWords, useDrafts } from "./drafts";
import { isOnItsWay } from "./journey";

type Verdict = "approve" | "revise" | "reject" | "comment";

const OPEN = new Set(["gathering_evidence", "awaiting_approval"]);

/** The bar at the end of a review: all remarks and one verdict, sent together. */
export function Decide({ change }: { change: Change }) {
  const [drafts] = useDrafts(change.commit);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const open = OPEN.has(change.state);
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
  const count = drafts.remarks.length;
  return (
    <section
      aria-label="Your verdict"
      className="sticky bottom-16 z-10 mt-4 flex flex-wrap items-center gap-2 rounded-card border border-line bg-surface px-4 py-3 shadow-lg md:bottom-4"
    >
      <p className="mr-auto text-sm">
        {count === 0 ? "No remarks yet" : `${count} ${count === 1 ? "remark" : "remarks"} to send`}
        {change.blocked && (
          <span className="text-warn"> · {change.blocked.replaceAll("_", " ")}</span>
        )}
      </p>
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
        look="main"
        hint="a"
        disabled={!change.approval_id}
        title={change.approval_id ? "" : "The evidence is not complete yet"}
        onClick={() => setVerdict("approve")}
      >
        Approve
      </Button>
      {verdict === "approve" && change.approval_id && (
        <Approve change={change} onClose={() => setVerdict(null)} />
      )}
      {verdict && verdict !== "approve" && (
        <Say change={change} verdict={verdict} onClose={() => setVerdict(null)} />
      )}
    </section>
  );
}

/** What a signature says besides yes: each protected path by name, and whether to deploy. */
function Approve({ change, onClose }: { change: Change; onClose: () => void }) {
  const client = useQueryClient();
  const found = useQuery(approvalQuery(change.approval_id ?? ""));
  const [consent, setConsent] = useState<string[]>([]);
  const [deploy, setDeploy] = useState(false);
  const [despite, setDespite] = useState(false);
  const failing = failingTests(found.data?.details.despite_tests);
  const terms = {
    ...(failing && despite ? { despite_tests: failing } : {}),
    ...(consent.length ? { consent: consent.toSorted() } : {}),
    ...(deploy ? { deploy: true } : {}),
  };
  const words = [
    `astra approve ${change.approval_id}`,
    ...consent.toSorted().map((path) => `--consent ${quoted(path)}`),
    ...(deploy ? ["--deploy"] : []),
    ...(failing && despite ? ["--despite-tests"] : []),
  ];
  return (
    <Dialog title="Approve this change" onClose={onClose}>
      <p className="mb-3 text-sm text-soft">
        You approve exactly commit {change.commit.slice(0, 12)} with this evidence. If anything
        moves, the approval is void.
      </p>
      <div className="mb-3 space-y-2 text-sm">
        {change.protected.map((path) => (
          <Tick
            key={path}
            on={consent.includes(path)}
            onChange={(on) =>
              setConsent((now) => (on ? [...now, path] : now.filter((each) => each !== path)))
            }
          >
            I looked at <Untrusted text={path} max={200} className="font-mono" />, which is
            protected
          </Tick>
        ))}
        {failing && (
          <Tick on={despite} onChange={setDespite}>
            <strong>Its tests did not pass ({failing.replaceAll("_", " ")}).</strong> I take it
            despite that
          </Tick>
        )}
        <Tick on={deploy} onChange={setDeploy}>
          deploy it as well
        </Tick>
      </div>
      <Answer query={found} rows={1}>
        {(approval) => (
          <Sign
            action="approval_granted"
            content={{
              approval: approval.id,
              digest: approval.digest,
              ...(Object.keys(terms).length ? { terms } : {}),
            }}
            command={words.join(" ")}
            disabled={consent.length < change.protected.length || (failing !== "" && !despite)}
            send={async (authority) => {
              const path = { params: { path: { identifier: approval.id } } };
              await answer(
                api.POST("/api/approvals/{identifier}/approve", { ...path, body: { authority } }),
              );
              await client.invalidateQueries({ queryKey: ["changes"] });
              onClose();
            }}
          >
            Approve with your passkey
          </Sign>
        )}
      </Answer>
      <div className="mt-4 flex justify-end">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

/** The verdict that a signature has to name, where the request says that tests stand in its way. */
function failingTests(verdict: unknown): string {
  return typeof verdict === "string" ? verdict : "";
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

function Tick({
  on,
  onChange,
  children,
}: {
  on: boolean;
  onChange: (on: boolean) => void;
  children: ReactNode;
}) {
  return (
    <label className="flex items-baseline gap-2">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4 shrink-0 translate-y-0.5 accent-accent"
      />
      <span>{children}</span>
    </label>
  );
}

const WORDS: Record<Exclude<Verdict, "approve">, { title: string; act: string; about: string }> = {
  revise: {
    title: "Request changes",
    act: "Send back",
    about: "The agent reads this and can propose a revision.",
  },
  reject: {
    title: "Reject this change",
    act: "Reject",
    about: "It ends here. The agent reads why.",
  },
  comment: { title: "Comment", act: "Send", about: "Nothing is decided by it." },
};

function Say({
  change,
  verdict,
  onClose,
}: {
  change: Change;
  verdict: Exclude<Verdict, "approve">;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [drafts, draft] = useDrafts(change.commit);
  const [general, setGeneral] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const text = general.trim();
  const remarks = inOrder(drafts.remarks);
  const anything = verdict === "reject" ? text !== "" : text !== "" || remarks.length > 0;
  const send = useMutation({
    mutationFn: async () => {
      const path = { params: { path: { identifier: change.id } } };
      const seen = { remarks, commit: change.commit };
      if (verdict === "reject") {
        const body = { ...seen, reason: text };
        await answer(api.POST("/api/changes/{identifier}/reject", { ...path, body }));
      } else {
        const body = { ...seen, text, request_changes: verdict === "revise" };
        await answer(api.POST("/api/changes/{identifier}/comments", { ...path, body }));
      }
      draft((now) => ({ ...now, remarks: [] }));
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: ["changes"] }),
  });
  const { title, act, about } = WORDS[verdict];
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (anything) send.mutate();
        }}
      >
        <label htmlFor="verdict-text" className="mb-1 block text-sm text-soft">
          {about}
        </label>
        <textarea
          id="verdict-text"
          ref={field}
          autoFocus
          rows={4}
          maxLength={4_000}
          value={general}
          onChange={(event) => setGeneral(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && anything)
              send.mutate();
          }}
          className="block w-full rounded-lg border border-line-strong bg-surface px-3 py-2 text-sm"
        />
        {remarks.length > 0 && (
          <div className="mt-3 max-h-40 overflow-y-auto rounded-lg bg-raised px-3 py-2 text-sm">
            <p className="mb-1 text-soft">Sent with it, each beside its line:</p>
            <ul className="space-y-1">
              {remarks.map((each) => (
                <li key={placeInWords(each)}>
                  <Untrusted text={placeInWords(each)} max={160} className="font-mono text-soft" />{" "}
                  <Untrusted text={each.text} max={400} />
                </li>
              ))}
            </ul>
          </div>
        )}
        {send.error && (
          <div className="mt-3">
            <Trouble error={send.error} />
          </div>
        )}
        <div className="mt-4 flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            look={verdict === "reject" ? "danger" : "main"}
            busy={send.isPending}
            disabled={!anything}
          >
            {act}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Over({ change }: { change: Change }) {
  if (isOnItsWay(change)) return null;
  return (
    <p className="mt-4 rounded-card border border-line bg-surface px-4 py-3 text-sm">
      This change is {change.state.replaceAll("_", " ")}
      {change.decision.reason && (
        <>
          : <Untrusted text={change.decision.reason} max={400} />
        </>
      )}
      . Next: <Untrusted text={change.next} max={300} />
    </p>
  );
}
