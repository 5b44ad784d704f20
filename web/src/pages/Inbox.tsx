import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { inboxQuery, statusQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { useNow } from "../parts/Time";
import { span } from "../parts/time";
import { Untrusted } from "../parts/Untrusted";
import { oneLine } from "../parts/visible";
import { useKeys } from "../shell/keys";
import { BulkReject, toggled } from "./BulkReject";
import { useWaiting } from "./useWaiting";
import { type Ageing, ageing, type Waits } from "./waiting";

export function Inbox() {
  const waiting = useQuery(inboxQuery);
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
        <Link to="/approvals" className="inline-block py-1 text-accent hover:underline">
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
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const pick = (id: string) => setPicked((now) => toggled(now, id));
  useKeys([
    { keys: "x", does: "pick the one in focus, to reject several", run: () => pick(inFocus()) },
    { keys: "j", does: "next", run: () => go(1) },
    { keys: "k", does: "previous", run: () => go(-1) },
    { keys: "Enter", does: "open the one in focus, or the first", run: open },
  ]);
  return (
    <>
      <ul ref={list}>
        {items.map((item) => (
          <Item key={item.id} item={item} picked={picked.has(item.id)} onPick={pick} />
        ))}
      </ul>
      <BulkReject
        items={items.filter((item) => item.ages && picked.has(item.id))}
        onDone={() => setPicked(new Set())}
      />
    </>
  );
}

/** The id of the item that has the focus. */
const inFocus = (): string =>
  document.activeElement?.closest("li")?.querySelector<HTMLElement>("[data-pick]")?.dataset.pick ??
  "";

function Item({
  item,
  picked,
  onPick,
}: {
  item: Waits;
  picked: boolean;
  onPick: (id: string) => void;
}) {
  const now = useNow();
  const age = item.ages && ageing(item.ages, now);
  return (
    <li className="relative border-b border-line last:border-b-0 hover:bg-raised/60 has-[a[data-item]:focus]:bg-accent-wash">
      <div className="flex flex-col gap-2 px-4 py-3 pl-12 sm:flex-row sm:items-center sm:gap-6">
        {item.ages && (
          <label className="absolute top-2 left-1 z-1 flex size-10 items-center justify-center">
            <input
              type="checkbox"
              data-pick={item.id}
              checked={picked}
              onChange={() => onPick(item.id)}
              aria-label={`Pick “${oneLine(item.title, 80)}”`}
              className="size-4 accent-accent"
            />
          </label>
        )}
        <div className="min-w-0 flex-1">
          <div className="mb-0.5 flex flex-wrap items-center gap-2">
            <Badge tone={age?.urgent || item.grave ? "bad" : age ? "accent" : "warn"}>
              {item.kind}
            </Badge>
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
          <p className="text-sm text-soft">
            <Untrusted text={item.why} max={220} />
          </p>
          <p className="font-mono text-xs text-soft">{item.id}</p>
        </div>
        <div className="shrink-0 text-sm text-soft sm:w-60">
          {age ? (
            <Left id={item.id} age={age} />
          ) : (
            <p id={`age-${item.id}`}>waiting {span(Math.max(now - Date.parse(item.from), 0))}</p>
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
