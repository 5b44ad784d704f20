import { useSyncExternalStore } from "react";
import { outbox } from "../api/decisions";
import type { Posted } from "../api/outbox";
import { Button } from "../parts/Button";
import { Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useLink } from "./Connection";
import { NextUp } from "./NextUp";

/** Decisions that are on their way: each can be taken back until it is sent. */
export function Outgoing() {
  const items = useSyncExternalStore(outbox.watch, () => outbox.items);
  if (items.length === 0) return null;
  return (
    <section
      aria-label="Decisions on their way"
      className="fixed inset-x-2 bottom-17 z-20 mx-auto max-w-xl space-y-2 rounded-card border border-line-strong bg-surface px-4 py-3 text-sm shadow-xl md:bottom-4"
    >
      <ul className="space-y-2">
        {items.map((item) => (
          <Item key={item.key} item={item} />
        ))}
      </ul>
      <NextUp />
    </section>
  );
}

function Item({ item }: { item: Posted }) {
  const link = useLink();
  const failed = item.state === "failed";
  return (
    <li>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1">
          <Untrusted text={item.words} max={120} inButton />
          <span className="text-soft">
            {failed ? " was refused" : link === "live" ? ", in a moment" : ", once Astra answers"}
          </span>
        </span>
        <Button disabled={item.state === "sending"} onClick={() => outbox.takeBack(item.key)}>
          {failed ? "Dismiss" : "Take it back"}
        </Button>
      </div>
      {item.problem && (
        <div className="mt-1">
          <Trouble error={item.problem} />
          {typeof item.body.reason === "string" && (
            <p className="mt-1 text-soft">
              You wrote: <Untrusted text={item.body.reason} max={400} />
            </p>
          )}
        </div>
      )}
    </li>
  );
}
