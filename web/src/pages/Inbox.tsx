import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Approval } from "../api/model";
import { approvalsQuery, statusQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { useNow } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { ageing, byUrgency, kindInWords, placeOf } from "./waiting";

export function Inbox() {
  const waiting = useQuery(approvalsQuery("pending"));
  const items = byUrgency(waiting.data?.items ?? []);
  const count = items.length;
  return (
    <>
      <PageHeader
        title="Inbox"
        about="What waits for you is listed here; nothing of it happens until you decide."
      />
      <section className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={waiting}>{() => (count ? <Waiting items={items} /> : <AllDone />)}</Answer>
      </section>
      <p className="mt-3 text-sm text-soft">
        <Link to="/approvals" className="text-accent hover:underline">
          What was decided before
        </Link>
      </p>
    </>
  );
}

function Waiting({ items }: { items: Approval[] }) {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState(0);
  const at = Math.min(chosen, items.length - 1);
  const open = () => {
    const item = items[at];
    if (item) void navigate({ to: placeOf(item) });
  };
  useKeys([
    { keys: "j", does: "next", run: () => setChosen(Math.min(at + 1, items.length - 1)) },
    { keys: "k", does: "previous", run: () => setChosen(Math.max(at - 1, 0)) },
    { keys: "Enter", does: "open", run: open },
  ]);
  return (
    <ul>
      {items.map((item, index) => (
        <Item key={item.id} item={item} chosen={index === at} />
      ))}
    </ul>
  );
}

function Item({ item, chosen }: { item: Approval; chosen: boolean }) {
  const age = ageing(item, useNow());
  return (
    <li
      data-chosen={chosen || undefined}
      className="relative border-b border-line last:border-b-0 hover:bg-raised/60 data-chosen:shadow-[inset_3px_0_0_var(--accent)]"
    >
      <div className="flex flex-col gap-2 px-4 py-3 sm:flex-row sm:items-center sm:gap-6">
        <div className="min-w-0 flex-1">
          <div className="mb-0.5 flex flex-wrap items-center gap-2">
            <Badge tone={age.urgent ? "bad" : "accent"}>{kindInWords(item.kind)}</Badge>
            {age.urgent && <Badge tone="bad">ends soon</Badge>}
          </div>
          <Link to={placeOf(item)} className="font-medium after:absolute after:inset-0">
            <Untrusted text={item.summary} max={220} />
          </Link>
        </div>
        <div className="shrink-0 text-sm text-soft sm:w-60">
          <p>
            waiting {age.waited} ·{" "}
            <span className={age.urgent ? "text-bad" : ""}>{age.left} left</span>
          </p>
          <div className="mt-1.5">
            <Meter
              value={Math.round(age.share * 100)}
              max={100}
              label="time used up, in percent"
              tone={age.urgent ? "bad" : age.share > 0.5 ? "warn" : "accent"}
            />
          </div>
        </div>
      </div>
    </li>
  );
}

function AllDone() {
  const { data: status } = useQuery(statusQuery);
  return (
    <Empty title="Nothing waits for you">
      <p>
        When the agent asks for something that needs a person, it appears here by itself.{" "}
        {status && (
          <>
            Meanwhile: {status.executor.active} active{" "}
            <Link to="/schedules" className="text-accent underline">
              schedules
            </Link>
            , {status.ledger.records.toLocaleString("en")} records in the{" "}
            <Link to="/ledger" className="text-accent underline">
              ledger
            </Link>
            .
          </>
        )}
      </p>
    </Empty>
  );
}
