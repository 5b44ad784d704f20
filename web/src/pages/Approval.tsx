import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { answer, api } from "../api/client";
import { rejectApproval } from "../api/decisions";
import type { ApprovalDetails, Footprint } from "../api/model";
import { approvalQuery } from "../api/queries";
import { Badge, StateBadge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card, Fact, Facts } from "../parts/Card";
import { Digest, StoryLink } from "../parts/Id";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Sign } from "../parts/Sign";
import { Signatures } from "../parts/Signatures";
import { Answer } from "../parts/states";
import { Time, useNow } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { Whole } from "../parts/Whole";
import { Difference } from "../releases/Difference";
import { announce } from "../shell/announce";
import { useKeys } from "../shell/keys";
import { NextUp } from "../shell/NextUp";
import { ageing, kindInWords } from "./waiting";

/** The tool whose call puts code into service: its request is read as a difference. */
const DEPLOYS = "deploy_agent_code";

export function Approval() {
  const { id } = useParams({ from: "/approvals/$id" });
  return (
    <Answer whole query={useQuery(approvalQuery(id))}>
      {(found) => <Review found={found} />}
    </Answer>
  );
}

function Review({ found }: { found: ApprovalDetails }) {
  const { footprint, in_words: words } = found.details;
  return (
    <>
      <PageHeader
        title={found.summary}
        about={
          <>
            {kindInWords(found.kind)}, asked for by <Untrusted text={found.requested_by} />{" "}
            <Time at={found.requested_at} />
          </>
        }
        actions={<StateBadge state={found.state} />}
      />
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem]">
        <div className="min-w-0 space-y-4">
          <Card title="What it means">
            <Meaning footprint={footprint as Footprint | undefined} words={words as string[]} />
          </Card>
          {found.details.tool === DEPLOYS && (
            <Card title="Live, against what would be live">
              <Difference />
            </Card>
          )}
          <Card title="What will run, exactly">
            <Facts>
              <Fact name="What">
                <Untrusted text={found.subject_id} className="font-mono text-sm" />
              </Fact>
              <Fact name="All of it">
                <Whole payload={found.payload} />
              </Fact>
              <Fact name="Digest">
                <Digest value={found.digest} />
                <p className="text-sm text-soft">
                  Your approval counts for this content, once. A different byte is a different
                  digest.
                </p>
              </Fact>
              <Fact name="Evidence">
                <StoryLink id={found.correlation}>the records of this story</StoryLink>
              </Fact>
            </Facts>
          </Card>
        </div>
        <Decision found={found} />
      </div>
    </>
  );
}

function Meaning({
  footprint,
  words = [],
}: {
  footprint: Footprint | undefined;
  words?: string[];
}) {
  const said = [...words.map((text) => ({ tone: "warn" as const, text })), ...inWords(footprint)];
  return (
    <ul className="space-y-1.5">
      {said.map(({ tone, text }) => (
        <li key={text} className="flex items-baseline gap-2">
          <Badge tone={tone}>{tone === "warn" ? "look" : "note"}</Badge>
          <Untrusted text={text} />
        </li>
      ))}
      {said.length === 0 && <li>It touches nothing that Astra guards.</li>}
    </ul>
  );
}

function inWords(footprint: Footprint | undefined): { tone: "warn" | "plain"; text: string }[] {
  if (!footprint) return [];
  const list = (tone: "warn" | "plain", verb: string, what: string[] | undefined) =>
    (what ?? []).map((each) => ({ tone, text: `${verb} ${each}` }));
  return [
    ...(footprint.destructive
      ? [{ tone: "warn" as const, text: "takes something away for good" }]
      : []),
    ...list("plain", "reaches", footprint.domains),
    ...list("warn", "writes", footprint.write_paths),
    ...list("plain", "reads", footprint.read_paths),
    ...list("plain", "touches", footprint.files),
    ...list("plain", "uses", footprint.skills),
  ];
}

function Decision({ found }: { found: ApprovalDetails }) {
  const age = ageing(found, useNow());
  const open = found.state === "pending" && !age.over;
  return (
    <aside aria-label="Decision" className="lg:sticky lg:top-16 lg:self-start">
      <Card title={open ? "Your decision" : "Decided"}>
        {open ? <Decide found={found} /> : <Outcome found={found} over={age.over} />}
        {open && (
          <div className="mt-4 border-t border-line pt-3 text-sm text-soft">
            <p className="mb-1.5">
              waiting {age.waited}, {age.left} left
            </p>
            <Meter
              value={Math.round(age.share * 100)}
              max={100}
              label="time used up, in percent"
              tone={age.urgent ? "bad" : "accent"}
            />
          </div>
        )}
      </Card>
    </aside>
  );
}

function Decide({ found }: { found: ApprovalDetails }) {
  return (
    <div className="space-y-4">
      <Signatures signatures={found.signatures} />
      <Approve found={found} />
      <Reject found={found} />
    </div>
  );
}

export function Approve({ found }: { found: ApprovalDetails }) {
  const client = useQueryClient();
  return (
    <Sign
      action="approval_granted"
      content={{ approval: found.id, digest: found.digest }}
      command={`astra approve ${found.id}`}
      hint="a"
      send={async (authority) => {
        const path = { params: { path: { identifier: found.id } } };
        await answer(
          api.POST("/api/approvals/{identifier}/approve", { ...path, body: { authority } }),
        );
        announce("Approved, once.");
        await client.invalidateQueries({ queryKey: ["approvals"] });
      }}
    >
      Approve with your passkey
    </Sign>
  );
}

/** What the agent could call instead without asking anybody, ready to be said with a no. */
function SmallerCalls({ calls, suggest }: { calls: string[]; suggest: (reason: string) => void }) {
  if (calls.length === 0) return null;
  return (
    <div className="space-y-1 rounded-lg bg-accent-wash px-3 py-2 text-sm">
      <p>Without asking, the agent may call:</p>
      <ul className="space-y-1">
        {calls.map((call) => (
          <li key={call} className="[overflow-wrap:anywhere]">
            <Untrusted text={call} />{" "}
            <button
              type="button"
              className="min-h-[24px] text-accent underline"
              onClick={() => suggest(`Call this instead, it needs no approval: ${call}`)}
            >
              suggest it
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Reject({ found }: { found: ApprovalDetails }) {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useKeys([{ keys: "r", does: "reject, with a reason", run: () => field.current?.focus() }]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!reason.trim()) return;
    rejectApproval(found.id, found.summary, reason.trim());
    field.current?.blur();
  };
  return (
    <form onSubmit={submit} className="space-y-2 border-t border-line pt-3">
      <label className="block text-sm" htmlFor="reason">
        <strong className="font-semibold">Reject</strong>, and say why. The agent reads this.
      </label>
      <SmallerCalls
        calls={found.smaller_calls ?? []}
        suggest={(suggested) => {
          setReason(suggested);
          field.current?.focus();
        }}
      />
      <textarea
        id="reason"
        ref={field}
        value={reason}
        rows={2}
        maxLength={2_000}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
          if (event.key === "Escape") field.current?.blur();
        }}
        placeholder="Not needed today"
        className="block w-full rounded-lg border border-line-strong bg-surface px-3 py-2 text-sm placeholder:text-soft"
      />
      <Button type="submit" look="danger" className="w-full" hint="r" disabled={!reason.trim()}>
        Reject
      </Button>
    </form>
  );
}

function Outcome({ found, over }: { found: ApprovalDetails; over: boolean }) {
  const state = found.state === "pending" && over ? "expired" : found.state;
  return (
    <div className="space-y-2 text-sm">
      <StateBadge state={state} />
      <Signatures signatures={found.signatures} />
      {found.reason && (
        <p>
          because: <Untrusted text={found.reason} />
        </p>
      )}
      <NextUp />
    </div>
  );
}
