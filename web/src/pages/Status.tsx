import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Status } from "../api/model";
import { statusQuery } from "../api/queries";
import { Card, Fact, Facts } from "../parts/Card";
import { Gauge } from "../parts/Gauge";
import { PageHeader } from "../parts/PageHeader";
import { Answer } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { AppFacts, appOf } from "./AppFacts";
import { Push } from "./Push";
import { Queues } from "./Queues";
import { Smoke } from "./Smoke";
import { Tiles } from "./Tiles";

export function StatusPage() {
  const status = useQuery(statusQuery);
  return (
    <>
      <PageHeader
        title="Status"
        about="Whether everything is well, and what would tell you otherwise."
        actions={
          <Link to="/alerts" className="text-sm text-accent underline">
            Alerts
          </Link>
        }
      />
      <Answer query={status}>{(found) => <Shown status={found} />}</Answer>
    </>
  );
}

function Shown({ status }: { status: Status }) {
  return (
    <div className="space-y-4">
      {status.throwaway && (
        <p className="rounded-lg bg-warn-wash px-4 py-2 text-sm text-warn">
          A throwaway data root: its passphrase comes from the environment. For trying out only.
        </p>
      )}
      <Tiles status={status} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Queues status={status} />
        <Card title="Code so far" padded={false}>
          <Counters counters={status.changes as Record<string, unknown>} />
        </Card>
      </div>
      <Smoke />
      <Push />
      <Card title="Budgets today">
        {status.spend.gauges.length > 0 && <SpendGauges status={status} />}
        <Budgets status={status} />
      </Card>
      <Daemon status={status} />
    </div>
  );
}

function Daemon({ status }: { status: Status }) {
  const app = appOf(status);
  return (
    <Card title="The daemon">
      <Facts>
        <Fact name="Version">{status.version}</Fact>
        <Fact name="Running since">
          <Time at={status.daemon.started_at} /> (pid {status.daemon.pid})
        </Fact>
        <Fact name="Data root">
          <Untrusted text={status.data_root} className="font-mono" />
        </Fact>
        <Fact name="Configuration">
          <Link
            to="/ledger"
            search={{ type: "config_signed" }}
            className={
              status.configuration === "signed" ? "text-accent underline" : "text-bad underline"
            }
          >
            {status.configuration}
          </Link>
        </Fact>
        <Fact name="The agent reads">{status.read_scope}</Fact>
        {app ? <AppFacts app={app} /> : <Fact name="App">none deployed</Fact>}
        <Fact name="Head of the chain">
          <code className="font-mono text-[0.85em]">{status.ledger.head}</code>
        </Fact>
      </Facts>
    </Card>
  );
}

/** Each counter with the kind of record that it counts. */
const COUNTED: [name: string, words: string, records: { type?: string; measure?: string }][] = [
  ["scheduled_modifications", "proposed", { type: "code_modification_scheduled" }],
  ["approvals", "approved", { type: "code_modification_approved" }],
  ["rejections", "rejected", { type: "code_modification_rejected" }],
  ["executed_modifications", "merged", { type: "code_modification_executed" }],
  ["rollbacks", "taken back", { type: "code_modification_rolled_back" }],
  ["passed_tests", "test runs passed", { type: "tests_passed" }],
  ["failed_tests", "test runs did not pass", { measure: "test_runs_failed" }],
];

function Counters({ counters }: { counters: Record<string, unknown> }) {
  return (
    <ul>
      {COUNTED.map(([name, words, records]) => (
        <li
          key={name}
          className="flex items-baseline gap-3 border-b border-line px-4 py-2 text-sm last:border-b-0"
        >
          <Link
            to="/ledger"
            search={records}
            className={`w-8 text-right font-semibold tabular-nums ${counters[name] ? "text-accent underline" : "text-soft"}`}
          >
            {String(counters[name] ?? 0)}
          </Link>
          <span className={counters[name] ? "" : "text-soft"}>{words}</span>
        </li>
      ))}
    </ul>
  );
}

/** How full each cap on tokens and money is, where the operator set some. */
function SpendGauges({ status }: { status: Status }) {
  return (
    <ul className="mb-3 grid gap-x-8 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">
      {status.spend.gauges.map((gauge) => (
        <li key={`${gauge.cap}${gauge.name}`} className="flex min-w-0 items-center gap-3">
          <Gauge
            value={gauge.used}
            max={gauge.limit}
            label={`${gauge.cap} ${gauge.name}`.trim()}
            text={`${Math.round(Math.min(gauge.share, 9.99) * 100)}%`}
          />
          <p className="min-w-0 text-sm">
            <span className="block truncate">
              {gauge.cap.replaceAll("_", " ")} <Untrusted text={gauge.name} max={60} inButton />
            </span>
            <span className="text-soft tabular-nums">{gauge.in_words}</span>
          </p>
        </li>
      ))}
    </ul>
  );
}

function Budgets({ status }: { status: Status }) {
  if (status.budgets.length === 0) {
    return <p className="text-sm text-soft">Nothing was spent today.</p>;
  }
  return (
    <ul className="grid gap-x-8 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">
      {status.budgets.map((budget) => (
        <li
          key={`${budget.day}${budget.scope}${budget.name}`}
          className="flex min-w-0 items-center gap-3"
        >
          <Gauge value={budget.used} max={budget.limit} label={`${budget.scope} ${budget.name}`} />
          <p className="min-w-0 text-sm">
            <span className="block truncate">
              {budget.scope} <Untrusted text={budget.name} max={60} inButton />
            </span>
            <Link
              to="/ledger"
              search={{ type: "budget_spent" }}
              className="inline-block min-h-[24px] text-soft tabular-nums underline-offset-2 hover:underline"
            >
              {budget.used} of {budget.limit}
            </Link>
          </p>
        </li>
      ))}
    </ul>
  );
}
