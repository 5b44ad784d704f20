import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { approvalsQuery, statusQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { useNow } from "../parts/Time";
import { span } from "../parts/time";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { useWaiting } from "./useWaiting";
import { type Ageing, ageing, type Waits } from "./waiting";

export function Inbox() {
  const waiting = useQuery(approvalsQuery("pending"));
  const items = useWaiting();
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

function Waiting({ items }: { items: Waits[] }) {
  const navigate = useNavigate();
  const list = useRef<HTMLUListElement>(null);
  const go = (by: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a[data-item]") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[Math.max(0, Math.min(at + by, links.length - 1))]?.focus();
  };
  const open = () => {
    const [first] = items;
    if (first) void navigate({ to: first.place });
  };
  useKeys([
    { keys: "j", does: "next", run: () => go(1) },
    { keys: "k", does: "previous", run: () => go(-1) },
    { keys: "Enter", does: "open the one in focus, or the first", run: open },
  ]);
  return (
    <ul ref={list}>
      {items.map((item) => (
        <Item key={item.id} item={item} />
      ))}
    </ul>
  );
}

function Item({ item }: { item: Waits }) {
  const now = useNow();
  const age = item.ages && ageing(item.ages, now);
  return (
    <li className="relative border-b border-line last:border-b-0 hover:bg-raised/60 has-[a[data-item]:focus]:bg-accent-wash">
      <div className="flex flex-col gap-2 px-4 py-3 sm:flex-row sm:items-center sm:gap-6">
        <div className="min-w-0 flex-1">
          <div className="mb-0.5 flex flex-wrap items-center gap-2">
            <Badge tone={age?.urgent ? "bad" : age ? "accent" : "warn"}>{item.kind}</Badge>
            {age?.urgent && <Badge tone="bad">ends soon</Badge>}
          </div>
          <Link
            to={item.place}
            data-item
            aria-describedby={`age-${item.id}`}
            className="font-medium outline-none after:absolute after:inset-0 focus-visible:after:rounded-card focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          >
            <Untrusted text={item.title} max={220} />
          </Link>
        </div>
        <div className="shrink-0 text-sm text-soft sm:w-60">
          {age ? (
            <Left id={item.id} age={age} />
          ) : (
            <p id={`age-${item.id}`}>
              standing still for {span(Math.max(now - Date.parse(item.from), 0))}
            </p>
          )}
        </div>
      </div>
    </li>
  );
}

function Left({ id, age }: { id: string; age: Ageing }) {
  return (
    <>
      <p id={`age-${id}`}>
        waiting {age.waited} · <span className={age.urgent ? "text-bad" : ""}>{age.left} left</span>
      </p>
      <div className="mt-1.5">
        <Meter
          value={Math.round(age.share * 100)}
          max={100}
          label="time used up, in percent"
          tone={age.urgent ? "bad" : age.share > 0.5 ? "warn" : "accent"}
        />
      </div>
    </>
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
