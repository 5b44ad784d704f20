import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LedgerRecord } from "../api/model";
import { Badge, type Tone } from "../parts/Badge";
import { Json } from "../parts/Json";
import { clock, day, exact } from "../parts/time";
import { Untrusted } from "../parts/Untrusted";
import { family } from "./families";

/** Records grouped by day, each as a sentence; opening one shows it whole. */
export function Records({ records }: { records: LedgerRecord[] }) {
  const days = Map.groupBy(records, (record) => day(record.time));
  return [...days].map(([name, items]) => (
    <section key={name}>
      <h2 className="border-b border-line bg-raised/60 px-4 py-1.5 text-xs font-semibold text-soft">
        {name}
      </h2>
      <ol>
        {items.map((record) => (
          <Row key={record.sequence} record={record} />
        ))}
      </ol>
    </section>
  ));
}

function Row({ record }: { record: LedgerRecord }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="border-b border-line last:border-b-0">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="grid w-full grid-cols-[auto_1fr] items-baseline gap-x-3 gap-y-0.5 px-4 py-2 text-left hover:bg-raised/60 md:grid-cols-[4.5rem_8rem_1fr_auto]"
      >
        <time
          dateTime={record.time}
          title={exact(record.time)}
          className="text-sm text-soft tabular-nums"
        >
          {clock(record.time)}
        </time>
        <span className="justify-self-end md:justify-self-start">
          <Badge tone={tone(record)}>{family(record.type)}</Badge>
        </span>
        <span className="col-span-2 min-w-0 md:col-span-1">
          <Untrusted text={record.sentence} max={240} inButton />
        </span>
        <span className="col-span-2 text-sm text-soft md:col-span-1">
          <Untrusted text={record.actor} max={40} inButton />
        </span>
      </button>
      {open && <Whole record={record} />}
    </li>
  );
}

function Whole({ record }: { record: LedgerRecord }) {
  return (
    <div className="space-y-2 border-t border-line bg-page px-4 py-3 text-sm">
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-soft">
        <span>
          record <span className="font-mono text-ink">{record.sequence}</span>
        </span>
        <code className="font-mono">{record.type}</code>
        <Link
          to="/ledger/story/$id"
          params={{ id: record.correlation }}
          className="text-accent hover:underline"
        >
          the whole story
        </Link>
        {record.subject && (
          <Link
            to="/ledger/story/$id"
            params={{ id: record.subject }}
            className="text-accent hover:underline"
          >
            all about <Untrusted text={record.subject} max={60} />
          </Link>
        )}
      </p>
      <Json value={record.data} />
      <p className="font-mono text-xs text-soft [overflow-wrap:anywhere]">sha-256 {record.hash}</p>
    </div>
  );
}

function tone(record: LedgerRecord): Tone {
  if (/refused|rejected|failed|gave_up|interrupted|stopped|skipped/.test(record.type))
    return "warn";
  if (/granted|signed|started$|promoted/.test(record.type)) return "good";
  return "plain";
}
