import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Status } from "../api/model";
import { approvalsQuery, statusQuery } from "../api/queries";
import { Badge, type Tone } from "../parts/Badge";
import { Card, Fact, Facts } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Json } from "../parts/Json";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { Push } from "./Push";

export function StatusPage() {
  const status = useQuery(statusQuery);
  return (
    <>
      <PageHeader
        title="Status"
        about="Whether everything is well, and what would tell you otherwise."
      />
      <Answer query={status}>{(found) => <Shown status={found} />}</Answer>
    </>
  );
}

function Shown({ status }: { status: Status }) {
  return (
    <div className="space-y-4">
      {status.throwaway && (
        <p className="rounded-lg bg-bad-wash px-4 py-2 text-sm text-bad">
          A throwaway data root: its passphrase comes from the environment. For trying out only.
        </p>
      )}
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        <Tile
          name="Agent"
          tone={status.stopped ? "bad" : "good"}
          word={status.stopped ? "stopped" : "may work"}
        >
          code access: {status.code_access}
        </Tile>
        <Tile
          name="Sandbox"
          tone={status.sandbox.state === "ok" ? "good" : "bad"}
          word={status.sandbox.state}
        >
          {status.sandbox.problems[0]?.what ?? status.sandbox.kind}
        </Tile>
        <Tile
          name="Ledger"
          tone={status.ledger.trouble ? "bad" : "good"}
          word={status.ledger.trouble ? "trouble" : "writing"}
        >
          <Link to="/ledger" className="underline">
            {status.ledger.records.toLocaleString("en")} records
          </Link>
          , last <Time at={status.ledger.time} />
        </Tile>
        <Tile
          name="Schedules"
          tone={status.executor.trouble || status.executor.closed ? "warn" : "good"}
          word={status.executor.closed ? status.executor.closed.replaceAll("_", " ") : "running"}
        >
          <Link to="/schedules" className="underline">
            {status.executor.active} active
          </Link>
          , {status.executor.open} open firings
        </Tile>
      </div>
      <Queues status={status} />
      <Push />
      <Card title="Budgets today">
        <Budgets status={status} />
      </Card>
      <Card title="The daemon">
        <Facts>
          <Fact name="Version">{status.version}</Fact>
          <Fact name="Running since">
            <Time at={status.daemon.started_at} /> (pid {status.daemon.pid})
          </Fact>
          <Fact name="Data root">
            <Untrusted text={status.data_root} className="font-mono text-sm" />
          </Fact>
          <Fact name="Configuration">{status.configuration}</Fact>
          <Fact name="The agent reads">{status.read_scope}</Fact>
          <Fact name="Model">
            {status.model ? <Json value={status.model} /> : "none configured"}
          </Fact>
          <Fact name="App">{status.app ? <Json value={status.app} /> : "none deployed"}</Fact>
          <Fact name="Head of the chain">
            <code className="font-mono text-[0.85em]">{status.ledger.head}</code>
          </Fact>
        </Facts>
      </Card>
    </div>
  );
}

function Tile({
  name,
  tone,
  word,
  children,
}: {
  name: string;
  tone: Tone;
  word: string;
  children: ReactNode;
}) {
  return (
    <Card>
      <p className="flex items-center justify-between gap-2 text-sm font-semibold">
        {name} <Badge tone={tone}>{word}</Badge>
      </p>
      <p className="mt-1 text-sm text-soft [overflow-wrap:anywhere]">{children}</p>
    </Card>
  );
}

function Queues({ status }: { status: Status }) {
  const { data } = useQuery(approvalsQuery("pending"));
  const oldest = data?.items.toSorted((a, b) => a.requested_at.localeCompare(b.requested_at))[0];
  return (
    <Card title="What waits">
      <Facts>
        <Fact name="For you">
          <Link to="/" className="text-accent underline">
            {status.approvals.pending} requests
          </Link>
          {oldest && (
            <>
              , the oldest from <Time at={oldest.requested_at} /> <StoryLink id={oldest.id} />
            </>
          )}
        </Fact>
        <Fact name="For the clock">
          {status.executor.next_due ? (
            <>
              next firing <Time at={status.executor.next_due} />
            </>
          ) : (
            "nothing is planned"
          )}
        </Fact>
      </Facts>
    </Card>
  );
}

function Budgets({ status }: { status: Status }) {
  if (status.budgets.length === 0) {
    return <p className="text-sm text-soft">Nothing was spent today.</p>;
  }
  return (
    <ul className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
      {status.budgets.map((budget) => (
        <li key={`${budget.day}${budget.scope}${budget.name}`}>
          <p className="flex justify-between gap-2 text-sm">
            <span className="min-w-0 truncate">
              {budget.scope} <Untrusted text={budget.name} max={60} />
            </span>
            <span className="text-soft tabular-nums">
              {budget.used} of {budget.limit}
            </span>
          </p>
          <Meter
            value={budget.used}
            max={budget.limit}
            label={`spent of ${budget.name}`}
            tone={budget.used >= budget.limit ? "bad" : "accent"}
          />
        </li>
      ))}
    </ul>
  );
}
